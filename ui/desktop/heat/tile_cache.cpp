#include "heat/tile_cache.h"

#include "bridge/background.h"

#include <algorithm>
#include <cmath>

namespace deltascope::desktop {

namespace {

constexpr std::size_t Parallel = 2;

std::size_t sizeOf(const CodeTile& tile) { return tile.codes.size() + tile.known.size(); }

/// First and one past the last cell, left to right, in which two tiles differ.
std::pair<int, int> differingCells(const CodeTile& a, const CodeTile& b)
{
    const auto known = [](const CodeTile& tile, int line, int x) {
        return tile.knownLine(line) ? tile.knownLine(line)[x] : std::uint8_t { 1 };
    };
    int from = CodeTile::Side;
    int to = 0;
    for (int line = 0; line < CodeTile::Side; ++line) {
        const auto differs = [&](int x) {
            return a.codeLine(line)[x] != b.codeLine(line)[x] || known(a, line, x) != known(b, line, x);
        };
        for (int x = 0; x < from; ++x) {
            if (differs(x))
                from = x;
        }
        for (int x = CodeTile::Side; x-- > to;) {
            if (differs(x))
                to = x + 1;
        }
    }
    return { from, to };
}

std::unique_ptr<CodeTile> makeTile(const app::HeatView& heat, int epoch, app::HeatPool pool, unsigned levelY,
                                   unsigned levelX, int tileY, int tileX)
{
    app::HeatTile made = app::makeHeatTile(heat, epoch, pool, levelY, levelX, static_cast<std::size_t>(tileY),
                                           static_cast<std::size_t>(tileX));
    auto tile = std::make_unique<CodeTile>();
    tile->pool = pool;
    tile->levelY = levelY;
    tile->levelX = levelX;
    tile->tileY = tileY;
    tile->tileX = tileX;
    tile->codes = std::move(made.codes);
    if (!made.unknown.empty()) {
        tile->known.resize(tile->codes.size());
        for (std::size_t i = 0; i < tile->known.size(); ++i)
            tile->known[i] = ((made.unknown[i / 8] >> (i % 8)) & 1U) == 0;
    }
    return tile;
}

}

std::uint64_t TileCache::Key::id() const
{
    std::uint64_t id = pool == app::HeatPool::Max ? 0 : 1;
    id = (id << 5) | levelY;
    id = (id << 5) | levelX;
    id = (id << 24) | static_cast<std::uint32_t>(tileY);
    return (id << 24) | static_cast<std::uint32_t>(tileX);
}

TileCache::TileCache(std::size_t limitBytes, QObject* parent)
    : QObject(parent)
    , m_limit(limitBytes)
{
}

TileCache::~TileCache() = default;

void TileCache::reset(std::shared_ptr<const app::HeatView> heat, int epoch)
{
    ++m_generation;
    m_tiles.clear();
    m_loading.clear();
    m_wanted.clear();
    m_bytes = 0;
    m_heat = std::move(heat);
    m_epoch = epoch;
    m_firstColumn = m_columns = 0;
    if (!m_heat)
        return;
    const auto [first, last] = m_heat->columnsOf(epoch);
    m_firstColumn = static_cast<int>(first);
    m_columns = static_cast<int>(last - first);
}

void TileCache::update(std::shared_ptr<const app::HeatView> heat, const std::vector<int>& moved)
{
    m_heat = std::move(heat);
    const auto [first, last] = m_heat->columnsOf(m_epoch);
    m_firstColumn = static_cast<int>(first);
    m_columns = static_cast<int>(last - first);
    for (const int column : moved) {
        for (auto& [id, load] : m_loading)
            load.stale = load.stale || load.key.covers(column);
        for (auto& [id, slot] : m_tiles) {
            CodeTile& tile = *slot.tile;
            const Key key { tile.pool, tile.levelY, tile.levelX, tile.tileY, tile.tileX };
            if (!key.covers(column))
                continue;
            if (tile.levelX == 0 && tile.levelY == 0)
                patch(tile, column);
            else
                slot.stale = true;
        }
    }
    if (!moved.empty()) {
        const auto [least, most] = std::minmax_element(moved.begin(), moved.end());
        emit changed(*least, *most + 1);
    }
}

/// One column of the finest level, where a cell is a code.
void TileCache::patch(CodeTile& tile, int column) const
{
    const auto& codes = m_heat->columns[static_cast<std::size_t>(m_firstColumn + column)].codes;
    if (!codes && tile.known.empty())
        tile.known.assign(tile.codes.size(), 1);
    const int x = column - tile.tileX * CodeTile::Side;
    const int top = tile.tileY * CodeTile::Side;
    const int lines = std::min(CodeTile::Side, static_cast<int>(m_heat->rows.size()) - top);
    for (int line = 0; line < lines; ++line) {
        const auto cell = static_cast<std::size_t>(line * CodeTile::Side + x);
        tile.codes[cell] = codes ? (*codes)[static_cast<std::size_t>(top + line)] : std::uint8_t { 0 };
        if (!tile.known.empty())
            tile.known[cell] = codes != nullptr;
    }
}

unsigned TileCache::levelsX() const { return app::heatLevels(static_cast<std::size_t>(m_columns)); }
unsigned TileCache::levelsY() const { return app::heatLevels(m_heat ? m_heat->rows.size() : 0); }

void TileCache::begin()
{
    ++m_look;
    m_wanted.clear();
}

const CodeTile* TileCache::find(app::HeatPool pool, unsigned levelY, unsigned levelX, int row, int tileX)
{
    if (!m_heat)
        return nullptr;
    const Key key { pool, levelY, levelX, row / CodeTile::Side, tileX };
    const auto exact = m_tiles.find(key.id());
    const bool missing = exact == m_tiles.end() || exact->second.stale;
    if (missing && !m_loading.contains(key.id())
        && std::none_of(m_wanted.begin(), m_wanted.end(), [&](const Key& old) { return old.id() == key.id(); }))
        m_wanted.push_back(key);
    if (exact != m_tiles.end()) {
        exact->second.used = m_look;
        return exact->second.tile.get();
    }
    const auto known = [&](const Key& coarse) -> const CodeTile* {
        const auto at = m_tiles.find(coarse.id());
        return at == m_tiles.end() ? nullptr : at->second.tile.get();
    };
    for (unsigned up = 1; levelX + up < levelsX(); ++up) {
        if (const CodeTile* tile = known({ pool, levelY, levelX + up, key.tileY, tileX >> up }))
            return tile;
    }
    return known({ pool, levelsY() - 1, levelsX() - 1, 0, 0 });
}

void TileCache::load(double row, double column)
{
    const auto distance = [&](const Key& key) {
        const double y = (key.tileY + 0.5) * static_cast<double>(CodeTile::Side << key.levelY) - row;
        const double x = (key.tileX + 0.5) * static_cast<double>(CodeTile::Side << key.levelX) - column;
        return std::hypot(x, y);
    };
    std::sort(m_wanted.begin(), m_wanted.end(), [&](const Key& a, const Key& b) { return distance(a) < distance(b); });
    startLoads();
}

void TileCache::startLoads()
{
    while (m_loading.size() < Parallel && !m_wanted.empty()) {
        const Key key = m_wanted.front();
        m_wanted.erase(m_wanted.begin());
        m_loading.emplace(key.id(), Load { key });
        inBackground(
            this,
            [heat = m_heat, epoch = m_epoch, key] {
                return makeTile(*heat, epoch, key.pool, key.levelY, key.levelX, key.tileY, key.tileX);
            },
            [this, generation = m_generation, key](std::unique_ptr<CodeTile> tile) {
                take(generation, key, std::move(tile));
            });
    }
}

void TileCache::take(std::uint64_t generation, const Key& key, std::unique_ptr<CodeTile> tile)
{
    if (generation != m_generation)
        return;
    const auto load = m_loading.find(key.id());
    const bool stale = load->second.stale;
    m_loading.erase(load);
    Slot& slot = m_tiles[key.id()];
    std::pair<int, int> cells { 0, CodeTile::Side };
    if (slot.tile) {
        m_bytes -= sizeOf(*slot.tile);
        cells = differingCells(*slot.tile, *tile);
    }
    m_bytes += sizeOf(*tile);
    slot = { std::move(tile), m_look, stale };
    dropOldest();
    if (cells.first < cells.second)
        emit changed(key.firstColumn() + (cells.first << key.levelX),
                     std::min(m_columns, key.firstColumn() + (cells.second << key.levelX)));
    startLoads();
}

void TileCache::dropOldest()
{
    while (m_bytes > m_limit && m_tiles.size() > 1) {
        const auto oldest = std::min_element(
            m_tiles.begin(), m_tiles.end(), [](const auto& a, const auto& b) { return a.second.used < b.second.used; });
        if (oldest->second.used == m_look)
            return; // all of it is on screen
        m_bytes -= sizeOf(*oldest->second.tile);
        m_tiles.erase(oldest);
    }
}

} // namespace deltascope::desktop

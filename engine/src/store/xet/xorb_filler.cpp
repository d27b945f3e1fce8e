#include "store/xet/xorb_filler.h"

#include <algorithm>
#include <utility>

namespace deltascope::xet {

namespace {

constexpr std::uint32_t LeastRunChunks = 8;

}

void XorbFiller::take(CutChunk chunk, std::vector<FreshChunk>& fresh)
{
    if (m_run && extendRun(chunk))
        return;
    endRun(fresh);
    auto found = find(chunk.chunk.hash);
    if (!found) {
        place(std::move(chunk), fresh);
        return;
    }
    m_run.emplace(Run { std::move(*found), 0, {} });
    if (extendRun(chunk))
        return;
    m_run.reset(); // of the same hash, but not the same length
    place(std::move(chunk), fresh);
}

bool XorbFiller::extendRun(CutChunk& chunk)
{
    const std::uint64_t next = std::uint64_t { m_run->place.index } + m_run->count;
    const std::vector<Chunk>& chunks = m_run->place.xorb->chunks;
    if (next >= chunks.size() || chunks[next] != chunk.chunk)
        return false;
    ++m_run->count;
    m_run->held.push_back(std::move(chunk));
    if (m_run->count >= LeastRunChunks)
        useRun();
    return true;
}

void XorbFiller::useRun()
{
    const auto held = std::exchange(m_run->held, {});
    std::uint32_t index = m_run->place.index + m_run->count - static_cast<std::uint32_t>(held.size());
    for (const CutChunk& chunk : held) {
        m_file.add(chunk.chunk, m_run->place.xorb, index++);
        ++m_fileChunks;
    }
    m_usesKnown = m_usesKnown || m_run->place.isKnown;
}

void XorbFiller::endRun(std::vector<FreshChunk>& fresh)
{
    if (!m_run)
        return;
    auto held = std::exchange(m_run->held, {});
    m_run.reset();
    for (CutChunk& chunk : held)
        place(std::move(chunk), fresh);
}

void XorbFiller::place(CutChunk chunk, std::vector<FreshChunk>& fresh)
{
    if (m_xorbs.empty() || m_xorbs.back()->isClosed || m_xorbs.back()->bytes + chunk.chunk.bytes > m_xorbBytes
        || m_xorbs.back()->content->chunks.size() == MostXorbChunks) {
        closeXorb();
        m_xorbs.push_back(std::make_shared<FilledXorb>());
        m_xorbs.back()->content = std::make_shared<KnownXorb>();
        ++m_shardRows;
    }
    const std::shared_ptr<FilledXorb>& xorb = m_xorbs.back();
    const auto index = static_cast<std::uint32_t>(xorb->content->chunks.size());
    xorb->content->chunks.push_back(chunk.chunk);
    xorb->bytes += chunk.chunk.bytes;
    ++m_shardRows;
    m_places.try_emplace(chunk.chunk.hash, Place { xorb->content, index, false });
    m_file.add(chunk.chunk, xorb->content, index);
    ++m_fileChunks;
    fresh.push_back({ std::move(chunk), xorb });
}

FileRecord XorbFiller::finishFile(std::vector<FreshChunk>& fresh)
{
    if (m_run && m_fileChunks == 0)
        useRun();
    endRun(fresh);
    m_run.reset();
    m_file.close();
    m_fileChunks = 0;
    return std::exchange(m_file, {});
}

void XorbFiller::closeXorb()
{
    if (m_xorbs.empty() || m_xorbs.back()->isClosed)
        return;
    KnownXorb& content = *m_xorbs.back()->content;
    content.hash = xorbHash(content.chunks);
    m_xorbs.back()->isClosed = true;
}

void XorbFiller::forgetXorbs(std::size_t count)
{
    const auto end = m_xorbs.begin() + static_cast<std::ptrdiff_t>(count);
    for (auto at = m_xorbs.begin(); at != end; ++at) {
        m_shardRows -= 1 + (*at)->content->chunks.size();
        m_known->add((*at)->content);
    }
    m_xorbs.erase(m_xorbs.begin(), end);
    std::erase_if(m_places, [this](const auto& place) {
        return std::none_of(m_xorbs.begin(), m_xorbs.end(),
                            [&place](const auto& xorb) { return xorb->content == place.second.xorb; });
    });
}

std::optional<XorbFiller::Place> XorbFiller::find(const Hash& chunk) const
{
    if (const auto at = m_places.find(chunk); at != m_places.end())
        return at->second;
    if (auto known = m_known->find(chunk))
        return Place { std::move(known->xorb), known->index, true };
    return std::nullopt;
}

} // namespace deltascope::xet

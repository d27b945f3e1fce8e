#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/heat_view.h"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <random>

// Codes, tiles and the order of rows of the heatmap.

namespace deltascope::app {
namespace {

constexpr std::size_t Side = HeatTile::Side;

// --- codes -----------------------------------------------------------------------------------------------------------

TEST(HeatCode, OnlyNothingIsZero)
{
    EXPECT_EQ(heatCode(0, 1'000'000), 0);
    EXPECT_EQ(heatCode(0, 0), 0);
    EXPECT_EQ(heatCode(1, UINT64_MAX), 1) << "one element of however many is no nothing";
    EXPECT_EQ(heatShare(0), 0.0);
}

TEST(HeatCode, EndsAreOneMillionthAndEverything)
{
    EXPECT_EQ(heatCode(1, 1'000'000), 1);
    EXPECT_EQ(heatCode(7, 7), 255);
    EXPECT_EQ(heatCode(9, 7), 255) << "a wrong count does not wrap around";
    EXPECT_DOUBLE_EQ(heatShare(1), 1e-6);
    EXPECT_DOUBLE_EQ(heatShare(255), 1.0);
}

TEST(HeatCode, OneCodeIsAFactorOfAboutOnePointZeroFiveSix)
{
    for (unsigned code = 2; code < 256; ++code) {
        const double factor =
            heatShare(static_cast<std::uint8_t>(code)) / heatShare(static_cast<std::uint8_t>(code - 1));
        EXPECT_NEAR(factor, std::pow(10.0, 6.0 / 254.0), 1e-12) << code;
        EXPECT_NEAR(factor, 1.056, 0.0005) << code;
    }
}

TEST(HeatCode, AShareIsWithinHalfACodeOfWhatItsCodeStandsFor)
{
    constexpr std::uint64_t Elements = 10'000'000'000;
    const double half = std::pow(10.0, 3.0 / 254.0);
    std::mt19937_64 random(3); // NOLINT: the same every time
    for (int i = 0; i < 2000; ++i) {
        const double share = std::pow(10.0, -6.0 * static_cast<double>(random() % 1'000'000) / 1e6);
        const auto changed = static_cast<std::uint64_t>(share * static_cast<double>(Elements));
        const double shown = heatShare(heatCode(changed, Elements));
        EXPECT_LT(std::max(shown / share, share / shown), half * 1.001) << share;
    }
}

// --- tiles -----------------------------------------------------------------------------------------------------------

/// Two epochs; columns in which nothing is known; tensors of very different sizes, one of them empty.
HeatView randomHeat(std::size_t rows, std::size_t columns, unsigned seed)
{
    std::mt19937 random(seed); // NOLINT: the same every time
    HeatView heat;
    for (std::size_t row = 0; row < rows; ++row) {
        TensorRowView tensor;
        tensor.name = "t" + std::to_string(row);
        tensor.elements = row == 1 ? 0 : 1 + random() % (random() % 2 == 0 ? 50U : 5'000'000U);
        heat.rows.push_back(std::move(tensor));
    }
    const auto add = [&](int epoch, std::int64_t step) {
        HeatColumnView column;
        column.epoch = epoch;
        column.step = step;
        if (random() % 4 != 0) {
            auto codes = std::make_shared<std::vector<std::uint8_t>>(rows);
            for (std::uint8_t& code : *codes)
                code = random() % 3 == 0 ? std::uint8_t { 0 } : static_cast<std::uint8_t>(random() % 256);
            column.codes = std::move(codes);
        }
        heat.columns.push_back(std::move(column));
    };
    for (std::int64_t step = 0; step < 3; ++step)
        add(0, step);
    for (std::size_t i = 0; i < columns; ++i)
        add(1, 10 + static_cast<std::int64_t>(i));
    return heat;
}

using Columns = std::vector<const HeatColumnView*>;

Columns columnsOf(const HeatView& heat, int epoch)
{
    Columns columns;
    for (const HeatColumnView& column : heat.columns) {
        if (column.epoch == epoch)
            columns.push_back(&column);
    }
    return columns;
}

/// The cell (y, x) of a level by looking at everything below it; nothing: unknown.
std::optional<std::uint8_t> slowCell(const HeatView& heat, const Columns& columns, HeatPool pool, std::size_t height,
                                     std::size_t width, std::size_t y, std::size_t x)
{
    bool known = false;
    unsigned highest = 0;
    double changed = 0;
    double elements = 0;
    for (std::size_t row = y * height; row < std::min((y + 1) * height, heat.rows.size()); ++row) {
        for (std::size_t column = x * width; column < std::min((x + 1) * width, columns.size()); ++column) {
            if (!columns[column]->codes)
                continue;
            known = true;
            const unsigned code = (*columns[column]->codes)[row];
            const double share = code == 0 ? 0 : std::pow(10.0, 6.0 * (code - 1) / 254.0 - 6.0);
            highest = std::max(highest, code);
            changed += share * static_cast<double>(heat.rows[row].elements);
            elements += static_cast<double>(heat.rows[row].elements);
        }
    }
    if (!known)
        return std::nullopt;
    if (pool == HeatPool::Max)
        return static_cast<std::uint8_t>(highest);
    if (changed == 0)
        return std::uint8_t { 0 };
    const double code = std::round(1 + 254 * (std::log10(changed / elements) + 6) / 6);
    return static_cast<std::uint8_t>(std::clamp(code, 1.0, 255.0));
}

bool isUnknown(const HeatTile& tile, std::size_t at)
{
    return !tile.unknown.empty() && (tile.unknown[at / 8] >> (at % 8) & 1) != 0;
}

void expectTile(const HeatView& heat, HeatPool pool, unsigned levelY, unsigned levelX, std::size_t tileY,
                std::size_t tileX)
{
    const HeatTile tile = makeHeatTile(heat, 1, pool, levelY, levelX, tileY, tileX);
    ASSERT_EQ(tile.codes.size(), Side * Side);
    ASSERT_TRUE(tile.unknown.empty() || tile.unknown.size() == Side * Side / 8);
    const Columns columns = columnsOf(heat, 1);
    std::size_t wrong = 0;
    for (std::size_t at = 0; at < Side * Side; ++at) {
        const auto cell = slowCell(heat, columns, pool, std::size_t { 1 } << levelY, std::size_t { 1 } << levelX,
                                   tileY * Side + at / Side, tileX * Side + at % Side);
        const int off = std::abs(static_cast<int>(tile.codes[at]) - static_cast<int>(cell.value_or(0)));
        const int allowed = pool == HeatPool::Mean ? 1 : 0; // sums in another order may round at a border
        wrong += isUnknown(tile, at) == cell.has_value() || off > allowed
            || (off == 1 && (tile.codes[at] == 0 || cell == 0));
    }
    EXPECT_EQ(wrong, 0U) << "levels " << levelY << ", " << levelX << ", tile " << tileY << ", " << tileX
                         << (pool == HeatPool::Max ? ", max" : ", mean");
}

TEST(HeatTiles, AreWhatLookingAtEachCellSays)
{
    const HeatView heat = randomHeat(300, 600, 11);
    ASSERT_EQ(heatLevels(300), 2U);
    ASSERT_EQ(heatLevels(600), 3U);
    for (const HeatPool pool : { HeatPool::Max, HeatPool::Mean }) {
        for (unsigned levelY = 0; levelY < 2; ++levelY) {
            for (unsigned levelX = 0; levelX < 3; ++levelX) {
                for (std::size_t tileY = 0; tileY <= std::size_t { 299 } >> levelY >> 8; ++tileY) {
                    for (std::size_t tileX = 0; tileX <= std::size_t { 599 } >> levelX >> 8; ++tileX)
                        expectTile(heat, pool, levelY, levelX, tileY, tileX);
                }
            }
        }
    }
}

TEST(HeatTiles, OutsideOfTheMatrixNothingIsKnown)
{
    const HeatTile tile = makeHeatTile(randomHeat(5, 7, 1), 1, HeatPool::Max, 0, 0, 3, 3);
    EXPECT_EQ(tile.codes, std::vector<std::uint8_t>(Side * Side, 0));
    EXPECT_EQ(tile.unknown, std::vector<std::uint8_t>(Side * Side / 8, 0xff));
}

TEST(HeatTiles, WithoutAnythingUnknownThereIsNoMask)
{
    HeatView heat = randomHeat(Side, Side, 2);
    for (HeatColumnView& column : heat.columns)
        column.codes = std::make_shared<std::vector<std::uint8_t>>(Side, std::uint8_t { 9 });
    const HeatTile tile = makeHeatTile(heat, 1, HeatPool::Max, 0, 0, 0, 0);
    EXPECT_TRUE(tile.unknown.empty());
    EXPECT_EQ(tile.codes, std::vector<std::uint8_t>(Side * Side, 9));
}

TEST(HeatTiles, AMergedCellIsUnknownOnlyIfAllOfItIs)
{
    HeatView heat = randomHeat(1, 4, 2);
    for (HeatColumnView& column : heat.columns)
        column.codes.reset();
    heat.columns[heat.columnsOf(1).first + 1].codes =
        std::make_shared<std::vector<std::uint8_t>>(1, std::uint8_t { 77 });
    const HeatTile tile = makeHeatTile(heat, 1, HeatPool::Mean, 0, 1, 0, 0);
    EXPECT_FALSE(isUnknown(tile, 0));
    EXPECT_EQ(tile.codes[0], 77);
    EXPECT_TRUE(isUnknown(tile, 1));
}

TEST(HeatTiles, AMeanIsWeightedByElements)
{
    HeatView heat;
    heat.rows.resize(2);
    heat.rows[0].elements = 999;
    heat.rows[1].elements = 1;
    HeatColumnView column;
    column.codes = std::make_shared<std::vector<std::uint8_t>>(std::vector<std::uint8_t> { 0, 255 });
    heat.columns.push_back(column);
    EXPECT_EQ(makeHeatTile(heat, 0, HeatPool::Mean, 1, 0, 0, 0).codes[0], heatCode(1, 1000));
    EXPECT_EQ(makeHeatTile(heat, 0, HeatPool::Max, 1, 0, 0, 0).codes[0], 255);
}

TEST(HeatTiles, LevelsEndWhereOneTileHoldsEverything)
{
    EXPECT_EQ(heatLevels(0), 1U);
    EXPECT_EQ(heatLevels(256), 1U);
    EXPECT_EQ(heatLevels(257), 2U);
    EXPECT_EQ(heatLevels(512), 2U);
    EXPECT_EQ(heatLevels(513), 3U);
    EXPECT_EQ(heatLevels(100'000), 10U);
}

TEST(HeatColumns, AreFoundByEpochAndStep)
{
    const HeatView heat = randomHeat(1, 5, 4);
    EXPECT_EQ(heat.columnsOf(0), std::pair(std::size_t { 0 }, std::size_t { 3 }));
    EXPECT_EQ(heat.columnsOf(1), std::pair(std::size_t { 3 }, std::size_t { 8 }));
    EXPECT_EQ(heat.columnsOf(2).first, heat.columnsOf(2).second);
    EXPECT_EQ(heat.columnOf(1, 12), 5U);
    EXPECT_EQ(heat.columnOf(1, 2), std::nullopt) << "of the other epoch";
    EXPECT_EQ(heat.columnOf(0, 10), std::nullopt);
}

// --- order of rows ---------------------------------------------------------------------------------------------------

std::vector<std::string> inModelOrder(std::vector<std::string> names)
{
    std::reverse(names.begin(), names.end());
    std::sort(names.begin(), names.end(), modelBefore);
    return names;
}

TEST(ModelOrder, OfLlamaBeginsWithTheEmbeddingAndEndsWithTheHead)
{
    const std::vector<std::string> names {
        "model.embed_tokens.weight",
        "model.layers.0.input_layernorm.weight",
        "model.layers.0.self_attn.q_proj.weight",
        "model.layers.2.mlp.up_proj.weight",
        "model.layers.10.mlp.up_proj.weight",
        "model.norm.weight",
        "lm_head.weight",
    };
    EXPECT_EQ(inModelOrder(names), names);
}

TEST(ModelOrder, OfAMixtureCountsItsExperts)
{
    const std::vector<std::string> names {
        "model.layers.3.mlp.experts.2.down_proj.weight",   "model.layers.3.mlp.experts.10.down_proj.weight",
        "model.layers.3.mlp.experts.127.down_proj.weight", "model.layers.3.mlp.gate.weight",
        "model.layers.20.mlp.experts.2.down_proj.weight",
    };
    EXPECT_EQ(inModelOrder(names), names);
}

TEST(ModelOrder, OfGpt2BeginsWithBothEmbeddings)
{
    const std::vector<std::string> names {
        "transformer.wpe.weight",
        "transformer.wte.weight",
        "transformer.h.0.attn.c_attn.bias",
        "transformer.h.2.ln_1.weight",
        "transformer.h.11.ln_1.weight",
        "transformer.ln_f.weight",
        "lm_head.weight",
    };
    EXPECT_EQ(inModelOrder(names), names);
}

TEST(ModelOrder, IsOneOrderWhateverTheNames)
{
    std::mt19937 random(5); // NOLINT: the same every time
    const std::string parts[] = { "0", "2", "10", "007", "a", "embed", "head", ".", "-", "\xff", "layers." };
    std::vector<std::string> names;
    for (int i = 0; i < 60; ++i) {
        std::string name;
        for (unsigned n = random() % 5; n > 0; --n)
            name += parts[random() % std::size(parts)];
        names.push_back(std::move(name));
    }
    for (const std::string& a : names) {
        for (const std::string& b : names) {
            EXPECT_FALSE(modelBefore(a, b) && modelBefore(b, a)) << a << " | " << b;
            for (const std::string& c : names)
                EXPECT_TRUE(!modelBefore(a, b) || !modelBefore(b, c) || modelBefore(a, c)) << a << "|" << b << "|" << c;
        }
    }
}

TEST(TensorTable, SaysHowManyColumnsItsTotalsAddUp)
{
    HeatView heat;
    heat.rows = { { "w", "BF16", { 100 }, 100, 200, "", 7, 3 } };
    heat.columns.resize(4);
    EXPECT_EQ(knownColumns(heat), 0U);
    auto table = nlohmann::json::parse(tensorsToJson(heat, 0));
    EXPECT_EQ(table["known_columns"], 0);
    EXPECT_TRUE(table["tensors"][0]["changed_elems"].is_null()) << "unknown is not 0";
    heat.columns[1].codes = std::make_shared<const std::vector<std::uint8_t>>(1, std::uint8_t { 0 });
    heat.columns[3].codes = heat.columns[1].codes;
    table = nlohmann::json::parse(tensorsToJson(heat, 0));
    EXPECT_EQ(table["known_columns"], 2);
    EXPECT_EQ(table["tensors"][0]["changed_elems"], 7);
}

TEST(TensorGroup, IsTheFirstNumberedPartWithItsName)
{
    EXPECT_EQ(tensorGroup("model.layers.0.mlp.up_proj.weight"), "layers.0");
    EXPECT_EQ(tensorGroup("model.layers.31.mlp.experts.7.up_proj.weight"), "layers.31");
    EXPECT_EQ(tensorGroup("transformer.h.11.ln_1.weight"), "h.11");
    EXPECT_EQ(tensorGroup("h.0"), "h.0");
}

TEST(TensorGroup, IsEmptyOutsideOfLayers)
{
    for (const char* name :
         { "lm_head.weight", "model.embed_tokens.weight", "", ".", "0.weight", "layers..0x", "conv1.w" })
        EXPECT_EQ(tensorGroup(name), "") << name;
}

} // namespace
} // namespace deltascope::app

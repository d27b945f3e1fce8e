#include "heat/cell_painter.h"
#include "heat/color_map.h"
#include "heat/heat_model.h"
#include "heat/heat_picture.h"
#include "heat/tensor_filter.h"
#include "made_heat.h"

#include <QTest>

#include <algorithm>
#include <gtest/gtest.h>

// Rows, columns, colors and merged cells of the heatmap.

namespace deltascope::desktop {
namespace {

HeatPlanPointer planOf(const std::shared_ptr<const app::HeatView>& heat, const RowOptions& options = {},
                       const HeatPlanPointer& before = nullptr)
{
    return makeHeatPlan(MadeHeat::snapshot(heat), 0, {}, options, before);
}

HeatModel modelOf(const HeatPlanPointer& plan, int width = 400, int height = 300)
{
    HeatModel model;
    model.resize(width, height);
    model.setPlan(plan);
    return model;
}

// --- colors ----------------------------------------------------------------------------------------------------------

TEST(ColorMap, EndsOfTheWindowAreEndsOfTheMapAndZeroIsFlat)
{
    const HeatColors colors;
    const ColorTable table = makeColorTable(colors, Shade::Dark);
    EXPECT_EQ(table[0], color(Token::ZeroCell, Shade::Dark).rgb());
    EXPECT_EQ(table[app::heatCode(1, 100'000)], colorAt(ColorMapName::Cividis, 0)) << "below the window: its low end";
    EXPECT_EQ(table[255], colorAt(ColorMapName::Cividis, 1)) << "above the window: its high end";
    EXPECT_NE(table[app::heatCode(1, 1000)], table[app::heatCode(1, 100)]);
    EXPECT_EQ(colorAt(ColorMapName::Cividis, 0), qRgb(0x00, 0x20, 0x51));
}

TEST(ColorMap, CodesOfSharesAreThoseOfCounts)
{
    for (std::uint64_t changed = 0; changed <= 1000; ++changed)
        EXPECT_EQ(codeOfShare(static_cast<double>(changed) / 1000), app::heatCode(changed, 1000)) << changed;
    EXPECT_EQ(codeOfShare(1e-15), 1) << "however little is no nothing";
}

TEST(ColorMap, SharesHaveTwoDigits)
{
    EXPECT_EQ(shareText(0), QStringLiteral("0 %"));
    EXPECT_EQ(shareText(0.0082), QStringLiteral("0.82 %"));
    EXPECT_EQ(shareText(0.1), QStringLiteral("10 %"));
    EXPECT_EQ(shareText(1), QStringLiteral("100 %"));
    EXPECT_EQ(shareText(0.0001), QStringLiteral("0.01 %"));
}

// --- rows ------------------------------------------------------------------------------------------------------------

TEST(HeatRows, LayersAreBandsWithALinePerTensor)
{
    const HeatModel model = modelOf(planOf(MadeHeat().view()));
    ASSERT_EQ(model.rows().size(), 4U);
    EXPECT_EQ(model.labelOf(model.rows()[0]), QStringLiteral("embed_tokens"));
    EXPECT_EQ(model.rows()[1].kind, ViewRow::Kind::Band);
    EXPECT_EQ(model.labelOf(model.rows()[1]), QStringLiteral("layers.0"));
    EXPECT_EQ(model.rows()[1].lines(), 4);
    EXPECT_EQ(model.rows()[3].first, 9);
}

TEST(HeatRows, AnOpenLayerShowsItsTensorsAndKeepsTheCursorOnItsTensor)
{
    HeatModel model = modelOf(planOf(MadeHeat().view()));
    ASSERT_TRUE(model.placeTensor("model.layers.1.mlp.w2.weight", 5));
    EXPECT_EQ(model.cursor()->row, 2);
    EXPECT_EQ(model.cursor()->offset, 2);
    model.setOpen(2, true);
    ASSERT_EQ(model.rows().size(), 8U);
    EXPECT_EQ(model.rows()[2].kind, ViewRow::Kind::Head);
    ASSERT_TRUE(model.cursor());
    EXPECT_EQ(model.tensorAt(*model.cursor()), 7);
    EXPECT_EQ(model.labelOf(model.rows()[static_cast<std::size_t>(model.cursor()->row)]), QStringLiteral("mlp.w2"));
    EXPECT_EQ(model.tensorAt({ 2, 0, 0 }), -1) << "the head stands for all tensors of the layer";
}

TEST(HeatRows, ExpertsAreFoldedIntoOneNode)
{
    auto heat = MadeHeat().view();
    heat->rows.clear();
    for (int expert = 0; expert < 8; ++expert) {
        app::TensorRowView row;
        row.name = "model.layers.0.mlp.experts." + std::to_string(expert) + ".up_proj.weight";
        row.group = app::tensorGroup(row.name);
        row.elements = 10;
        heat->rows.push_back(row);
    }
    const RowTree tree = makeRowTree(heat->rows);
    ASSERT_EQ(tree.nodes.size(), 1U);
    ASSERT_EQ(tree.nodes[0].children.size(), 1U);
    EXPECT_EQ(tree.nodes[0].children[0].label, QStringLiteral("experts[0…7]"));
    EXPECT_EQ(tree.nodes[0].children[0].children.size(), 8U);
}

TEST(HeatRows, FilterAndSortMakeAList)
{
    const auto heat = MadeHeat().view();
    const HeatModel model = modelOf(planOf(heat, { RowSort::Name, QStringLiteral("w1 dtype:bf16") }));
    ASSERT_EQ(model.rows().size(), 2U);
    EXPECT_EQ(heat->rows[static_cast<std::size_t>(model.rows()[0].first)].name, "model.layers.0.mlp.w1.weight");
    EXPECT_TRUE(modelOf(planOf(heat, { RowSort::Model, QStringLiteral("dtype:f32") })).isEmpty());
}

TEST(TensorFilter, SaysWhatIsWrongAndThenPassesEverything)
{
    const app::TensorRowView tensor;
    for (const char* text : { "/(/", "changed>", "changed:1", "changed>1.2.3%" }) {
        const TensorFilter filter(QString::fromLatin1(text), 10);
        EXPECT_FALSE(filter.error().isEmpty()) << text;
        EXPECT_TRUE(filter(tensor)) << text;
    }
}

TEST(TensorFilter, ChangedIsTheMeanSharePerKnownVersion)
{
    app::TensorRowView tensor;
    tensor.elements = 1000;
    tensor.changedElements = 200; // over 10 versions: 2 % each
    EXPECT_TRUE(TensorFilter(QStringLiteral("changed>1%"), 10)(tensor));
    EXPECT_FALSE(TensorFilter(QStringLiteral("changed>3%"), 10)(tensor));
    EXPECT_TRUE(TensorFilter(QStringLiteral("changed<=0.02"), 10)(tensor));
}

// --- columns ---------------------------------------------------------------------------------------------------------

TEST(HeatPlan, KnowsWhichColumnsMoved)
{
    const auto heat = MadeHeat { .unknownSteps = 3 }.view();
    const HeatPlanPointer before = planOf(heat);
    auto next = MadeHeat::grown(*heat, 7);
    std::mt19937 random(9); // NOLINT: the same every time
    next->columns[1].codes = MadeHeat::codes(next->rows.size(), random);
    const HeatPlanPointer now = planOf(next, {}, before);
    EXPECT_EQ(movedColumns(*before, *now), (std::vector<int> { 1, 20 }));
    EXPECT_EQ(movedColumns(*now, *now), std::vector<int> {});
    EXPECT_EQ(movedColumns(*now, *before), std::nullopt) << "a shorter run is another one";
}

TEST(HeatPlan, MeansAreOfKnownVersionsOnly)
{
    const HeatPlanPointer plan = planOf(MadeHeat { .unknownSteps = 10 }.view());
    EXPECT_EQ(plan->knownColumns, 10U);
    EXPECT_NEAR(plan->meanShareOf(0, 1), 0.1 / 10, 1e-4);
}

TEST(HeatModel, StepsStayUnderTheMouseWhileZooming)
{
    HeatModel model = modelOf(planOf(MadeHeat { .steps = 2000 }.view()));
    const double before = model.axis().first + 300 / model.axis().cell;
    model.zoomSteps(300, 5);
    EXPECT_NEAR(model.axis().first + 300 / model.axis().cell, before, 1e-6);
    model.zoomSteps(300, 1e-9);
    EXPECT_TRUE(model.axis().seesAll());
}

TEST(HeatModel, WhoSeesTheWholeRunGoesOnToAndOthersStayWhereTheyAre)
{
    const auto heat = MadeHeat { .steps = 100 }.view();
    HeatModel model = modelOf(planOf(heat));
    const HeatPlanPointer next = planOf(MadeHeat::grown(*heat, 3), {}, model.plan());
    model.showColumns(10, 20);
    model.setPlan(next);
    EXPECT_DOUBLE_EQ(model.axis().first, 10);
    model.fitSteps();
    model.setPlan(planOf(MadeHeat::grown(*next->heat, 4), {}, next));
    EXPECT_TRUE(model.axis().seesAll());
    EXPECT_EQ(model.axis().count, 102);
}

TEST(HeatModel, CtrlArrowsGoToTheNextOtherColor)
{
    auto heat = MadeHeat { .steps = 6 }.view();
    for (std::size_t at = 0; at < heat->columns.size(); ++at)
        heat->columns[at].codes = std::make_shared<std::vector<std::uint8_t>>(heat->rows.size(), at < 4 ? 100 : 0);
    HeatModel model = modelOf(planOf(heat));
    model.place({ 0, 0, 0 });
    model.moveToOther(1, 0, app::HeatPool::Max);
    EXPECT_EQ(model.cursor()->column, 4);
    EXPECT_EQ(model.otherChange(-1), 3);
    EXPECT_EQ(model.otherChange(1), -1) << "what is exactly zero is no change";
}

TEST(HeatModel, PixelsFindTheTensorInsideOfABand)
{
    HeatModel model = modelOf(planOf(MadeHeat().view()));
    for (int row = 0; row < static_cast<int>(model.rows().size()); ++row) {
        for (int offset = 0; offset < model.rows()[static_cast<std::size_t>(row)].lines(); ++offset) {
            const Spot spot { row, offset, 7 };
            const QPointF middle = model.rectOf(spot).center();
            EXPECT_EQ(model.spotAt(middle.x(), middle.y()), spot) << row << '/' << offset;
        }
    }
    EXPECT_EQ(model.spotAt(10, model.tops().back() + 1), std::nullopt);
}

// --- pixels ----------------------------------------------------------------------------------------------------------

/// Composes until nothing is missing any more.
void composeAll(HeatPicture& picture, const HeatPicture::Source& source, unsigned level, int from, int to,
                const std::vector<PictureLine>& lines)
{
    ASSERT_TRUE(QTest::qWaitFor([&] {
        source.tiles.begin();
        picture.compose(source, level, from, to, lines);
        source.tiles.load(0, 0);
        return !source.tiles.isLoading();
    }));
}

class HeatPictureTest : public ::testing::TestWithParam<app::HeatPool> { };

TEST_P(HeatPictureTest, ColorsEveryCellByWhatItMerges)
{
    const auto heat = MadeHeat { .layers = 40, .perLayer = 17, .steps = 700, .unknownSteps = 9 }.view();
    const HeatPlanPointer plan = planOf(heat);
    TileCache tiles;
    tiles.reset(heat, 0);
    const ColorTable table = makeColorTable({}, Shade::Light);
    const HeatPicture::Source source { tiles, GetParam(), table, plan->elementsBefore };
    std::vector<PictureLine> lines; // of one row, of a few, of many that begin anywhere
    for (int row = 0; row + 45 < plan->rows(); row += 45) {
        lines.push_back({ row, 1 });
        lines.push_back({ row + 1, 5 });
        lines.push_back({ row + 6, 39 });
    }
    for (const unsigned level : { 0U, 1U, 2U }) {
        HeatPicture picture;
        const int cells = (700 + (1 << level) - 1) >> level;
        composeAll(picture, source, level, 0, cells, lines);
        const QImage image = picture.image();
        for (int y = 0; y < image.height(); ++y) {
            const PictureLine& line = lines[static_cast<std::size_t>(y)];
            for (int x = 0; x < cells; x += 13) {
                bool known = false;
                std::uint8_t most = 0;
                double sum = 0;
                double weight = 0;
                for (int column = x << level; column < std::min(700, (x + 1) << level); ++column) {
                    for (int row = line.first; row < line.first + line.count; ++row) {
                        const auto code = plan->code(row, column);
                        if (!code)
                            continue;
                        known = true;
                        most = std::max(most, *code);
                        sum += app::heatShare(*code) * static_cast<double>(plan->tensor(row).elements);
                        weight += static_cast<double>(plan->tensor(row).elements);
                    }
                }
                if (!known) {
                    EXPECT_EQ(qAlpha(image.pixel(x, y)), 0) << "unknown shines through, it is not zero";
                } else if (GetParam() == app::HeatPool::Max) {
                    ASSERT_EQ(image.pixel(x, y), table[most]) << level << ' ' << x << ' ' << y;
                } else {
                    // Means of means are rounded to a code twice.
                    const int code = codeOfShare(sum / weight);
                    const auto near = [&](int by) {
                        return image.pixel(x, y) == table[static_cast<std::size_t>(std::clamp(code + by, 0, 255))];
                    };
                    ASSERT_TRUE(near(0) || near(1) || near(-1) || near(2) || near(-2)) << level << ' ' << x << ' ' << y;
                }
            }
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Pools, HeatPictureTest, ::testing::Values(app::HeatPool::Max, app::HeatPool::Mean));

TEST(TileCache, ANewStepIsSeenAtEveryLevel)
{
    const auto heat = MadeHeat { .steps = 600 }.view();
    const HeatPlanPointer plan = planOf(heat);
    TileCache tiles;
    tiles.reset(heat, 0);
    const ColorTable table = makeColorTable({}, Shade::Light);
    const HeatPicture::Source source { tiles, app::HeatPool::Max, table, plan->elementsBefore };
    HeatPicture fine;
    HeatPicture coarse;
    composeAll(fine, source, 0, 512, 601, { { 0, 1 } });
    composeAll(coarse, source, 1, 256, 301, { { 0, 1 } });
    EXPECT_EQ(qAlpha(fine.image().pixel(600 - 512, 0)), 0);
    const auto next = MadeHeat::grown(*heat, 11);
    tiles.update(next, { 600 });
    composeAll(fine, source, 0, 512, 601, { { 0, 1 } });
    composeAll(coarse, source, 1, 256, 301, { { 0, 1 } });
    const QRgb wanted = table[(*next->columns[600].codes)[0]];
    EXPECT_EQ(fine.image().pixel(600 - 512, 0), wanted);
    EXPECT_EQ(coarse.image().pixel(300 - 256, 0), wanted);
}

TEST(TileCache, DropsWhatWasNotLookedAtForLongest)
{
    const auto heat = MadeHeat { .steps = 4000 }.view();
    const HeatPlanPointer plan = planOf(heat);
    constexpr std::size_t Limit = 4 * 65'536;
    TileCache tiles(Limit);
    tiles.reset(heat, 0);
    const ColorTable table = makeColorTable({}, Shade::Light);
    const HeatPicture::Source source { tiles, app::HeatPool::Max, table, plan->elementsBefore };
    HeatPicture picture;
    for (int from = 0; from < 3840; from += 256)
        composeAll(picture, source, 0, from, from + 256, { { 0, 1 } });
    EXPECT_LE(tiles.bytes(), Limit);
    EXPECT_GE(tiles.bytes(), Limit / 2);
}

}
} // namespace deltascope::desktop

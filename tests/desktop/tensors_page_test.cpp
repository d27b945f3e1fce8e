#include "heat/color_map.h"
#include "pages/tensors/tensors_page.h"

#include "desktop_fixture.h"
#include "look/format.h"
#include "made_heat.h"
#include "pages/heatmap/block_view.h"

#include <QLineEdit>
#include <QTreeView>

// The page Tensors over a real bucket: its list, the past of a tensor, and where a step changed it.

namespace deltascope::desktop {
namespace {

class TensorsPageTest : public DesktopFixture {
protected:
    TensorsPage* openPage(const std::string& bucket)
    {
        open(bucket);
        auto* page = show<TensorsPage>("tensors");
        EXPECT_TRUE(waitFor([&] {
            const TensorListingPointer& listing = page->model().listing();
            return listing && listing->heat == window->focus().run()->heat;
        }));
        return page;
    }
    static QString cell(TensorsPage* page, const std::string& tensor, int column)
    {
        return page->model().indexOf(tensor).siblingAtColumn(column).data().toString();
    }
};

TEST_F(TensorsPageTest, ListsTensorsByLayerWithWhatIsKnown)
{
    TensorsPage* page = openPage("trl-v2-raw");
    const std::string name = "model.layers.0.mlp.down_proj.weight";
    ASSERT_TRUE(page->model().indexOf(name).isValid());
    EXPECT_EQ(page->model().indexOf(name).parent().data().toString(), QStringLiteral("layers.0"));
    EXPECT_EQ(cell(page, name, TensorOrder::Shape), QStringLiteral("32 × 64"));
    EXPECT_EQ(cell(page, name, TensorOrder::Dtype), QStringLiteral("bf16"));
    EXPECT_EQ(cell(page, name, TensorOrder::Elements), QStringLiteral("2.05 k"));
    EXPECT_EQ(cell(page, name, TensorOrder::LastChanged), QStringLiteral("14"));
}

TEST_F(TensorsPageTest, SelectingATensorShowsItsPastAndItsBlocks)
{
    TensorsPage* page = openPage("trl-v2-raw");
    const QModelIndex row = page->model().indexOf("model.layers.0.mlp.down_proj.weight");
    page->list()->setCurrentIndex(row);
    EXPECT_EQ(window->cursor().state().tensor, "model.layers.0.mlp.down_proj.weight");
    ASSERT_TRUE(waitFor([&] { return page->blocks()->blocks() != nullptr; }));
    EXPECT_EQ(page->blocks()->blocks()->tensor, "model.layers.0.mlp.down_proj.weight");
    ASSERT_TRUE(waitFor([&] { return page->history()->table()->rowCount() == 14; }));
    const QAbstractItemModel* history = page->history()->table();
    EXPECT_EQ(history->headerData(4, Qt::Vertical).toString(), QStringLiteral("step 5"));
    // 74 of 2,048 elements, within one code.
    const double share = app::heatShare(app::heatCode(74, 2048));
    EXPECT_EQ(history->index(4, 0).data().toString(), shareText(share));
    EXPECT_TRUE(page->history()->currentCell().isValid()) << "B is marked";
}

TEST_F(TensorsPageTest, AFilterKeepsGroupsOfWhatItFindsAndIsUndone)
{
    TensorsPage* page = openPage("trl-v2-raw");
    const int all = page->model().rowCount();
    page->filterField()->setText(QStringLiteral("_proj"));
    ASSERT_TRUE(waitFor([&] { return page->model().rowCount() == 1; }));
    EXPECT_EQ(page->model().rowCount(page->model().index(0, 0)), 7);
    EXPECT_TRUE(page->list()->isExpanded(page->model().index(0, 0)));
    window->actions().trigger(QStringLiteral("view.undo"));
    EXPECT_TRUE(waitFor([&] { return page->model().rowCount() == all; }));
    EXPECT_EQ(page->filterField()->text(), QString());
}

TEST_F(TensorsPageTest, SortsByAColumn)
{
    TensorsPage* page = openPage("trl-v2-raw");
    page->list()->sortByColumn(TensorOrder::Elements, Qt::DescendingOrder);
    ASSERT_TRUE(waitFor([&] { return page->model().listing()->order.column == TensorOrder::Elements; }));
    const auto& items = page->model().listing()->items;
    EXPECT_TRUE(std::is_sorted(items.begin(), items.end(),
                               [](const auto& a, const auto& b) { return a.elements > b.elements; }));
    EXPECT_GT(items.front().elements, items.back().elements);
}

TEST_F(TensorsPageTest, ANewStepKeepsSelectionAndOpenGroups)
{
    const auto heat = MadeHeat { .layers = 30, .perLayer = 40 }.view();
    TensorModel model;
    model.setListing(makeTensorListing(heat, {}), false);
    QTreeView list;
    list.setModel(&model);
    const QModelIndex chosen = model.indexOf("model.layers.3.mlp.w7.weight");
    list.setCurrentIndex(chosen);
    list.setExpanded(chosen.parent(), true);
    const auto next = makeTensorListing(MadeHeat::grown(*heat, 4), {});
    ASSERT_TRUE(sameItems(*model.listing(), *next));
    model.setListing(next, true);
    EXPECT_EQ(list.currentIndex(), model.indexOf("model.layers.3.mlp.w7.weight"));
    EXPECT_TRUE(list.isExpanded(list.currentIndex().parent()));
}

TEST_F(TensorsPageTest, ExportsWhatIsListed)
{
    TensorsPage* page = openPage("trl-v2-raw");
    page->filterField()->setText(QStringLiteral("norm"));
    ASSERT_TRUE(waitFor([&] { return page->model().listing()->shown < 13; }));
    const QList<QByteArray> lines = page->exportText().split('\n');
    EXPECT_EQ(lines.size(), static_cast<qsizetype>(page->model().listing()->shown) + 2);
    EXPECT_TRUE(lines[1].startsWith("\"model.layers.0.input_layernorm.weight\",\"BF16\",32,32,64,14,"))
        << lines[1].toStdString();
}

}
} // namespace deltascope::desktop

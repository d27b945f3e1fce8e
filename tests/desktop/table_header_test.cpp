#include "widgets/table_header.h"

#include "look/look.h"
#include "look/tokens.h"

#include <QApplication>
#include <QImage>
#include <QStandardItemModel>
#include <QTableView>
#include <QTest>
#include <QTreeWidget>

#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>

// Looked at as a user does: by what is painted where.

namespace deltascope::desktop {
namespace {

/// Columns with something painted in them; both within.
struct Extent {
    int first;
    int last;
};

class TableHeaderTest : public testing::Test {
protected:
    TableHeaderTest()
    {
        TableHeader::give(*m_list);
        m_list->setParent(&m_window);
        m_list->setRootIsDecorated(false);
        m_list->setHeaderLabels({ QStringLiteral("H"), QStringLiteral("H"), QStringLiteral("changed") });
        for (int i = 0; i < 3; ++i) {
            auto* item = new QTreeWidgetItem({ QStringLiteral("H"), QStringLiteral("H"), QStringLiteral("H") });
            item->setTextAlignment(Number, Qt::AlignRight | Qt::AlignVCenter);
            m_list->addTopLevelItem(item);
        }
        m_list->setCurrentItem(nullptr);
        m_list->header()->setStretchLastSection(false);
        m_list->setGeometry(0, 0, 600, 300);
        dress(m_window);
        m_window.resize(600, 300);
        m_window.show();
        for (const int column : { Text, Number })
            m_list->header()->resizeSection(column, 150);
        QTest::qWait(20);
    }

    /// What differs from the ground in the middle of a row of texts, from `left` on.
    static std::optional<Extent> inkOf(const QImage& image, const QRect& place)
    {
        std::optional<Extent> found;
        const QRgb ground = image.pixel(place.left() + 1, place.center().y());
        for (int x = place.left() + 1; x < place.right(); ++x) {
            bool ink = false;
            for (int y = place.top() + 2; y < place.bottom() - 1; ++y)
                ink = ink || std::abs(qGray(image.pixel(x, y)) - qGray(ground)) > 40;
            if (ink)
                found = Extent { found ? found->first : x - place.left(), x - place.left() };
        }
        return found;
    }
    QRect sectionOf(int column) const
    {
        const QHeaderView& header = *m_list->header();
        return { header.sectionViewportPosition(column), 0, header.sectionSize(column), header.height() };
    }
    Extent titleOf(int column) const
    {
        const auto ink = inkOf(m_list->header()->grab().toImage(), sectionOf(column));
        EXPECT_TRUE(ink) << column;
        return ink.value_or(Extent { -1, -1 });
    }
    Extent cellOf(int column) const
    {
        const QModelIndex cell = m_list->model()->index(1, column);
        const auto ink = inkOf(m_list->viewport()->grab().toImage(), m_list->visualRect(cell));
        EXPECT_TRUE(ink) << column;
        return ink.value_or(Extent { -1, -1 });
    }
    void sortBy(int column, Qt::SortOrder order)
    {
        m_list->header()->setSortIndicatorShown(true);
        m_list->header()->setSortIndicator(column, order);
        QTest::qWait(20);
    }

    enum Column { Text, Number, Last };
    QWidget m_window;
    QTreeWidget* m_list = new QTreeWidget;
};

TEST_F(TableHeaderTest, ATitleBeginsOrEndsWhereItsCellsDo)
{
    EXPECT_NEAR(titleOf(Text).first, cellOf(Text).first, 1);
    EXPECT_NEAR(titleOf(Number).last, cellOf(Number).last, 1);
    EXPECT_GT(titleOf(Number).first, 75) << "on the right of its column";
}

TEST_F(TableHeaderTest, TheArrowIsBesideTheTitleAndNothingMoves)
{
    const Extent text = titleOf(Text);
    const Extent number = titleOf(Number);
    sortBy(Text, Qt::AscendingOrder);
    EXPECT_EQ(titleOf(Text).first, text.first);
    EXPECT_GT(titleOf(Text).last, text.last + 6);
    EXPECT_EQ(titleOf(Number).first, number.first);
    sortBy(Number, Qt::AscendingOrder);
    EXPECT_EQ(titleOf(Number).last, number.last);
    EXPECT_LT(titleOf(Number).first, number.first - 6);
    EXPECT_EQ(titleOf(Text).last, text.last);
}

TEST_F(TableHeaderTest, TheArrowPointsToTheLeast)
{
    const auto heights = [this](Qt::SortOrder order) { // of its tip and of its broad side
        sortBy(Text, order);
        const QImage image = m_list->header()->grab().toImage();
        const QRect place = sectionOf(Text);
        const Extent arrow { titleOf(Text).last - 6, titleOf(Text).last };
        const auto width = [&](int y) {
            int count = 0;
            for (int x = arrow.first; x <= arrow.last; ++x)
                count += std::abs(qGray(image.pixel(x, y)) - qGray(image.pixel(place.right() - 2, y))) > 40;
            return count;
        };
        int first = place.top();
        while (first < place.bottom() && width(first) == 0)
            ++first;
        int last = first;
        while (width(last + 1) > 0)
            ++last;
        return std::pair(width(first), width(last));
    };
    const auto [top, bottom] = heights(Qt::AscendingOrder);
    EXPECT_LT(top, bottom);
    const auto [topDown, bottomDown] = heights(Qt::DescendingOrder);
    EXPECT_GT(topDown, bottomDown);
}

TEST_F(TableHeaderTest, NoTitleIsCutWhereAColumnFitsIt)
{
    m_list->header()->resizeSection(Last, 300);
    const auto wide = titleOf(Last);
    m_list->header()->setSectionResizeMode(Last, QHeaderView::ResizeToContents);
    QTest::qWait(20);
    ASSERT_LT(m_list->header()->sectionSize(Last), 150);
    EXPECT_EQ(titleOf(Last).last - titleOf(Last).first, wide.last - wide.first);
    sortBy(Last, Qt::AscendingOrder);
    EXPECT_GE(titleOf(Last).last - titleOf(Last).first, wide.last - wide.first + 6) << "with its arrow";
}

TEST_F(TableHeaderTest, OutlivesTheModelOfItsView)
{
    auto model = std::make_unique<QStandardItemModel>(2, 3);
    QTableView view;
    TableHeader::give(view);
    view.setModel(model.get());
    view.resize(400, 200);
    view.show();
    QTest::qWait(20);
    QHeaderView* const header = view.horizontalHeader();
    QObject::connect(model.get(), &QObject::destroyed, &view, [header] {
        EXPECT_FALSE(header->grab().isNull());
        header->resizeSections(QHeaderView::ResizeToContents);
    });
    model.reset();
    EXPECT_FALSE(view.grab().isNull());
}

} // namespace
} // namespace deltascope::desktop

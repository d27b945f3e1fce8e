#include "widgets/notice_pane.h"

#include "widgets/part_mover.h"

#include <QLabel>
#include <QPushButton>
#include <QSet>
#include <QTest>
#include <QVBoxLayout>

#include <gtest/gtest.h>

#include <algorithm>
#include <array>

// A notice that comes and goes, and parts that make room for it one by one.

namespace deltascope::desktop {
namespace {

constexpr int Padding = 12;
constexpr int Parts = 4;

/// How many parts have such an event between two paints of their page.
class Together final : public QObject {
public:
    Together(QWidget& page, const std::array<QPushButton*, Parts>& parts, const QSet<int>& events)
        : m_events(events)
    {
        page.installEventFilter(this);
        for (QPushButton* part : parts)
            part->installEventFilter(this);
    }
    int most() const { return m_most; }

    bool eventFilter(QObject* watched, QEvent* event) override
    {
        if (event->type() == QEvent::UpdateRequest)
            m_parts.clear();
        else if (m_events.contains(event->type()) && qobject_cast<QPushButton*>(watched))
            m_parts.insert(watched);
        m_most = std::max(m_most, static_cast<int>(m_parts.size()));
        return false;
    }

private:
    QSet<int> m_events;
    QSet<QObject*> m_parts;
    int m_most = 0;
};

class NoticePaneTest : public testing::Test {
protected:
    NoticePaneTest()
    {
        auto* column = new QWidget;
        auto* all = new QVBoxLayout(column);
        for (QPushButton*& part : m_parts) {
            part = new QPushButton(QStringLiteral("part"));
            part->setSizePolicy(QSizePolicy::Expanding, QSizePolicy::Expanding);
            part->setMinimumHeight(60);
            all->addItem(m_mover->place(part, column));
        }
        m_notice->setWordWrap(true);
        m_notice->hide();
        (new QVBoxLayout(&m_page))->addWidget(new NoticePane(m_notice, column, Padding));
        m_page.layout()->setContentsMargins(0, 0, 0, 0);
        m_page.resize(400, 500);
        m_page.show();
        settle();
    }

    void settle() const
    {
        QTest::qWait(50);
        EXPECT_TRUE(QTest::qWaitFor([this] { return m_mover->isDone(); }));
    }
    int topOf(const QWidget* widget) const { return widget->mapTo(&m_page, QPoint()).y(); }
    int noticeEnd() const { return topOf(m_notice) + m_notice->height(); }

    QWidget m_page;
    PartMover* m_mover = new PartMover(&m_page);
    QLabel* m_notice = new QLabel(QStringLiteral("step 3 is damaged"));
    std::array<QPushButton*, Parts> m_parts {};
};

TEST_F(NoticePaneTest, TheColumnBeginsBelowTheNotice)
{
    EXPECT_EQ(topOf(m_parts[0]), Padding);
    m_notice->show();
    settle();
    EXPECT_EQ(topOf(m_notice), Padding);
    EXPECT_EQ(topOf(m_parts[0]), noticeEnd() + Padding);
    const int before = topOf(m_parts[0]);
    m_notice->setText(QStringLiteral("word ").repeated(80));
    settle();
    EXPECT_GT(topOf(m_parts[0]), before) << "it grew";
    EXPECT_EQ(topOf(m_parts[0]), noticeEnd() + Padding);
    m_notice->hide();
    settle();
    EXPECT_EQ(topOf(m_parts[0]), Padding);
}

/// What is painted together takes together.
TEST_F(NoticePaneTest, PartsMakeRoomOneByOne)
{
    const Together moved(m_page, m_parts, { QEvent::Move, QEvent::Resize });
    for (const bool shown : { true, false }) {
        m_notice->setVisible(shown);
        settle();
    }
    EXPECT_EQ(moved.most(), 1);
}

/// Also when the column becomes longer than the pane and a scroll bar comes.
TEST_F(NoticePaneTest, WhatDoesNotMoveIsNotPainted)
{
    m_page.resize(400, 295);
    settle();
    const int before = m_parts[0]->width();
    const Together painted(m_page, m_parts, { QEvent::Paint });
    m_notice->show();
    settle();
    EXPECT_LT(m_parts[0]->width(), before) << "there is a scroll bar";
    EXPECT_LE(painted.most(), 2) << "the one that moves and the one that it covered";
}

TEST_F(NoticePaneTest, NoneWaitsWhereTheWindowChangesItsSize)
{
    m_page.resize(700, 620);
    for (const QPushButton* part : m_parts)
        EXPECT_GT(part->width(), 600);
    EXPECT_TRUE(m_mover->isDone());
}

TEST_F(NoticePaneTest, TheNoticeStaysInViewAndCoversNothingThatHasTheFocus)
{
    m_page.resize(400, 200);
    m_notice->show();
    settle();
    m_parts.back()->setFocus();
    QTest::keyClick(&m_page, Qt::Key_Tab, Qt::ShiftModifier);
    QTest::keyClick(&m_page, Qt::Key_Tab, Qt::ShiftModifier);
    QTest::keyClick(&m_page, Qt::Key_Tab, Qt::ShiftModifier);
    ASSERT_TRUE(m_parts.front()->hasFocus());
    EXPECT_EQ(topOf(m_notice), Padding);
    EXPECT_GE(topOf(m_parts.front()), noticeEnd());
    m_parts.back()->setFocus();
    EXPECT_EQ(topOf(m_notice), Padding);
}

} // namespace
} // namespace deltascope::desktop

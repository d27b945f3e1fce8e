#include "widgets/readout.h"

#include <QHBoxLayout>
#include <QTest>

#include <gtest/gtest.h>

namespace deltascope::desktop {
namespace {

class ReadoutTest : public testing::Test {
protected:
    ReadoutTest()
    {
        auto* row = new QHBoxLayout(&m_window);
        row->addWidget(m_readout);
        row->addWidget(m_neighbor);
        row->addStretch(1);
        m_window.resize(600, 40);
        m_readout->read(QStringLiteral("replica 10"));
        m_window.show();
        settle();
    }

    static void settle() { QTest::qWait(20); }
    int textWidth() const { return m_readout->fontMetrics().horizontalAdvance(m_readout->text()); }

    QWidget m_window;
    Readout* m_readout = new Readout("body");
    QLabel* m_neighbor = new QLabel(QStringLiteral("beside"));
};

TEST_F(ReadoutTest, StaysWhereItIsWhileTheTextIsAboutAsLong)
{
    const int place = m_neighbor->x();
    for (const char* text : { "replica 9", "replica", "replica 11" }) {
        m_readout->read(QString::fromLatin1(text));
        settle();
        EXPECT_NEAR(m_neighbor->x(), place, 4) << text; // digits may be a little wider than others
    }
}

TEST_F(ReadoutTest, HasRoomForAllOfALongText)
{
    m_readout->read(QStringLiteral("replicas 10, worst lag 12345 steps"));
    settle();
    EXPECT_GE(m_readout->width(), textWidth());
    EXPECT_GE(m_neighbor->x(), m_readout->geometry().right());
}

TEST_F(ReadoutTest, GivesRoomBackThatIsNoLongerNeeded)
{
    m_readout->read(QStringLiteral("No source open, works offline, no account, nothing is sent"));
    settle();
    const int place = m_neighbor->x();
    m_readout->read(QStringLiteral("connected"));
    settle();
    EXPECT_LT(m_neighbor->x(), place / 2);
    EXPECT_GE(m_readout->width(), textWidth());
}

TEST_F(ReadoutTest, FollowsTheFont)
{
    QFont large = m_readout->font();
    large.setPixelSize(3 * QFontMetrics(large).height());
    m_readout->setFont(large);
    settle();
    EXPECT_GE(m_readout->width(), textWidth());
    EXPECT_GE(m_readout->height(), m_readout->fontMetrics().height());
}

} // namespace
} // namespace deltascope::desktop

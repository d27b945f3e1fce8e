#include "window/view_history.h"

#include <QSignalSpy>
#include <QTest>

#include <gtest/gtest.h>

namespace deltascope::desktop {
namespace {

ViewHistory::Place at(const char* page, std::int64_t step, bool follow = false)
{
    ViewHistory::Place place;
    place.page = QString::fromLatin1(page);
    place.cursor.b = StepId { 0, step };
    place.cursor.follow = follow;
    return place;
}

class History : public ::testing::Test {
protected:
    History()
    {
        QObject::connect(&history, &ViewHistory::goTo, [this](const ViewHistory::Place& place) { gone = place; });
    }
    ViewHistory history;
    ViewHistory::Place gone;
};

TEST_F(History, GoesBackAndForwardOverPages)
{
    history.visit(at("live", 1));
    history.visit(at("heatmap", 1));
    history.visit(at("lineage", 1));
    history.goBack();
    EXPECT_EQ(gone.page.toStdString(), "heatmap");
    history.goBack();
    EXPECT_EQ(gone.page.toStdString(), "live");
    EXPECT_FALSE(history.canGoBack());
    history.goForward();
    EXPECT_EQ(gone.page.toStdString(), "heatmap");
}

TEST_F(History, WhatLiesAheadIsForgottenOnANewWay)
{
    history.visit(at("live", 1));
    history.visit(at("heatmap", 1));
    history.goBack();
    history.visit(at("bucket", 1));
    EXPECT_FALSE(history.canGoForward());
    history.goBack();
    EXPECT_EQ(gone.page.toStdString(), "live");
}

TEST_F(History, MovesInQuickSuccessionAreOnePlace)
{
    history.visit(at("live", 1));
    history.visit(at("heatmap", 1));
    for (int step = 2; step < 50; ++step)
        history.visit(at("heatmap", step));
    history.goBack();
    EXPECT_EQ(gone.page.toStdString(), "live");
}

TEST_F(History, StepsThatFollowingBringsAreNoPlaces)
{
    history.visit(at("live", 1, true));
    QTest::qWait(1100);
    history.visit(at("live", 2, true));
    EXPECT_FALSE(history.canGoBack());
}

TEST_F(History, IsBounded)
{
    for (int i = 0; i < 300; ++i)
        history.visit(at(i % 2 == 0 ? "live" : "heatmap", i));
    int back = 0;
    while (history.canGoBack()) {
        history.goBack();
        ++back;
    }
    EXPECT_EQ(back, 99);
}

}
} // namespace deltascope::desktop

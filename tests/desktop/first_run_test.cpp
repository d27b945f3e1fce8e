#include "desktop_fixture.h"

#include "firstrun/coach_mark.h"
#include "firstrun/coach_marks.h"
#include "firstrun/demo_strip.h"
#include "help/help_text.h"
#include "pages/pages.h"

#include <QDir>
#include <QPushButton>
#include <QSettings>

// What who starts the program for the first time sees: the demo and its strip, hints, help.

namespace deltascope::desktop {
namespace {

class FirstRun : public DesktopFixture {
protected:
    FirstRun() { QSettings().remove(QStringLiteral("firstrun/seen")); }
    ~FirstRun() override { QSettings().remove(QStringLiteral("firstrun/seen")); }

    void openDemo()
    {
        window->openDemo(10);
        EXPECT_TRUE(waitFor([this] {
            const RunPointer& run = window->focus().run();
            return run && run->run && run->run->latest.value_or(-1) >= 20;
        }));
    }
    QString folder() const { return session->demo().folder(); }
};

TEST_F(FirstRun, TheStripSaysWhatTheDemoTakesAndOnlyThere)
{
    EXPECT_TRUE(window->demoStrip().isHidden());
    openDemo();
    EXPECT_TRUE(window->demoStrip().isVisible());
    EXPECT_TRUE(waitFor([this] { return window->demoStrip().text().contains(QStringLiteral("MB in cache")); }));
    open("trl-v2-raw");
    EXPECT_TRUE(window->demoStrip().isHidden());
}

TEST_F(FirstRun, RestartBeginsAnewInAnEmptyFolder)
{
    openDemo();
    QFile old(folder() + QStringLiteral("/bucket/left-over"));
    ASSERT_TRUE(old.open(QIODevice::WriteOnly));
    old.close();
    QSignalSpy restarted(&window->demoStrip(), &DemoStrip::restarted);
    window->actions().trigger(QStringLiteral("demo.restart"));
    EXPECT_FALSE(window->actions().isEnabled(QStringLiteral("demo.restart"))) << "while it ends";
    ASSERT_TRUE(waitFor([&] { return !restarted.empty(); }));
    EXPECT_FALSE(old.exists());
    EXPECT_TRUE(waitFor([this] { return window->focus().b() != nullptr; })) << "the new one is shown";
    EXPECT_EQ(session->monitor().runs().size(), 1U);
}

TEST_F(FirstRun, StopAndDeleteLeavesNothing)
{
    openDemo();
    const QString of = folder();
    ASSERT_TRUE(QDir(of).exists());
    window->actions().trigger(QStringLiteral("demo.delete"));
    ASSERT_TRUE(waitFor([this] { return window->currentPage().isEmpty(); })) << "the welcome page";
    EXPECT_FALSE(QDir(of).exists());
    EXPECT_TRUE(session->monitor().runs().empty());
    EXPECT_TRUE(session->monitor().alerts().list({}).alerts.empty());
    openDemo(); // and it starts again
    EXPECT_TRUE(QDir(of).exists());
}

TEST_F(FirstRun, HintsComeOneByOneOnceAndCoverNothing)
{
    openDemo();
    CoachMarks& hints = window->hints();
    for (const char* id : { "pause", "heatmap", "materialize" }) {
        ASSERT_TRUE(waitFor([&] { return hints.shown() == QLatin1String(id); }))
            << id << " " << hints.shown().toStdString();
        const CoachMark& mark = hints.mark();
        EXPECT_TRUE(mark.isVisible());
        EXPECT_FALSE(mark.geometry().intersects(mark.target())) << id;
        EXPECT_TRUE(window->rect().contains(mark.geometry())) << id;
        hints.dismiss();
    }
    EXPECT_TRUE(hints.shown().isEmpty()) << "the fourth one is about another page";
    window->showPage(QStringLiteral("lineage"));
    ASSERT_TRUE(waitFor([&] { return hints.shown() == QLatin1String("anchor"); }));
    hints.dismiss();
    window->showPage(QStringLiteral("live"));
    window->showRun(window->focus().id());
    QTest::qWait(400);
    EXPECT_TRUE(hints.shown().isEmpty());
    window->actions().trigger(QStringLiteral("help.hints"));
    EXPECT_TRUE(waitFor([&] { return hints.shown() == QLatin1String("pause"); }));
}

TEST_F(FirstRun, AHintIsReachedAndDismissedByKeys)
{
    openDemo();
    CoachMarks& hints = window->hints();
    ASSERT_TRUE(waitFor([&] { return hints.shown() == QLatin1String("pause"); }));
    QWidget* before = window->focusWidget();
    window->actions().trigger(QStringLiteral("help.hint"));
    EXPECT_TRUE(hints.mark().isAncestorOf(window->focusWidget()));
    QTest::keyClick(window->focusWidget(), Qt::Key_Escape);
    EXPECT_EQ(window->focusWidget(), before);
    EXPECT_TRUE(waitFor([&] { return hints.shown() == QLatin1String("heatmap"); }));
    hints.dismissAll();
    QTest::qWait(400);
    EXPECT_TRUE(hints.shown().isEmpty());
}

TEST(Hints, StandBesideWhereThereIsRoom)
{
    const QRect room(0, 0, 1000, 600);
    const QSize size(300, 120);
    EXPECT_EQ(besideOf({ 100, 100, 50, 50 }, size, room).topLeft(), QPoint(100, 160));
    EXPECT_EQ(besideOf({ 100, 500, 50, 50 }, size, room).bottomLeft(), QPoint(100, 489));
    EXPECT_EQ(besideOf({ 900, 100, 50, 50 }, size, room).right(), 999) << "within the window";
    EXPECT_EQ(besideOf({ 0, 0, 500, 600 }, size, room).left(), 510);
    EXPECT_TRUE(besideOf(room, size, room).isNull());
}

TEST(Help, IsThereForEveryPage)
{
    const QString welcome = helpText({}).shows;
    EXPECT_FALSE(welcome.isEmpty());
    for (const PageInfo& page : pageInfos()) {
        EXPECT_FALSE(helpText(page.id).shows.isEmpty()) << page.id.toStdString();
        EXPECT_NE(helpText(page.id).shows, welcome) << page.id.toStdString();
    }
}

} // namespace
} // namespace deltascope::desktop

#include "desktop_fixture.h"

#include "acts/destination.h"
#include "pages/live/health_tile.h"
#include "pages/live/live_page.h"

#include <QLabel>
#include <QPushButton>
#include <QStatusBar>

#include <algorithm>

namespace deltascope::desktop {
namespace {

/// The story of the demo, three times as fast: the learning rate drops, a replica stalls, a byte is flipped, the reward
/// collapses.
class DemoScript : public DesktopFixture {
protected:
    std::optional<app::AlertView> alert(const std::string& rule)
    {
        for (const app::AlertView& alert : session->monitor().alerts().list({}).alerts) {
            if (alert.rule == rule)
                return alert;
        }
        return std::nullopt;
    }
    bool noted(const std::string& word) const
    {
        const auto& notes = window->focus().run()->run->notes;
        return std::any_of(notes.begin(), notes.end(),
                           [&](const app::NoteView& note) { return note.text.find(word) != std::string::npos; });
    }
};

TEST_F(DemoScript, EveryActOfItIsSeenAndTheWayOutOfTheDamageWorks)
{
    window->openDemo(3);
    auto* page = show<LivePage>("live");
    ASSERT_TRUE(waitFor([this] { return window->focus().run() && window->focus().run()->run; }));

    ASSERT_TRUE(waitFor([this] { return noted("learning rate"); }));
    EXPECT_TRUE(waitFor([page] {
        const auto& replicas = page->shown()->replicas;
        return std::any_of(replicas.begin(), replicas.end(), [](const app::ReplicaHistoryView& history) {
            return history.replica.behind.value_or(0) >= 3; // where the chart draws its line; the alert waits a minute
        });
    }));
    ASSERT_TRUE(waitFor([this] { return alert("digest-mismatch").has_value(); }));
    EXPECT_EQ(alert("digest-mismatch")->level, app::AlertLevel::Error);
    ASSERT_TRUE(waitFor([page] { return page->health().health().state == "broken"; }));
    EXPECT_TRUE(waitFor([this] {
        const auto told = window->statusBar()->findChildren<QLabel*>();
        return std::any_of(told.begin(), told.end(),
                           [](const QLabel* label) { return label->text().contains(QStringLiteral("1 damaged")); });
    }));
    const std::int64_t sound = page->health().health().restore.value_or(-1);
    ASSERT_GE(sound, 0);

    rememberFolder(window->focus().run()->source, QString::fromStdString(home.path("made")));
    for (QPushButton* button : page->health().findChildren<QPushButton*>()) {
        if (button->text().contains(QStringLiteral("Materialize")))
            button->click();
    }
    ASSERT_TRUE(waitFor([this] {
        const auto tasks = session->monitor().tasks();
        return !tasks.empty() && app::isOver(tasks.front());
    }));
    const app::TaskView task = session->monitor().tasks().front();
    EXPECT_EQ(task.state, "done") << (task.problem ? task.problem->text : "");
    EXPECT_TRUE(QString::fromStdString(task.plan.title).contains(QString::number(sound))) << task.plan.title;

    EXPECT_TRUE(waitFor([this] { return noted("reward"); }));
}

} // namespace
} // namespace deltascope::desktop

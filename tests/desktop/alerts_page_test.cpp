#include "desktop_fixture.h"

#include "look/format.h"
#include "pages/alerts/alert_details.h"
#include "pages/alerts/alert_model.h"
#include "pages/alerts/alerts_page.h"
#include "pages/alerts/channel_dialog.h"
#include "pages/alerts/channels_card.h"
#include "pages/alerts/rule_row.h"
#include "pages/alerts/rules_card.h"
#include "session/alert_channels.h"

#include <QCheckBox>
#include <QDoubleSpinBox>
#include <QLabel>
#include <QLineEdit>
#include <QMenu>
#include <QPushButton>
#include <QTableView>
#include <QUndoStack>

#include <filesystem>
#include <fstream>

namespace deltascope::desktop {
namespace {

class AlertsPageTest : public DesktopFixture {
protected:
    AlertsPage* alerts(const std::string& bucket)
    {
        open(bucket);
        return show<AlertsPage>("alerts");
    }
    app::Alerts& engine() { return session->monitor().alerts(); }
    app::AlertRuleView ruleOf(const std::string& id)
    {
        for (const app::AlertRuleView& rule : engine().list({}).rules) {
            if (rule.id == id)
                return rule;
        }
        return {};
    }
};

TEST_F(AlertsPageTest, EveryRuleHasARow)
{
    AlertsPage* page = alerts("trl-v2-gap");
    const std::vector<app::AlertRuleView> rules = engine().list({}).rules;
    ASSERT_EQ(rules.size(), 16U);
    for (const app::AlertRuleView& rule : rules) {
        const RuleRow* row = page->rules().row(rule.id);
        ASSERT_TRUE(row) << rule.id;
        EXPECT_EQ(row->findChild<QCheckBox*>()->isChecked(), rule.on);
        EXPECT_EQ(row->findChild<QDoubleSpinBox*>()->isHidden(), rule.unit.empty()) << rule.id;
    }
}

TEST_F(AlertsPageTest, SwitchingARuleSwitchesTheEngine)
{
    AlertsPage* page = alerts("trl-v2-gap");
    page->rules().row("pause-long")->findChild<QCheckBox*>()->click();
    EXPECT_TRUE(waitFor([&] { return !ruleOf("pause-long").on; }));
    page->rules().row("pause-long")->findChild<QCheckBox*>()->click();
    EXPECT_TRUE(waitFor([&] { return ruleOf("pause-long").on; }));
}

TEST_F(AlertsPageTest, AThresholdIsTypedAndKept)
{
    AlertsPage* page = alerts("trl-v2-gap");
    auto* box = page->rules().row("replica-lag")->findChild<QDoubleSpinBox*>();
    EXPECT_EQ(box->value(), *ruleOf("replica-lag").threshold);
    box->setValue(7);
    EXPECT_TRUE(waitFor([&] { return ruleOf("replica-lag").threshold == 7; }));
    EXPECT_TRUE(ruleOf("replica-lag").on);
}

TEST_F(AlertsPageTest, ABacktestSaysHowOftenAndWhere)
{
    AlertsPage* page = alerts("trl-v1.0-badhash");
    const Result<app::BacktestView> expected = engine().backtest(*window->focus().run(), "digest-mismatch");
    ASSERT_TRUE(expected);
    ASSERT_FALSE(expected->fired.empty());
    RuleRow* row = page->rules().row("digest-mismatch");
    for (QPushButton* button : row->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Back-test"))
            QTest::mouseClick(button, Qt::LeftButton);
    }
    ASSERT_TRUE(waitFor([&] { return row->resultText().startsWith(QStringLiteral("would")); }));
    EXPECT_EQ(row->resultText(), QStringLiteral("would have fired %1× in this run").arg(expected->fired.size()));
    ASSERT_TRUE(expected->fired[0].step);
    QPushButton* link = nullptr;
    for (QPushButton* button : row->findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("step %1").arg(*expected->fired[0].step))
            link = button;
    }
    ASSERT_TRUE(link);
    QTest::mouseClick(link, Qt::LeftButton);
    EXPECT_EQ(window->cursor().b()->step, *expected->fired[0].step);
}

TEST_F(AlertsPageTest, AllRulesCanBeTestedAtOnce)
{
    AlertsPage* page = alerts("trl-v2-gap");
    page->rules().testAll();
    EXPECT_TRUE(waitFor([&] {
        for (const app::AlertRuleView& rule : engine().list({}).rules) {
            if (rule.on && !page->rules().row(rule.id)->resultText().startsWith(QStringLiteral("would")))
                return false;
        }
        return true;
    }));
}

TEST_F(AlertsPageTest, WhatFiresIsListedAndCanBeAcknowledged)
{
    AlertsPage* page = alerts("trl-v1.0-badhash");
    ASSERT_TRUE(waitFor([&] { return page->model().rowCount() > 0; }));
    const app::AlertListView list = engine().list({});
    ASSERT_EQ(page->model().rowCount(), static_cast<int>(list.alerts.size()));
    for (int row = 0; row < page->model().rowCount(); ++row)
        EXPECT_EQ(page->model().alert(row).id, list.alerts[static_cast<std::size_t>(row)].id);
    ASSERT_TRUE(page->details().alert());
    const std::string id = page->details().alert()->id;
    ASSERT_EQ(page->details().alert()->state, app::AlertState::Firing);
    const QString run = safeName(window->focus().run()->name); // not its id
    EXPECT_EQ(page->model().index(0, AlertModel::Run).data().toString(), run);
    const QList<QLabel*> texts = page->details().findChildren<QLabel*>();
    EXPECT_TRUE(std::any_of(texts.begin(), texts.end(),
                            [&](const QLabel* label) { return label->text().contains(QStringLiteral("run ") + run); }));
    for (QPushButton* button : page->details().findChildren<QPushButton*>()) {
        if (button->text() == QStringLiteral("Acknowledge"))
            QTest::mouseClick(button, Qt::LeftButton);
    }
    EXPECT_TRUE(waitFor([&] {
        return page->model().index(page->model().rowOf(id), AlertModel::State).data().toString()
            == QStringLiteral("acknowledged");
    }));
    for (const app::AlertView& alert : engine().list({}).alerts)
        EXPECT_TRUE(alert.id != id || alert.state == app::AlertState::Acked);
}

TEST_F(AlertsPageTest, DetailsNameTheUnitOfAValue)
{
    AlertDetails details;
    app::AlertView alert;
    alert.value = 7.5;
    alert.threshold = 6;
    const auto says = [&](const char* text) {
        const QList<QLabel*> texts = details.findChildren<QLabel*>();
        return std::any_of(texts.begin(), texts.end(),
                           [&](const QLabel* label) { return label->text().contains(QString::fromUtf8(text)); });
    };
    details.setAlert(alert, QStringLiteral("r"), QStringLiteral("× MAD"), 0);
    EXPECT_TRUE(says("7.5 × MAD, threshold 6 × MAD"));
    alert.threshold.reset();
    details.setAlert(alert, QStringLiteral("r"), {}, 0);
    EXPECT_FALSE(says("threshold"));
}

TEST_F(AlertsPageTest, WhatIsSnoozedSaysSoUntilItSpeaksAgain)
{
    AlertsPage* page = alerts("trl-v1.0-badhash");
    ASSERT_TRUE(waitFor([&] { return page->model().rowCount() > 0; }));
    page->list().setCurrentIndex(page->model().index(0, 0));
    const auto state = [&] { return page->model().index(0, AlertModel::State).data().toString(); };
    ASSERT_EQ(state(), QStringLiteral("firing"));
    const auto choose = [&](int entry) { page->details().findChild<QMenu*>()->actions().at(entry)->trigger(); };
    choose(1); // until it clears
    EXPECT_TRUE(waitFor([&] { return state() == QStringLiteral("snoozed"); }));
    EXPECT_EQ(page->details().alert()->snoozedUntilUs, app::UntilCleared);
    choose(2); // no longer
    EXPECT_TRUE(waitFor([&] { return state() == QStringLiteral("firing"); }));
    choose(0); // for an hour
    EXPECT_TRUE(waitFor([&] { return state() == QStringLiteral("snoozed"); }));
    EXPECT_NEAR(static_cast<double>(*page->details().alert()->snoozedUntilUs - ServiceBridge::nowUs()), 3.6e9, 60e6);
}

TEST_F(AlertsPageTest, AChannelIsAddedTestedKeptAndRemoved)
{
    AlertsPage* page = alerts("trl-v2-gap");
    const std::string program = home.path("page-me");
    std::ofstream(program) << "#!/bin/sh\ncat > \"$0.got\"\n";
    std::filesystem::permissions(program, std::filesystem::perms::owner_all);
    ChannelDialog dialog;
    dialog.setAttribute(Qt::WA_DeleteOnClose, false);
    dialog.setKind(app::ChannelKind::Command);
    QObject::connect(&dialog, &ChannelDialog::chosen, page,
                     [page](const app::AlertChannel& channel) { EXPECT_TRUE(page->channels().add(channel)); });
    dialog.address()->setText(QStringLiteral("page-me"));
    dialog.accept();
    EXPECT_TRUE(session->monitor().sender()->channels().empty()) << "no whole path: the dialog says so and stays";
    dialog.address()->setText(QString::fromStdString(program));
    dialog.accept();
    ASSERT_EQ(session->monitor().sender()->channels().size(), 1U);
    ASSERT_EQ(savedChannels()->size(), 1U) << "for the next start";
    for (QPushButton* button : page->channels().findChildren<QPushButton*>()) {
        if (button->accessibleName().startsWith(QStringLiteral("Send a test")))
            button->click();
    }
    EXPECT_TRUE(waitFor([&] { return page->channels().statusOf(0) == QStringLiteral("1 sent"); }));
    EXPECT_TRUE(std::filesystem::exists(program + ".got"));
    page->channels().remove(0);
    EXPECT_TRUE(session->monitor().sender()->channels().empty());
    EXPECT_TRUE(savedChannels()->empty());
}

TEST_F(AlertsPageTest, AFileOfChannelsThatCannotBeReadIsSaid)
{
    const auto errorOf = [](const ChannelsCard& card) {
        for (const QLabel* label : card.findChildren<QLabel*>()) {
            if (label->text().startsWith(QStringLiteral("✕")))
                return label->text();
        }
        return QString();
    };
    app::AlertSender sender;
    EXPECT_EQ(errorOf(ChannelsCard(&sender)), QString()) << "there is no such file yet";
    std::filesystem::create_directories(channelFile().toStdString());
    EXPECT_EQ(errorOf(ChannelsCard(&sender)), QStringLiteral("✕ the file with the alert channels is no regular file"));
}

TEST_F(AlertsPageTest, ChannelsOfAServerSayWhetherTheLastMessageArrived)
{
    ChannelsCard card(nullptr);
    app::AlertChannelView channel;
    channel.kind = "webhook";
    channel.name = "https://alerts.example.org";
    card.setForeign({ channel });
    EXPECT_EQ(card.statusOf(0), QString());
    channel.sent = 2;
    channel.failed = 1;
    channel.lastArrived = false;
    channel.lastFailedUs = 1'787'314'985'000'000;
    channel.lastFailure = "the server answers with status 404";
    card.setForeign({ channel });
    EXPECT_EQ(card.statusOf(0), QStringLiteral("2 sent, ✕ 1 failed")) << "the same channels, and news of them";
    channel.sent = 3;
    channel.lastArrived = true;
    card.setForeign({ channel, channel });
    EXPECT_EQ(card.statusOf(0), QStringLiteral("3 sent, 1 failed"));
    EXPECT_EQ(card.statusOf(1), QStringLiteral("3 sent, 1 failed"));
}

TEST_F(AlertsPageTest, TheFilterCanBeUndone)
{
    AlertsPage* page = alerts("trl-v1.0-badhash");
    ASSERT_TRUE(waitFor([&] { return page->model().rowCount() > 0; }));
    const int all = page->model().rowCount();
    page->filterField()->setFocus();
    QTest::keyClicks(page->filterField(), QStringLiteral("no such alert"));
    EXPECT_EQ(page->model().rowCount(), 0);
    window->findChild<QUndoStack*>()->undo();
    EXPECT_EQ(page->model().rowCount(), all);
    EXPECT_TRUE(page->filterField()->text().isEmpty());
}

TEST_F(AlertsPageTest, ASoundRunSaysThatNothingHasFired)
{
    AlertsPage* page = alerts("trl-v2-gap");
    QTest::qWait(100);
    for (int row = 0; row < page->model().rowCount(); ++row)
        EXPECT_NE(page->model().alert(row).level, app::AlertLevel::Error) << page->model().alert(row).text;
}

}
} // namespace deltascope::desktop

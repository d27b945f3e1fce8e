// How a sheet waits for a plan, and what it does with one that fails or that nobody wants.

#include "desktop_fixture.h"
#include "page_text.h"

#include "acts/materialize_sheet.h"
#include "acts/plan_sheet.h"
#include "bridge/background.h"
#include "widgets/cards.h"

#include <QCheckBox>
#include <QLineEdit>
#include <QProgressBar>
#include <QPushButton>

#include <mutex>

namespace deltascope::desktop {
namespace {

/// The monitor of the session, except that its plans are what the test says.
class MadePlans final : public app::Monitor {
public:
    explicit MadePlans(app::Monitor& real)
        : m_real(real)
    {
    }

    void say(const app::PlanView& now)
    {
        const std::lock_guard lock(m_mutex);
        m_now = now;
    }
    std::vector<std::string> dropped() const
    {
        const std::lock_guard lock(m_mutex);
        return m_dropped;
    }

    Result<app::PlanView> plan(const std::string&, const app::ActRequest&, const std::string&) override
    {
        return now();
    }
    Result<app::PlanView> planned(const std::string&) override { return now(); }
    void dropPlan(const std::string& plan) override
    {
        const std::lock_guard lock(m_mutex);
        m_dropped.push_back(plan);
    }
    Result<app::TaskView> start(const std::string&, const std::string& hash, const std::string&) override
    {
        app::TaskView task;
        task.plan.hash = hash;
        return task;
    }

    std::string follow(app::SourceRequest request, std::string name, bool demo) override
    {
        return m_real.follow(std::move(request), std::move(name), demo);
    }
    void unfollow(const std::string& id) override { m_real.unfollow(id); }
    std::vector<RunPointer> runs() const override { return m_real.runs(); }
    RunPointer run(const std::string& id) const override { return m_real.run(id); }
    std::optional<app::SourceRequest> sourceOf(const std::string& id) const override { return m_real.sourceOf(id); }
    void ask(const std::function<app::JobId(app::Service&)>& start,
             std::function<void(Result<app::JobResult>)> done) override
    {
        m_real.ask(start, std::move(done));
    }
    std::vector<app::TaskView> tasks() const override { return m_real.tasks(); }
    std::optional<app::TaskView> task(const std::string& id) const override { return m_real.task(id); }
    Result<app::TaskView> pause(const std::string& id) override { return m_real.pause(id); }
    Result<app::TaskView> cancel(const std::string& id) override { return m_real.cancel(id); }
    Result<app::TaskView> resume(const std::string& id) override { return m_real.resume(id); }
    std::optional<app::ActRequest> requestOf(const std::string& task) const override { return m_real.requestOf(task); }
    app::Alerts& alerts() noexcept override { return m_real.alerts(); }
    app::AlertSender* sender() noexcept override { return m_real.sender(); }
    std::shared_ptr<void> listen(std::function<void(const app::MonitorEvent&)> listener) override
    {
        return m_real.listen(std::move(listener));
    }

private:
    app::PlanView now() const
    {
        const std::lock_guard lock(m_mutex);
        return m_now;
    }

    app::Monitor& m_real;
    mutable std::mutex m_mutex;
    app::PlanView m_now;
    std::vector<std::string> m_dropped;
};

class SomeSheet final : public PlanSheet {
public:
    explicit SomeSheet(ServiceBridge& bridge)
        : PlanSheet(bridge, QStringLiteral("run"), QStringLiteral("Some act"), QStringLiteral("Act"), nullptr)
    {
        setAttribute(Qt::WA_DeleteOnClose, false);
    }

protected:
    app::ActRequest request() const override { return { "rollback", {} }; }
};

class PlanSheetTest : public DesktopFixture {
protected:
    PlanSheetTest()
    {
        plan.id = "p1";
        plan.kind = "rollback";
        plan.cli = "deltascope rollback SRC@8";
    }
    ~PlanSheetTest() override
    {
        sheet.reset();
        Background::wait();
    }
    void openSheet()
    {
        plans.say(plan);
        sheet = std::make_unique<SomeSheet>(bridge);
        sheet->open();
    }
    bool says(const char* text) const
    {
        return waitFor([&] { return said(*sheet).contains(QString::fromUtf8(text)); });
    }
    bool mayAct() const { return sheet->findChild<QPushButton*>(QStringLiteral("act"))->isEnabled(); }

    MadePlans plans { session->monitor() };
    ServiceBridge bridge { session->service(), plans };
    app::PlanView plan;
    std::unique_ptr<SomeSheet> sheet;
};

TEST_F(PlanSheetTest, WaitsForAPlanThatIsMadeAndSaysHowFarItIs)
{
    plan.state = "planning";
    plan.phase = "read step 8";
    plan.doneBytes = 25'000'000;
    plan.totalBytes = 100'000'000;
    openSheet();
    ASSERT_TRUE(says("Making the plan: read step 8, 25.0 MB of 100 MB")) << said(*sheet).toStdString();
    EXPECT_EQ(sheet->findChild<QProgressBar*>()->value(), 250);
    EXPECT_FALSE(mayAct());
    plan.state = "ready";
    plan.facts = { { "Restores", "step 8, verified" } };
    plans.say(plan);
    ASSERT_TRUE(says("step 8, verified"));
    EXPECT_FALSE(sheet->findChild<QProgressBar*>()->isVisible());
    EXPECT_TRUE(mayAct()) << "this one asks for no word";
}

TEST_F(PlanSheetTest, ForTrainingReachesThePlanOfAMaterialization)
{
    open("trl-v2-gap");
    MaterializeSheet materialize(session->bridge(), window->focus().run(), { 0, 12 }, nullptr);
    materialize.setAttribute(Qt::WA_DeleteOnClose, false);
    materialize.open();
    const auto command = [&] {
        QString lines;
        for (const CommandLine* line : materialize.findChildren<CommandLine*>())
            lines += line->isVisible() ? line->command() : QString();
        return lines;
    };
    const QString option = QStringLiteral(" --for-training");
    ASSERT_TRUE(waitFor([&] { return command().startsWith(QStringLiteral("deltascope materialize ")); }));
    EXPECT_FALSE(command().contains(option));
    for (QCheckBox* box : materialize.findChildren<QCheckBox*>()) {
        if (box->text().startsWith(QStringLiteral("For training")))
            box->click();
    }
    EXPECT_TRUE(waitFor([&] { return command().contains(option); })) << command().toStdString();
    materialize.reject();
}

TEST_F(PlanSheetTest, APlanThatFailsShowsWhyAndTheLinesToPaste)
{
    plan.state = "planning";
    openSheet();
    ASSERT_TRUE(says("Making the plan"));
    plan.state = "failed";
    plan.problem = app::ProblemView {};
    plan.problem->text = "the engine is configured otherwise";
    plan.problem->remedy = "delta:\n  layout: trl-v2";
    plans.say(plan);
    ASSERT_TRUE(says("the engine is configured otherwise"));
    EXPECT_FALSE(mayAct());
    QString lines;
    for (const CommandLine* line : sheet->findChildren<CommandLine*>()) {
        if (line->isVisible())
            lines += line->command();
    }
    EXPECT_EQ(lines, QStringLiteral("delta:\n  layout: trl-v2"));
}

TEST_F(PlanSheetTest, TheWordIsAskedForAndAnotherOneDoesNotDo)
{
    plan.confirm = "wordle";
    openSheet();
    ASSERT_TRUE(says("Type wordle to confirm"));
    auto* field = sheet->findChild<QLineEdit*>(QStringLiteral("confirm"));
    EXPECT_EQ(sheet->focusWidget(), field) << "it can be typed at once";
    for (const char* wrong : { "", "wordl", "Wordle", "wordle2" }) {
        field->setText(QString::fromLatin1(wrong));
        EXPECT_FALSE(mayAct()) << wrong;
        EXPECT_FALSE(said(*sheet).contains(QStringLiteral("matches"))) << wrong;
    }
    field->setText(QStringLiteral("wordle"));
    EXPECT_TRUE(mayAct());
    EXPECT_TRUE(said(*sheet).contains(QStringLiteral("matches")));
}

TEST_F(PlanSheetTest, AnOverwriteIsNeverCalledNone)
{
    plan.act = app::ActPlanView {};
    plan.act->writes = { { "", "refs/latest.json", 0 } };
    openSheet();
    EXPECT_TRUE(says("Nothing is overwritten or deleted."));
    sheet->reject();
    plan.act->deletes = { { "", "refs/latest.json", 12 } };
    openSheet();
    ASSERT_TRUE(says("1 object is deleted."));
    EXPECT_FALSE(said(*sheet).contains(QStringLiteral("Nothing is overwritten")));
}

TEST_F(PlanSheetTest, ASheetThatIsClosedForgetsItsPlanAndOneThatActedDoesNot)
{
    plan.state = "planning";
    openSheet();
    ASSERT_TRUE(says("Making the plan"));
    sheet->reject();
    EXPECT_TRUE(waitFor([this] { return plans.dropped() == std::vector<std::string> { "p1" }; }));
    plan.state = "ready";
    plan.id = "p2";
    openSheet();
    ASSERT_TRUE(waitFor([this] { return mayAct(); }));
    sheet->findChild<QPushButton*>(QStringLiteral("act"))->click();
    ASSERT_TRUE(waitFor([this] { return !sheet->isVisible(); }));
    Background::wait();
    EXPECT_EQ(plans.dropped().size(), 1U);
}

TEST_F(PlanSheetTest, WhoShowsNoProgressIsAnsweredOnceThePlanIsMade)
{
    QObject asking;
    std::optional<Result<app::PlanView>> answer;
    const auto ask = [&] {
        answer.reset();
        plans.say(plan);
        bridge.planToTheEnd(&asking, QStringLiteral("run"), { "verify", {} },
                            [&answer](const Result<app::PlanView>& made) { answer = made; });
    };
    plan.state = "planning";
    ask();
    Background::wait();
    plan.state = "ready";
    plans.say(plan);
    ASSERT_TRUE(waitFor([&] { return answer.has_value(); }));
    ASSERT_TRUE(*answer);
    EXPECT_EQ((*answer)->state, "ready") << "not while it was being made";
    plan.state = "failed";
    plan.problem = app::ProblemView { "DS-USAGE", {}, "3..1", "no range of steps", "name another one" };
    ask();
    ASSERT_TRUE(waitFor([&] { return answer.has_value(); }));
    ASSERT_FALSE(*answer);
    EXPECT_EQ(answer->error().code, Code::Usage);
    EXPECT_EQ(answer->error().text, "no range of steps");
}

}
} // namespace deltascope::desktop

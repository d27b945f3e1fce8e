#include "monitor/task_journal.h"
#include "monitor/tasks.h"
#include "monitor_fixture.h"
#include "support/eventually.h"
#include "support/times.h"

#include "deltascope/app/view/dashboard_json.h"

#include <future>

// Tasks outlive the program: what a monitor leaves, another one finds.

namespace deltascope::app {
namespace {

class RestartedMonitor : public MonitorFixture {
protected:
    RestartedMonitor()
    {
        options.taskFolder = home.path("state/tasks");
        options.anyFolder = true;
        open(0);
    }
    ~RestartedMonitor() override { close(); }

    /// A task as soon as it is as wanted.
    TaskView taskWhen(const std::string& id, const std::function<bool(const TaskView&)>& wanted)
    {
        std::optional<TaskView> now = monitor->task(id);
        while (!now || !wanted(*now)) {
            if (!happens([&](const MonitorEvent& event) {
                    const auto* moved = std::get_if<TaskMoved>(&event);
                    return moved && moved->task.id == id && wanted(moved->task);
                })) {
                ADD_FAILURE() << id << " is never as wanted";
                return {};
            }
            now = monitor->task(id);
        }
        return *now;
    }
    TaskView restored(const std::string& id)
    {
        return taskWhen(id, [](const TaskView&) { return true; });
    }
    /// A materialization that the program leaves in the middle.
    std::string interruptedTask(const SourceRequest& source, const std::string& step)
    {
        const std::string task = start(followed(source), materialize(step, "there")).id;
        (void)monitor->pause(task);
        restart();
        EXPECT_TRUE(restored(task).interrupted);
        return task;
    }
    std::string digestOf(const std::string& folder)
    {
        VersionRequest written;
        written.source.source = folder;
        return viewOf<DigestView>(service->digest(written, false))->root;
    }
    /// Private folders beside a destination.
    std::vector<std::filesystem::path> leftovers(const std::string& name = "there") const
    {
        std::vector<std::filesystem::path> folders;
        std::error_code none;
        for (const auto& entry : std::filesystem::directory_iterator(home.path("out"), none)) {
            if (entry.path().filename().string().starts_with("." + name + ".ds-"))
                folders.push_back(entry.path());
        }
        return folders;
    }
    /// Materializes the large run: whatever was at work before would have come just as far.
    void workElsewhere()
    {
        const std::string to = "elsewhere" + std::to_string(monitor->tasks().size());
        EXPECT_EQ(endOf(start("large", materialize("1", to)).id).state, "done");
    }
    /// A materialization that is paused after it began to write; and the name of its destination.
    std::pair<std::string, std::string> pausedInTheMiddle()
    {
        const std::string run = followed(largeRun());
        for (int i = 0; i < 50; ++i) { // it may be faster than we are
            const std::string name = "there" + std::to_string(i);
            const std::string task = start(run, materialize("1", name)).id;
            test::eventually([&] { return !leftovers(name).empty() || isOver(*monitor->task(task)); });
            (void)monitor->pause(task);
            workElsewhere(); // what is on its way comes to rest
            if (monitor->task(task)->state == "paused" && leftovers(name).size() == 1)
                return { task, name };
            (void)monitor->resume(task);
            endOf(task);
        }
        ADD_FAILURE() << "never fast enough";
        return {};
    }

    void publishAnew(const std::string& key) const
    {
        std::filesystem::last_write_time(bucket.file(key), std::filesystem::file_time_type::clock::now());
    }

    BucketCopy bucket { "trl-v2-gap" };
};

TEST_F(RestartedMonitor, BeginsNothingThatItCannotKeep)
{
    const std::string run = followed(bucket.source());
    const PlanView plan = planOf(run, materialize("12", "a"));
    std::filesystem::remove_all(home.path("state"));
    home.write("state", "a file");
    const Result<TaskView> refused = monitor->start(plan.id, plan.hash, "x");
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().text.find("the task is not begun"), std::string::npos) << refused.error().text;
    EXPECT_TRUE(monitor->tasks().empty());
    EXPECT_FALSE(std::filesystem::exists(home.path("out/a")));
    std::filesystem::remove(home.path("state"));
}

TEST_F(RestartedMonitor, ShowsWhatWasDoneAsItWas)
{
    const std::string run = followed(bucket.source());
    std::vector<TaskView> before { endOf(start(run, materialize("12", "a")).id),
                                   endOf(start(run, DiffArgs { "11", "12" }).id),
                                   endOf(start(run, VerifyArgs { "", 4 }).id),
                                   endOf(start(run, materialize("12", "a")).id) }; // which is there
    restart();
    followed(bucket.source());
    for (const TaskView& task : before) {
        const TaskView after = taskWhen(task.id, [&](const TaskView& now) { return now.plan.run == run; });
        EXPECT_EQ(toJson(after), toJson(task));
        EXPECT_EQ(after.plan.destination, task.plan.destination);
    }
    EXPECT_EQ(before[0].state, "done");
    EXPECT_EQ(before[3].state, "failed");
    EXPECT_EQ(monitor->tasks().front().id, before.back().id);
    EXPECT_EQ(start(run, DiffArgs { "11", "12" }).id, "t5");
}

TEST_F(RestartedMonitor, GoesOnWithWhatWasInterrupted)
{
    const std::string task = interruptedTask(largeRun(), "1");
    EXPECT_EQ(restored(task).state, "paused");
    EXPECT_TRUE(monitor->runs().empty());
    EXPECT_EQ(monitor->resume(task)->state, "queued");
    EXPECT_EQ(monitor->runs().size(), 1U);
    const TaskView done = endOf(task);
    EXPECT_EQ(done.state, "done") << toJson(done);
    EXPECT_FALSE(done.interrupted);
    EXPECT_EQ(done.plan.run, "large");
    MaterializeRequest straight;
    straight.version = { largeRun(), "1" };
    straight.destination = home.path("straight");
    EXPECT_EQ(digestOf(home.path("out/there")), viewOf<MaterializeView>(service->materialize(straight))->root);
    EXPECT_TRUE(leftovers().empty());
}

TEST_F(RestartedMonitor, KnowsASourceUnderAnySpelling)
{
    const std::filesystem::path folder = std::filesystem::canonical(bucket.source().source.text());
    std::filesystem::create_directory_symlink(folder, home.path("link"));
    const std::filesystem::path above = folder.parent_path();
    for (const std::string& spelling :
         { folder.string(), folder.string() + "/", folder.string() + "//.", "file://" + folder.string(),
           "file://localhost" + folder.string() + "/", (above / "." / folder.filename()).string(),
           (folder / ".." / folder.filename()).string(), home.path("link"), home.path("link") + "/",
           std::filesystem::relative(folder).string(), "./" + std::filesystem::relative(folder).string() }) {
        SCOPED_TRACE(spelling);
        SourceRequest given = bucket.source();
        given.source = spelling;
        Tasks tasks("", false);
        TaskRecord left;
        left.view.id = "t1";
        left.view.state = "running";
        left.source = bucket.source();
        tasks.restore({ left });
        EXPECT_TRUE(tasks.all().empty());
        tasks.runFollowed("gap", given);
        ASSERT_EQ(tasks.all().size(), 1U);
        EXPECT_EQ(tasks.all().front().plan.run, "gap");
        Tasks later("", false); // the other way round: followed first
        later.runFollowed("gap", given);
        later.restore({ left });
        EXPECT_EQ(later.all().size(), 1U);
    }
    Tasks tasks("", false);
    TaskRecord left;
    left.view.id = "t1";
    left.source = bucket.source();
    tasks.restore({ left });
    SourceRequest other = bucket.source();
    other.source = above.string();
    tasks.runFollowed("above", other);
    other = bucket.source();
    other.base = folder.string();
    tasks.runFollowed("based", other);
    other = bucket.source();
    other.searchDepth = DefaultSearchDepth + 1;
    tasks.runFollowed("deeper", other);
    EXPECT_TRUE(tasks.all().empty());
}

TEST_F(RestartedMonitor, GoesOnUnderAnotherSpelling)
{
    std::filesystem::create_directory_symlink(bucket.source().source.text(), home.path("link"));
    SourceRequest link = bucket.source();
    link.source = home.path("link") + "/";
    const std::string task = interruptedTask(link, "12");
    SourceRequest uri = bucket.source();
    uri.source = "file://" + uri.source.text();
    const std::string run = followed(uri);
    ASSERT_TRUE(monitor->resume(task));
    const TaskView done = endOf(task);
    EXPECT_EQ(done.state, "done") << toJson(done);
    EXPECT_EQ(done.plan.run, run);
    EXPECT_EQ(monitor->runs().size(), 1U);
}

TEST_F(RestartedMonitor, GoesOnWithTheDepthThatItHad)
{
    SourceRequest deep = bucket.source();
    deep.searchDepth = DefaultSearchDepth + 1;
    const std::string task = interruptedTask(deep, "12");
    const std::string run = followed(deep);
    ASSERT_TRUE(monitor->resume(task));
    EXPECT_EQ(endOf(task).plan.run, run) << "a task of another depth is of another run";
}

TEST_F(RestartedMonitor, TellsTheRunWhatAResumedVerificationFound)
{
    const std::string task = start(followed(bucket.source()), VerifyArgs { "", 4 }).id;
    (void)monitor->pause(task);
    restart();
    EXPECT_TRUE(restored(task).interrupted);
    const std::string run = followed(bucket.source());
    ASSERT_TRUE(monitor->resume(task));
    EXPECT_EQ(endOf(task).state, "done");
    runWhen(run, [](const RunSnapshot& now) {
        const auto found = now.verified.find({ 0, 12 });
        return found != now.verified.end() && found->second.level == 4;
    });
}

TEST_F(RestartedMonitor, BeginsNothingWhoseRunIsNotFollowed)
{
    TaskRecord left;
    left.view.id = "t1";
    left.view.state = "running";
    left.source = bucket.source();
    Tasks tasks("", true);
    tasks.restore({ left });
    ASSERT_TRUE(tasks.resume(*service, "t1"));
    EXPECT_TRUE(tasks.waiting().empty());
    EXPECT_TRUE(tasks.waitingFor("t1"));
    tasks.runFollowed("gap", bucket.source());
    ASSERT_EQ(tasks.waiting().size(), 1U);
    EXPECT_EQ(tasks.waiting().front().run, "gap");
    tasks.runForgotten("gap");
    EXPECT_TRUE(tasks.waiting().empty());
    EXPECT_EQ(tasks.find("t1")->state, "paused");
    EXPECT_TRUE(tasks.find("t1")->interrupted);
}

TEST_F(RestartedMonitor, RefusesAPlanOfWhatTheRunWasBefore)
{
    const std::string task = interruptedTask(bucket.source(), "12");
    publishAnew("deltas/step_000011.safetensors");
    ASSERT_TRUE(monitor->resume(task));
    const TaskView refused = endOf(task);
    EXPECT_EQ(refused.state, "failed");
    ASSERT_TRUE(refused.problem);
    EXPECT_EQ(refused.problem->code, "DS-EXISTS");
    EXPECT_FALSE(refused.resumable);
    EXPECT_FALSE(std::filesystem::exists(home.path("out/there")));
    const auto request = monitor->requestOf(task);
    ASSERT_TRUE(request);
    EXPECT_EQ(std::get<std::string>(request->args.at("step")), "12");
    EXPECT_EQ(std::get<std::string>(request->args.at("to")), "there");
}

TEST_F(RestartedMonitor, RefusesAPlanThatDoesNotFitWhereTheRunIsOpen)
{
    const std::string task = interruptedTask(bucket.source(), "12");
    publishAnew("deltas/step_000011.safetensors");
    followed(bucket.source());
    ASSERT_TRUE(monitor->resume(task));
    const TaskView refused = endOf(task);
    EXPECT_EQ(refused.state, "failed");
    ASSERT_TRUE(refused.problem);
    EXPECT_EQ(refused.problem->code, "DS-EXISTS");
}

TEST_F(RestartedMonitor, VerifiesWhatWasPlannedAlthoughTheRunHasGrown)
{
    const std::string late = bucket.file("deltas/step_000015.safetensors");
    std::filesystem::rename(late, home.path("late"));
    const std::string run = followed(bucket.source());
    const TaskView planned = start(run, VerifyArgs { "", 3 });
    ASSERT_EQ(endOf(planned.id).state, "done");
    close();
    const std::string record = "state/tasks/" + planned.id + "/task.json";
    auto interrupted = nlohmann::json::parse(home.read(record));
    EXPECT_EQ(interrupted["settled"]["until"], "0:14");
    interrupted["state"] = "running";
    interrupted["result"] = nullptr;
    home.write(record, interrupted.dump());
    std::filesystem::rename(home.path("late"), late);
    restart();
    EXPECT_EQ(restored(planned.id).state, "paused");
    ASSERT_TRUE(monitor->resume(planned.id));
    const TaskView end = endOf(planned.id);
    ASSERT_EQ(end.state, "done") << (end.problem ? end.problem->text : "");
    EXPECT_EQ(std::get<std::shared_ptr<const VerifyView>>(*end.result)->steps.back().step, 14);
    EXPECT_EQ(std::get<std::string>(monitor->requestOf(planned.id)->args.at("until")), "") << "as it was asked for";
}

TEST_F(RestartedMonitor, SaysWhyASourceCannotBeOpenedAndLetsTryAgain)
{
    const std::string task = interruptedTask(largeRun(), "1");
    std::filesystem::rename(home.path("large"), home.path("elsewhere"));
    (void)monitor->resume(task);
    const TaskView failed = endOf(task);
    EXPECT_EQ(failed.state, "failed");
    ASSERT_TRUE(failed.problem);
    EXPECT_EQ(failed.problem->code, "DS-NOT-FOUND");
    EXPECT_TRUE(failed.resumable);
}

TEST_F(RestartedMonitor, PassesOverWhatItCannotReadAndSaysSo)
{
    const TaskView good = endOf(start(followed(bucket.source()), DiffArgs { "11", "12" }).id);
    for (const char* broken : { "", "{", "[]", "{\"version\":1}", "\xff\xfe" })
        home.write("state/tasks/t" + std::to_string(10 + std::string(broken).size()) + "/task.json", broken);
    home.write("state/tasks/nothing/of/ours", "x");
    std::filesystem::create_directories(home.path("state/tasks/t30")); // killed before it was begun
    restart();
    EXPECT_EQ(restored(good.id).state, "done");
    const TaskView broken = restored("t11");
    EXPECT_EQ(broken.state, "failed");
    ASSERT_TRUE(broken.problem);
    EXPECT_EQ(broken.problem->code, "DS-HOSTILE");
    EXPECT_EQ(broken.problem->where, home.path("state/tasks/t11"));
    EXPECT_FALSE(monitor->requestOf("t11"));
    EXPECT_FALSE(monitor->task("t30"));
    EXPECT_FALSE(std::filesystem::exists(home.path("state/tasks/t30")));
    EXPECT_EQ(monitor->tasks().size(), 5U);
}

TEST_F(RestartedMonitor, LeavesToAnotherProcessWhatThatWorksOn)
{
    const std::string task = start(followed(largeRun()), materialize("1", "there")).id;
    (void)monitor->pause(task);
    const std::unique_ptr<Monitor> other = Monitor::create(*service, options); // locks know no processes
    std::promise<void> answered; // tasks are brought back before anything is answered
    other->ask([&](Service& jobs) { return jobs.listObjects(bucket.source()); },
               [&](const Result<JobResult>&) { answered.set_value(); });
    answered.get_future().wait();
    EXPECT_TRUE(other->tasks().empty());
    EXPECT_EQ(other->resume(task).error().code, Code::NotFound);
}

TEST_F(RestartedMonitor, DoesNotResumeWhatAnotherProcessResumed)
{
    const std::string task = interruptedTask(largeRun(), "1");
    const std::unique_ptr<Monitor> other = Monitor::create(*service, options);
    ASSERT_TRUE(test::eventually([&] { return other->task(task).has_value(); }));
    ASSERT_TRUE(monitor->resume(task));
    const auto second = other->resume(task);
    ASSERT_FALSE(second) << toJson(*second);
    EXPECT_EQ(second.error().code, Code::Exists);
    const TaskView done = endOf(task);
    EXPECT_EQ(done.state, "done") << toJson(done);
    EXPECT_TRUE(test::eventually([&] { // once it is kept
        const Result<TaskView> third = other->resume(task);
        return third && third->state == "done";
    }));
}

TEST_F(RestartedMonitor, ShowsOthersOnlyTheTasksOfTheirRuns)
{
    const std::string task = interruptedTask(largeRun(), "1");
    options.anyFolder = false;
    open(0);
    const std::string id = followed(bucket.source());
    endOf(start(id, VerifyArgs { "", 0 }).id);
    EXPECT_EQ(monitor->task(task), std::nullopt);
    EXPECT_EQ(monitor->tasks().size(), 1U);
    followed(largeRun());
    EXPECT_EQ(taskWhen(task, [](const TaskView& now) { return now.plan.run == "large"; }).state, "paused");
}

TEST_F(RestartedMonitor, CancelsWhatWasInterrupted)
{
    const std::string task = interruptedTask(largeRun(), "1");
    EXPECT_EQ(monitor->cancel(task)->state, "canceled");
    EXPECT_TRUE(monitor->task(task)->resumable);
    restart();
    EXPECT_EQ(restored(task).state, "canceled");
}

TEST_F(RestartedMonitor, RemovesWhatACanceledTaskLeft)
{
    const auto [task, name] = pausedInTheMiddle();
    const std::string foreign[] = { home.path("out/." + name + ".ds-mine"),
                                    home.path("out/.other.ds-0123456789abcdef-1-01234567") };
    for (const std::string& folder : foreign)
        std::filesystem::create_directories(folder);
    const ActRequest discard { "discard", { { "folder", home.path("out") }, { "name", name } } };
    const PlanView early = planOf("large", discard);
    ASSERT_TRUE(early.act);
    EXPECT_TRUE(early.act->deletes.empty()) << "it is at work";
    ASSERT_EQ(early.warnings.size(), 2U) << "what stays, and that nothing goes";
    EXPECT_NE(early.warnings[0].find(name + ".ds-"), std::string::npos) << early.warnings[0];
    (void)monitor->cancel(task);
    ASSERT_EQ(endOf(task).state, "canceled");
    EXPECT_EQ(leftovers(name).size(), 2U);
    EXPECT_EQ(endOf(start("large", discard).id).state, "done");
    EXPECT_EQ(monitor->task(task)->state, "canceled");
    EXPECT_FALSE(monitor->task(task)->resumable) << "nothing is left to go on from";
    EXPECT_EQ(leftovers(name).size(), 1U);
    for (const std::string& folder : foreign)
        EXPECT_TRUE(std::filesystem::exists(folder)) << folder;
}

TEST_F(RestartedMonitor, WritesNoFurtherByteWhileItIsPaused)
{
    const auto paused = pausedInTheMiddle();
    const std::string& task = paused.first;
    const auto written = [&] {
        std::string text;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(leftovers(paused.second).at(0)))
            text += entry.path().string()
                + std::to_string(entry.is_regular_file() ? entry.last_write_time().time_since_epoch().count() : 0);
        return text;
    };
    const std::string then = written();
    workElsewhere();
    EXPECT_EQ(written(), then);
    EXPECT_EQ(monitor->task(task)->state, "paused");
    (void)monitor->cancel(task);
    EXPECT_EQ(endOf(task).state, "canceled");
}

// --- what cannot be kept ---------------------------------------------------------------------------------------------

TEST_F(RestartedMonitor, ATaskSaysThatItIsNotKeptUntilItIs)
{
    const std::string run = followed(bucket.source());
    const std::string id = start(run, materialize("12", "there")).id;
    (void)monitor->pause(id);
    const auto isKept = [&](const std::string& task) { return !monitor->task(task)->notKept.has_value(); };
    EXPECT_TRUE(isKept(id));
    const std::string folder = home.path("state/tasks/" + id);
    std::filesystem::rename(folder, home.path("away"));
    home.write("state/tasks/" + id, "a file");
    const std::string other = start(run, DiffArgs { "11", "12" }).id;
    (void)monitor->cancel(id);
    EXPECT_EQ(endOf(id).state, "canceled");
    EXPECT_TRUE(test::eventually([&] { return !isKept(id); }));
    endOf(other);
    EXPECT_TRUE(isKept(other));
    std::filesystem::remove(folder);
    std::filesystem::rename(home.path("away"), folder);
    EXPECT_TRUE(test::eventually([&] { return isKept(id); }));
}

// --- the journal alone -----------------------------------------------------------------------------------------------

TaskRecord doneAt(TaskJournal& journal, std::int64_t startedUs)
{
    TaskRecord record;
    record.view.state = "done";
    record.view.startedUs = startedUs;
    record.view.plan.kind = "verify";
    record.request = VerifyArgs();
    EXPECT_TRUE(journal.accept(record));
    journal.release(record.view.id);
    return record;
}

TEST(TheTaskJournal, KeepsTheNewest)
{
    const test::TempDir home;
    TaskJournal journal(home.path("tasks"));
    for (int i = 0; i < 210; ++i)
        doneAt(journal, test::Begin);
    const std::vector<TaskRecord> kept = TaskJournal(home.path("tasks")).readAll(test::Begin);
    ASSERT_EQ(kept.size(), 200U);
    EXPECT_EQ(kept.front().view.id, "t11");
    EXPECT_EQ(kept.back().view.id, "t210");
    EXPECT_FALSE(std::filesystem::exists(home.path("tasks/t10")));
}

TEST(TheTaskJournal, ForgetsWhatIsOlderThanThreeMonths)
{
    const test::TempDir home;
    TaskJournal journal(home.path("tasks"));
    constexpr std::int64_t Day = 24 * test::Hour;
    doneAt(journal, test::Begin - 91 * Day);
    doneAt(journal, test::Begin - 89 * Day);
    const std::vector<TaskRecord> kept = journal.readAll(test::Begin);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept.front().view.id, "t2");
}

TEST(TheTaskJournal, AcceptsNothingWhereNothingCanBeWritten)
{
    const test::TempDir home;
    home.write("taken", "a file");
    TaskJournal journal(home.path("taken/tasks"));
    TaskRecord record;
    const Result<void> accepted = journal.accept(record);
    ASSERT_FALSE(accepted);
    EXPECT_NE(accepted.error().text.find("the task is not begun"), std::string::npos) << accepted.error().text;
    EXPECT_NE(accepted.error().action.find(home.path("taken/tasks")), std::string::npos) << accepted.error().action;
    EXPECT_TRUE(journal.readAll(test::Begin).empty());
}

TEST(TheTaskJournal, HasOnDiskWhatItAccepted)
{
    const test::TempDir home;
    TaskJournal journal(home.path("tasks"));
    TaskRecord record;
    record.view.state = "queued";
    record.view.plan.kind = "verify";
    record.request = VerifyArgs();
    ASSERT_TRUE(journal.accept(record));
    EXPECT_EQ(journal.read("t1")->view.state, "queued");
    journal.release("t1"); // as the kernel does when the process dies
    const std::vector<TaskRecord> left = TaskJournal(home.path("tasks")).readAll(test::Begin);
    ASSERT_EQ(left.size(), 1U);
    EXPECT_EQ(left.front().view.id, "t1");
}

TEST(TheTaskJournal, NeedsNoFolderToGiveIds)
{
    TaskJournal journal("");
    TaskRecord first;
    TaskRecord second;
    EXPECT_TRUE(journal.accept(first));
    EXPECT_TRUE(journal.accept(second));
    EXPECT_EQ(first.view.id, "t1");
    EXPECT_EQ(second.view.id, "t2");
}

TEST(TheTaskJournal, ReplacesARecordAsAWhole)
{
    const test::TempDir home;
    TaskJournal journal(home.path("tasks"));
    TaskRecord record = doneAt(journal, test::Begin);
    home.write("tasks/t1/task.json.new", "torn by a kill");
    record.view.by = "somebody else";
    EXPECT_TRUE(journal.write(record));
    EXPECT_EQ(journal.read("t1")->view.by, "somebody else");
    EXPECT_FALSE(std::filesystem::exists(home.path("tasks/t1/task.json.new")));
}

TEST(TheTaskJournal, SaysWhatItCannotWrite)
{
    const test::TempDir home;
    TaskJournal journal(home.path("tasks"));
    const TaskRecord record = doneAt(journal, test::Begin);
    std::filesystem::remove_all(home.path("tasks/t1"));
    const Result<void> written = journal.write(record);
    ASSERT_FALSE(written);
    EXPECT_NE(written.error().text.find("is not kept on disk"), std::string::npos) << written.error().text;
    EXPECT_NE(written.error().action.find(home.path("tasks")), std::string::npos) << written.error().action;
    std::filesystem::create_directory(home.path("tasks/t1"));
    EXPECT_TRUE(journal.write(record));
    EXPECT_EQ(journal.read("t1")->view.state, "done");
}

} // namespace
} // namespace deltascope::app

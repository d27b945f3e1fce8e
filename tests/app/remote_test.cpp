#include "remote_fixture.h"

#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"
#include "deltascope/app/view/touched_view.h"

// Runs of a daemon as those who connect to it see them: the same as there.

namespace deltascope::app {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> goldenBuckets()
{
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator(DELTASCOPE_GOLDEN_DIR)) {
        if (fs::is_directory(entry.path() / "bucket"))
            names.push_back(entry.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
}

bool sameColumn(const HeatColumnView& a, const HeatColumnView& b)
{
    const bool sameCodes = a.codes && b.codes ? *a.codes == *b.codes : a.codes == b.codes;
    return sameCodes && a.epoch == b.epoch && a.step == b.step && a.name == b.name && a.chainKey == b.chainKey
        && a.kind == b.kind && a.state == b.state && a.damaged == b.damaged;
}

void expectSame(const HeatView& here, const HeatView& copy)
{
    EXPECT_EQ(here.revision, copy.revision);
    EXPECT_EQ(tensorsToJson(here, 0), tensorsToJson(copy, 0));
    ASSERT_EQ(here.columns.size(), copy.columns.size());
    for (std::size_t i = 0; i < here.columns.size(); ++i)
        EXPECT_TRUE(sameColumn(here.columns[i], copy.columns[i])) << i;
    ASSERT_EQ(here.rows.size(), copy.rows.size());
    for (std::size_t i = 0; i < here.rows.size(); ++i)
        EXPECT_EQ(here.rows[i].bytes, copy.rows[i].bytes);
}

void expectSame(const RunSnapshot& here, const RunSnapshot& copy)
{
    EXPECT_EQ(here.name, copy.name);
    EXPECT_EQ(here.source, copy.source);
    EXPECT_EQ(here.base, copy.base);
    EXPECT_EQ(here.state, copy.state);
    EXPECT_EQ(here.contactUs, copy.contactUs);
    EXPECT_EQ(here.demo, copy.demo);
    EXPECT_EQ(here.alertsFiring, copy.alertsFiring);
    EXPECT_EQ(here.worstAlert, copy.worstAlert);
    EXPECT_EQ(here.error, copy.error);
    EXPECT_EQ(here.verified, copy.verified);
    ASSERT_EQ(here.run != nullptr, copy.run != nullptr);
    ASSERT_EQ(here.heat != nullptr, copy.heat != nullptr);
    if (here.run) {
        EXPECT_EQ(toJson(*here.run), toJson(*copy.run));
        EXPECT_EQ(here.run->settled, copy.run->settled);
        EXPECT_EQ(here.run->spans, copy.run->spans);
        ASSERT_EQ(here.run->epochs.size(), copy.run->epochs.size());
        for (std::size_t i = 0; i < here.run->epochs.size(); ++i)
            EXPECT_EQ(here.run->epochs[i].steps, copy.run->epochs[i].steps);
    }
    if (here.heat)
        expectSame(*here.heat, *copy.heat);
}

class Remote : public RemoteFixture {
protected:
    /// A run that moves no more: replayed, verified, and its alerts told.
    std::string follow(const SourceRequest& source)
    {
        const std::string id = monitor->follow(source, "", false);
        runWhen(id, [](const RunSnapshot& run) { return run.run && run.run->settled; });
        return id;
    }
    std::string followVerified(const SourceRequest& source)
    {
        const std::string id = follow(source);
        runWhen(id, [](const RunSnapshot& run) {
            std::size_t steps = 0;
            for (const StepView& step : run.run->epochs.back().steps)
                steps += step.state != "gap" && step.state != "publishing";
            return run.run->settled && run.verified.size() >= steps;
        });
        return id;
    }
};

// --- copies ----------------------------------------------------------------------------------------------------------

TEST_F(Remote, EveryGoldenBucketIsTheSameOverTheWire)
{
    open(0); // nothing moves once all of them are replayed
    std::vector<std::unique_ptr<BucketCopy>> copies;
    std::vector<std::string> ids;
    for (const std::string& name : goldenBuckets()) {
        copies.push_back(std::make_unique<BucketCopy>(name));
        ids.push_back(monitor->follow(copies.back()->source(), name, false));
    }
    for (const std::string& id : ids) {
        const auto isThere = [](const RunSnapshot& run) {
            return run.state == "error" || (run.run && (run.run->settled || run.run->epochs.empty()));
        };
        eventually([&] { return isThere(*monitor->run(id)); });
    }
    startServer();
    connect();
    ASSERT_GT(ids.size(), 30U);
    for (const std::string& id : ids) {
        SCOPED_TRACE(id + " " + monitor->run(id)->name);
        Snapshot here;
        Snapshot copy;
        eventually([&] { // a source that cannot be opened is tried again and again
            here = monitor->run(id);
            copy = remote->monitor().run(id);
            return copy && copy->revision == here->revision;
        });
        expectSame(*here, *copy);
    }
}

TEST_F(Remote, WhatIsPublishedLaterArrivesByItself)
{
    const BucketCopy bucket("trl-v2-gap",
                            [](const std::string& key) { return key.find("000015") == std::string::npos; });
    const std::string id = followVerified(bucket.source());
    startServer();
    connect();
    const Snapshot before = copyOf(id);
    std::atomic<int> moved = 0;
    const auto listening = remote->monitor().listen([&](const MonitorEvent& event) {
        const auto* run = std::get_if<RunMoved>(&event);
        moved += run && run->before && run->now->revision > run->before->revision;
    });
    for (const char* key : { "deltas/step_000015.safetensors" })
        bucket.publish(key);
    const Snapshot copy = copyWhen(id, [](const RunSnapshot& run) {
        return run.run->latest == 15 && run.run->settled && run.verified.contains({ 0, 15 });
    });
    EXPECT_GT(copy->revision, before->revision);
    EXPECT_GT(moved, 0);
    eventually([&] { return remote->monitor().run(id)->revision == monitor->run(id)->revision; });
    expectSame(*monitor->run(id), *remote->monitor().run(id));
    // What did not change is shared with the copy before.
    ASSERT_TRUE(before->heat && copy->heat);
    EXPECT_EQ(before->heat->columns[0].codes, copy->heat->columns[0].codes);
}

TEST_F(Remote, ChangesOfALongRunAreSmall)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    const auto ask = [&](const std::string& since) {
        std::promise<server::HttpResponse> promise;
        api->handle({ "GET", "/api/v1/runs/" + id + "/snapshot", { { "since", since } }, {}, {} },
                    [&](server::HttpResponse answer) { promise.set_value(std::move(answer)); });
        return promise.get_future().get().body;
    };
    const nlohmann::json whole = nlohmann::json::parse(ask(""));
    EXPECT_EQ(whole["whole"], true);
    EXPECT_EQ(whole["run"]["steps"].size(), 15U);
    const nlohmann::json nothing = nlohmann::json::parse(ask(whole["cursor"]));
    EXPECT_EQ(nothing["whole"], false);
    EXPECT_TRUE(nothing["run"]["steps"].empty());
    EXPECT_TRUE(nothing["run"]["spans"]["add"].empty());
    EXPECT_TRUE(nothing["heat"]["columns"].empty());
    EXPECT_TRUE(nothing["heat"]["tensors"].is_null());
    EXPECT_TRUE(nothing["verified"].empty());
    EXPECT_EQ(nlohmann::json::parse(ask("another-daemon-7"))["whole"], true);
}

// --- jobs ------------------------------------------------------------------------------------------------------------

TEST_F(Remote, JobsEndAsTheyDoThere)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    connect();
    const Snapshot copy = copyOf(id);
    const SourceRequest source = remote->monitor().sourceOf(id).value();
    const std::string tensor = copy->heat->rows.at(3).name;
    const TensorRequest at { { source, "0:12" }, "0:9", tensor };
    const TensorRequest atHere { { bucket.source(), "0:12" }, "0:9", tensor };

    EXPECT_EQ(remoteView<RunView>([&](Service& s) { return s.openRun(source, Depth::Headers); }), copy->run);
    const auto step = remoteView<StepDetailView>([&](Service& s) {
        return s.showStep({ source, "0:12" }, Depth::Headers);
    });
    EXPECT_EQ(toJson(*step),
              toJson(*viewOf<StepDetailView>(service->showStep({ bucket.source(), "0:12" }, Depth::Headers))));
    const auto listing = remoteView<ListingView>([&](Service& s) { return s.listObjects(source); });
    EXPECT_EQ(toJson(*listing), toJson(*viewOf<ListingView>(service->listObjects(bucket.source()))));
    const std::string key = listing->objects.front().object.key;
    EXPECT_EQ(toJson(*remoteView<HeaderView>([&](Service& s) { return s.readHeader(source, key); })),
              toJson(*viewOf<HeaderView>(service->readHeader(bucket.source(), key))));
    const auto blocks = remoteView<BlocksView>([&](Service& s) { return s.blocks(at, 16); });
    const auto blocksHere = viewOf<BlocksView>(service->blocks(atHere, 16));
    EXPECT_EQ(blocksToJson(*blocks), blocksToJson(*blocksHere));
    EXPECT_EQ(blocks->blocks, blocksHere->blocks);
    EXPECT_EQ(blocks->rowCounts, blocksHere->rowCounts);
    EXPECT_EQ(blocks->colCounts, blocksHere->colCounts);
    EXPECT_EQ(toJson(*remoteView<ElementsView>([&](Service& s) { return s.elements(at, 0, 1, 4, 5); })),
              toJson(*viewOf<ElementsView>(service->elements(atHere, 0, 1, 4, 5))));
    auto statistics = *remoteView<StatisticsView>([&](Service& s) { return s.statistics(at); });
    auto statisticsHere = *viewOf<StatisticsView>(service->statistics(atHere));
    statistics.seconds = statisticsHere.seconds = 0;
    EXPECT_EQ(toJson(statistics), toJson(statisticsHere));
    const auto touched =
        makeTouchedView(remote->service(), *copy, *newestSteps(*copy->run).front(), *newestSteps(*copy->run)[5]);
    const auto touchedHere =
        makeTouchedView(*service, *monitor->run(id), *newestSteps(*copy->run).front(), *newestSteps(*copy->run)[5]);
    ASSERT_EQ(touched.has_value(), touchedHere.has_value());
    EXPECT_EQ(touched ? touched->elementsAtMost : 0, touchedHere ? touchedHere->elementsAtMost : 0);
    EXPECT_EQ(*remote->service().backend(), *service->backend());
}

TEST_F(Remote, CountsAreExact)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    connect();
    const Snapshot copy = copyOf(id);
    const HeatView& heat = *monitor->run(id)->heat;
    std::size_t known = 0;
    for (std::size_t column = 0; column < heat.columns.size(); ++column) {
        auto here = service->countsOf(heat, column);
        auto there = remote->service().countsOf(*copy->heat, column);
        ASSERT_EQ(here.has_value(), there.has_value()) << column;
        if (!here)
            continue;
        ++known;
        std::sort(here->begin(), here->end());
        std::sort(there->begin(), there->end());
        EXPECT_EQ(*here, *there) << column;
    }
    EXPECT_GT(known, 5U);
}

TEST_F(Remote, WhatAServerDoesNotOfferSaysSo)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    connect();
    copyOf(id);
    const SourceRequest source = remote->monitor().sourceOf(id).value();
    const auto codeOf = [&](const std::function<JobId(Service&)>& start) { return remoteResult(start).error().code; };
    EXPECT_EQ(codeOf([&](Service& s) { return s.digest({ source, "3" }, false); }), Code::Unsupported);
    EXPECT_EQ(codeOf([&](Service& s) { return s.cost({}); }), Code::Unsupported);
    EXPECT_EQ(codeOf([&](Service& s) { return s.publish({}); }), Code::Unsupported);
    SourceRequest other;
    other.source = "/somewhere/else";
    const auto unknown = remoteResult([&](Service& s) { return s.listObjects(other); });
    ASSERT_FALSE(unknown);
    EXPECT_EQ(unknown.error().code, Code::Unsupported);
    EXPECT_EQ(unknown.error().where, "/somewhere/else");
}

// --- acts ------------------------------------------------------------------------------------------------------------

TEST_F(Remote, ActsHappenThere)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    connect();
    copyOf(id);
    auto plan = remote->monitor().plan(id, DiffArgs { "11", "12" }, "somebody");
    ASSERT_TRUE(plan) << plan.error().text;
    EXPECT_EQ(plan->kind, "diff");
    eventually([&] {
        plan = remote->monitor().planned(plan->id);
        return !plan || plan->state != "planning";
    });
    ASSERT_TRUE(plan) << plan.error().text;
    ASSERT_EQ(plan->state, "ready");
    EXPECT_FALSE(plan->act->reads.empty());
    const auto task = remote->monitor().start(plan->id, plan->hash, "nobody");
    ASSERT_TRUE(task) << task.error().text;
    EXPECT_EQ(task->by, "actor");
    TaskView end;
    eventually([&] {
        end = remote->monitor().task(task->id).value_or(TaskView());
        return isOver(end);
    });
    EXPECT_EQ(end.state, "done");
    EXPECT_EQ(end.plan.hash, plan->hash);
    ASSERT_TRUE(end.result);
    const auto here = std::get<std::shared_ptr<const DiffView>>(*monitor->task(task->id)->result);
    EXPECT_EQ(toJson(*std::get<std::shared_ptr<const DiffView>>(*end.result)), toJson(*here));

    const auto written = remote->monitor().plan(id, materialize("12", "there"), "somebody");
    ASSERT_TRUE(written) << written.error().text;
    EXPECT_EQ(written->destination, home.path("out/there"));
    const auto outside = remote->monitor().plan(id, materialize("12", "/tmp/elsewhere"), "somebody");
    EXPECT_FALSE(outside);
}

TEST_F(Remote, AServerThatAllowsNoActsSaysSo)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer(false);
    connect();
    copyOf(id);
    const auto plan = remote->monitor().plan(id, VerifyArgs { "12", 2 }, "somebody");
    ASSERT_TRUE(plan) << plan.error().text;
    EXPECT_EQ(plan->state, "planning");
    const auto task = remote->monitor().start(plan->id, plan->hash, "nobody");
    ASSERT_FALSE(task);
    EXPECT_EQ(task.error().code, Code::Auth);
    EXPECT_NE(task.error().action.find("--allow-acts"), std::string::npos);
    EXPECT_EQ(remote->about().scopes, std::vector<std::string> { "read" });
}

TEST_F(Remote, AlertsAreThoseOfTheServer)
{
    const BucketCopy bucket("slime-v2-badchecksum");
    const std::string id = follow(bucket.source());
    runWhen(id, [](const RunSnapshot& run) { return run.alertsFiring > 0; });
    startServer();
    connect(Admin);
    copyWhen(id, [](const RunSnapshot& run) { return run.alertsFiring > 0; });
    Alerts& alerts = remote->monitor().alerts();
    const AlertListView list = alerts.list(id);
    ASSERT_FALSE(list.alerts.empty());
    EXPECT_EQ(list.rules.size(), monitor->alerts().list({}).rules.size());
    const AlertView there = monitor->alerts().list(id).alerts.front();
    EXPECT_EQ(list.alerts.front().value, there.value);
    EXPECT_EQ(list.alerts.front().threshold, there.threshold);
    const std::string alert = list.alerts.front().id;
    const auto acked = alerts.acknowledge(alert);
    ASSERT_TRUE(acked) << acked.error().text;
    EXPECT_EQ(monitor->alerts().list(id).alerts.front().state, AlertState::Acked);
    EXPECT_EQ(alerts.list(id).alerts.front().state, AlertState::Acked);
    const std::string rule = list.rules.front().id;
    EXPECT_TRUE(alerts.set(rule, false, std::nullopt));
    EXPECT_FALSE(alerts.list({}).rules.front().on);
    EXPECT_EQ(alerts.acknowledge("none").error().code, Code::NotFound);
    const auto backtest = alerts.backtest(*monitor->run(id), rule);
    EXPECT_TRUE(backtest) << backtest.error().text;
}

// --- contact ---------------------------------------------------------------------------------------------------------

TEST_F(Remote, LostContactIsToldAndMadeAgain)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    connect();
    const Snapshot before = copyOf(id);
    const std::uint16_t port = daemon->port();
    stopServer();
    const Snapshot lost = copyWhen(id, [](const RunSnapshot& run) { return run.state == "lost"; });
    EXPECT_EQ(lost->run, before->run);
    EXPECT_GT(lost->revision, before->revision);
    EXPECT_FALSE(lost->error);
    EXPECT_GT(lost->contactUs, 0);
    EXPECT_FALSE(remote->monitor().plan(id, VerifyArgs { "12", 2 }, "somebody"));
    startServer(true, port);
    const Snapshot back = copyWhen(id, [](const RunSnapshot& run) { return run.state == "live"; });
    EXPECT_GT(back->revision, lost->revision);
    EXPECT_EQ(toJson(*back->run), toJson(*before->run));
}

TEST_F(Remote, ACodeDoesNotOutliveItsDaemon)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string id = followVerified(bucket.source());
    startServer();
    const std::string printed = daemon->signInUrl();
    auto connected =
        RemoteServer::connect(ServerAddress::parse(printed).value(), ServerAddress::parse(printed).value().code);
    ASSERT_TRUE(connected) << connected.error().text;
    remote = std::move(*connected);
    copyOf(id);
    const std::uint16_t port = daemon->port();
    stopServer();
    startServer(true, port);
    const Snapshot refused = copyWhen(id, [](const RunSnapshot& run) { return run.state == "error"; });
    ASSERT_TRUE(refused->error);
    EXPECT_EQ(refused->error->code, word(Code::Auth));
    EXPECT_FALSE(refused->error->remedy.empty());
    EXPECT_TRUE(refused->run);
}

TEST_F(Remote, WrongSecretsAndOtherServersAreToldApart)
{
    startServer();
    const auto wrong = tryToConnect("something-that-nobody-knows");
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().code, Code::Auth);
    EXPECT_EQ(wrong.error().text.find("something-that"), std::string::npos);
    const auto none = tryToConnect("");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::Auth);
    ServerAddress astray = ServerAddress::parse(daemon->url() + "elsewhere/").value();
    const auto other = RemoteServer::connect(astray, "");
    ASSERT_FALSE(other);
    const ServerAddress gone = ServerAddress::parse(daemon->url()).value();
    stopServer();
    const auto nobody = RemoteServer::connect(gone, Reader);
    ASSERT_FALSE(nobody);
    EXPECT_EQ(nobody.error().code, Code::Transient);
}

}
} // namespace deltascope::app

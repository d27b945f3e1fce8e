#include "api_contract.h"
#include "api_fixture.h"

#include "deltascope/engine/trace.h"

#include "support/eventually.h"

#include <algorithm>

// What the HTTP API answers: the shapes that the page is written against, rights, pages, binary bodies.

namespace deltascope::server {
namespace {

using namespace app;

/// A run of 15 steps with a replica that tells of its work.
class ApiAnswers : public ApiFixture {
protected:
    ApiAnswers()
    {
        const std::shared_ptr<ObjectStore> store = std::move(*openLocalStore(bucket.path()));
        const std::int64_t publishedUs = (BucketCopy::BeginSeconds + 12 * 60) * 1'000'000;
        SpanWriter trainer(store, "trainer");
        trainer.add({ {}, "upload", 12, 0, publishedUs - 2'000'000, publishedUs, 6000, {} });
        SpanWriter replica(store, "r0");
        replica.add({ {}, "fetch", 12, 0, publishedUs + 1'000'000, publishedUs + 2'000'000, 6000, {} });
        replica.add({ {}, "pause", 12, 0, publishedUs + 2'000'000, publishedUs + 3'250'000, 0, {} });
        replica.add({ {}, "note", 12, 0, publishedUs, publishedUs, 0, "took the shortcut" });
        trainer.flush();
        replica.flush();
        Heartbeat heartbeat;
        heartbeat.id = "r0";
        heartbeat.engine = "vllm";
        heartbeat.state = "serving";
        heartbeat.step = 12;
        heartbeat.tUs = publishedUs;
        TaskContext task;
        EXPECT_TRUE(putHeartbeat(*store, heartbeat, task));
        id = followed(bucket.source(), 15);
    }
    std::string run(const std::string& rest = {}) const { return "runs/" + id + (rest.empty() ? "" : "/" + rest); }
    Json endOf(Json task)
    {
        MonitorFixture::endOf(task["id"]);
        return json("tasks/" + task["id"].get<std::string>());
    }
    Json planned(const Json& request) { return post(run("plans"), request); }
    /// The plan once nothing is read for it any more.
    Json made(const Json& request)
    {
        Json plan = planned(request);
        EXPECT_TRUE(test::eventually([&] {
            plan = json("plans/" + plan["id"].get<std::string>());
            return plan["state"] != "planning";
        }));
        return plan;
    }
    Json started(const Json& plan)
    {
        return post("plans/" + plan["id"].get<std::string>() + "/run", { { "hash", plan["hash"] } }, 202);
    }

    BucketCopy bucket { "trl-v2-gap" };
    std::string id;
};

// --- shapes ----------------------------------------------------------------------------------------------------------

TEST_F(ApiAnswers, CapabilitiesAreAsAgreed)
{
    const Json answer = json("capabilities");
    expectShape(answer, "Capabilities");
    EXPECT_EQ(answer["scopes"], Json::parse(R"(["read","act","admin"])"));
    EXPECT_EQ(answer["principal"], "somebody");
    EXPECT_EQ(Json::parse(ask("GET", "capabilities", {}, {}, Scope::Read).body)["scopes"], Json::parse(R"(["read"])"));
}

TEST_F(ApiAnswers, RunsAreAsAgreed)
{
    const Json list = json("runs");
    expectShape(list, "RunList");
    expectShapes(list["runs"], "RunSummary");
    expectShape(list["runs"][0]["kpi"], "Kpi");
    const Json detail = json(run());
    expectShape(detail, "RunDetail");
    expectShapes(detail["replicas"], "Replica");
    expectShapes(detail["feed"], "FeedItem");
    expectShapes(detail["notes"], "Note");
    EXPECT_EQ(detail["kpi"]["verified_to"], 15);
    EXPECT_EQ(detail["kpi"]["pause_ms"], 1250.0);
    EXPECT_EQ(detail["replicas"][0]["behind"], 3);
    const Json replicas = json(run("replicas"));
    expectShapes(replicas["replicas"], "Replica");
    EXPECT_EQ(replicas.size(), 2U);
}

TEST_F(ApiAnswers, StepsAreAsAgreed)
{
    const Json page = json(run("steps"));
    expectShape(page, "StepPage");
    expectShapes(page["steps"], "Step");
    EXPECT_EQ(page["steps"].size(), 15U);
    const Json detail = json(run("steps/12"));
    expectShape(detail, "StepDetail");
    expectShape(detail["step"], "Step");
    expectShape(detail["step"]["restore"], "Restore");
    expectShapes(detail["step"]["objects"], "ObjectInfo");
    expectShapes(detail["tensors"], "TensorCount");
    EXPECT_EQ(detail["step"]["changed_elems"], 724);
    EXPECT_EQ(detail["step"]["verified"]["level"], 2);
}

TEST_F(ApiAnswers, SeriesAreAsAgreed)
{
    const Json series = json(run("series"), { { "names", "changed_frac,wire_bytes,sync_ms,nonsense" } });
    expectShape(series, "Series");
    EXPECT_EQ(series["series"].size(), 3U);
    for (const auto& [name, columns] : series["series"].items())
        expectShape(columns, "SeriesColumns");
    const auto every = json(run("series"), { { "names", "changed_frac" }, { "px", "0" } });
    EXPECT_EQ(every["series"]["changed_frac"], series["series"]["changed_frac"]) << "0: every point";
    for (const char* none : { "foo", "" }) {
        const HttpResponse refused = get(run("series"), { { "names", none } });
        EXPECT_EQ(refused.status, 400) << none;
        EXPECT_NE(refused.body.find("there are changed_frac, changed_elems"), std::string::npos) << refused.body;
    }
    EXPECT_EQ(series["series"]["sync_ms"]["last"], Json::parse("[5250.0]"))
        << "from the upload to the end of the pause";
}

TEST_F(ApiAnswers, TensorsAndTheHeatmapAreAsAgreed)
{
    const Json tensors = json(run("tensors"));
    expectShape(tensors, "TensorTable");
    expectShapes(tensors["tensors"], "TensorRow");
    const Json heat = json(run("heat"));
    expectShape(heat, "HeatIndex");
    expectShapes(heat["columns"], "HeatColumn");
    EXPECT_EQ(heat["rows"], 24);
    EXPECT_EQ(heat["columns"][0]["known"], false);
    const Json cell = json(run("heat/cell"), { { "row", "0" }, { "column", "11" } });
    expectShape(cell, "HeatCell");
    EXPECT_EQ(cell["tensor"], "model.embed_tokens.weight");
    EXPECT_EQ(cell["step"], 12);
    EXPECT_TRUE(json(run("heat/cell"), { { "row", "0" }, { "column", "0" } })["changed"].is_null());
    const Json touched = json(run("touched"), { { "a", "11" }, { "b", "12" } });
    expectShape(touched, "Touched");
    EXPECT_EQ(touched["elements_at_most"], 724);
}

TEST_F(ApiAnswers, LineageTimelineAndListingAreAsAgreed)
{
    const Json lineage = json(run("lineage"));
    expectShape(lineage, "Lineage");
    expectShapes(lineage["rows"], "LineageRow");
    const Json timeline = json(run("timeline"));
    expectShape(timeline, "Timeline");
    expectShapes(timeline["bars"], "Bar");
    expectShapes(timeline["spans"], "SpanRow");
    const Json listing = json(run("objects"));
    expectShape(listing, "ListingPage");
    expectShapes(listing["objects"], "ListingRow");
    const Json header = json(run("objects/header"), { { "key", "deltas/step_000012.safetensors" } });
    expectShape(header, "HeaderPreview");
    EXPECT_TRUE(json(run("timeline.trace.json")).contains("traceEvents"));
}

TEST_F(ApiAnswers, ElementsAreAsAgreed)
{
    const Json window = json(run("steps/12/tensors/0/elements"), { { "rows", "2" }, { "cols", "3" } });
    expectShape(window, "ElementWindow");
    EXPECT_EQ(window["new_bits"].size(), 6U);
    EXPECT_EQ(window["a"], 11);
    EXPECT_EQ(json(run("steps/12/tensors/0/elements"), { { "a", "0:2" } })["a"], 2);
}

TEST_F(ApiAnswers, StatisticsAreAsAgreed)
{
    const std::string path = run("steps/12/tensors/0/statistics");
    const Json statistics = json(path);
    expectShape(statistics, "Statistics");
    expectShape(statistics["a"], "TensorValues");
    expectShape(statistics["b"], "TensorValues");
    expectShape(statistics["linear"], "Histogram");
    expectShape(statistics["logarithmic"], "Histogram");
    expectShape(statistics["moved"], "ValuesMoved");
    EXPECT_EQ(statistics["a"]["step"], 11);
    EXPECT_EQ(json(path, { { "a", "0:2" } })["a"]["step"], 2);
    const Json history = json(path + "/history", { { "steps", "3" } });
    expectShape(history, "StatisticsHistory");
    expectShapes(history["steps"], "TensorValues");
    EXPECT_EQ(history["steps"].size(), 3U);
    const Json cost = json(path + "/cost");
    expectShape(cost, "StatisticsCost");
    EXPECT_EQ(cost["steps"], 2);
    EXPECT_EQ(json(path + "/cost", { { "steps", "3" } })["steps"], 3);
    EXPECT_EQ(get(path + "/history", { { "steps", "51" } }).status, 400);
}

TEST_F(ApiAnswers, ActsAreAsAgreed)
{
    const Json plan = made({ { "kind", "materialize" }, { "args", { { "step", "12" }, { "to", "x" } } } });
    expectShape(plan, "Plan");
    const Json task = started(plan);
    expectShape(task, "Task");
    EXPECT_EQ(task["by"], "somebody");
    const Json rebuilt = endOf(task);
    EXPECT_EQ(rebuilt["state"], "done");
    expectShape(rebuilt["result"], "MaterializeReport");
    const Json diff = endOf(started(made({ { "kind", "diff" }, { "args", { { "a", "11" }, { "b", "12" } } } })));
    expectShape(diff["result"], "Diff");
    expectShapes(diff["result"]["tensors"], "TensorDiff");
    const Json verified = endOf(started(made({ { "kind", "verify" }, { "args", { { "level", 3 } } } })));
    expectShape(verified["result"], "VerifyReport");
    expectShapes(json("tasks")["tasks"], "Task");
    EXPECT_EQ(json("tasks")["tasks"].size(), 3U);
}

TEST_F(ApiAnswers, AlertsAreAsAgreed)
{
    const Json list = json("alerts");
    expectShape(list, "AlertList");
    expectShapes(list["rules"], "AlertRule");
    const Json backtest = json("alerts/backtest", { { "run", id }, { "rule", list["rules"][0]["id"] } });
    expectShape(backtest, "Backtest");
}

/// Two channels of one host: an address that takes no connection, and a program that takes the message.
class ApiChannels : public ApiAnswers {
protected:
    ApiChannels()
    {
        for (const AlertRuleView& rule : monitor->alerts().list({}).rules) // only tests are sent
            EXPECT_TRUE(monitor->alerts().set(rule.id, false, rule.threshold));
        const AlertChannel dead = *parseChannel("info http://127.0.0.1:1/secret-x");
        AlertChannel program = *parseChannel("info /bin/true");
        program.name = "a \"name\"";
        monitor->sender()->setChannels({ dead, dead, program }, {});
    }
    /// What the API says of a channel once so many of its messages have ended.
    Json ended(std::size_t channel, std::uint64_t messages)
    {
        Json told;
        EXPECT_TRUE(test::eventually([&] {
            told = json("alerts")["channels"][channel];
            return told["sent"].get<std::uint64_t>() + told["failed"].get<std::uint64_t>() >= messages;
        }));
        return told;
    }
};

TEST_F(ApiChannels, TellWhatBecameOfMessages)
{
    monitor->sender()->test(2, 0);
    const Json program = ended(2, 1);
    expectShape(program, "AlertChannel");
    EXPECT_EQ(program["sent"], 1);
    EXPECT_EQ(program["failed"], 0);
    EXPECT_EQ(program["last_arrived"], true);
    EXPECT_EQ(program["last_failed_us"], nullptr);
    EXPECT_EQ(program["last_failure"], nullptr);
    const Json quiet = json("alerts")["channels"][1];
    expectShape(quiet, "AlertChannel");
    EXPECT_EQ(quiet["last_arrived"], nullptr) << "nothing was sent";
    for (int i = 0; i < 102; ++i)
        monitor->sender()->test(0, 0); // the first waits for its next try, and a hundred behind it
    const Json dead = ended(0, 1);
    expectShape(dead, "AlertChannel");
    EXPECT_EQ(dead["last_arrived"], false);
    EXPECT_TRUE(dead["last_failed_us"].is_number());
    EXPECT_NE(dead["last_failure"], "");
    const Json list = post("alerts/rules/replica-lag", { { "on", true } });
    EXPECT_EQ(list["channels"].size(), 3U) << "setting a rule answers with the whole list";
}

TEST_F(ApiChannels, AreCountedApartInMetricsWithoutTheirSecrets)
{
    monitor->sender()->test(2, 0);
    ended(2, 1);
    const std::string metrics = api->metrics();
    for (const char* line : { "# TYPE deltascope_alert_messages_sent_total counter\n",
                              "# TYPE deltascope_alert_messages_failed_total counter\n",
                              "deltascope_alert_messages_sent_total{channel=\"1\",kind=\"webhook\","
                              "name=\"http://127.0.0.1:1\"} 0\n",
                              "deltascope_alert_messages_failed_total{channel=\"2\",kind=\"webhook\","
                              "name=\"http://127.0.0.1:1\"} 0\n",
                              "deltascope_alert_messages_sent_total{channel=\"3\",kind=\"command\","
                              "name=\"a \\\"name\\\"\"} 1\n",
                              "# TYPE deltascope_up gauge\n" })
        EXPECT_NE(metrics.find(line), std::string::npos) << line << metrics;
    EXPECT_EQ(metrics.find("secret-x"), std::string::npos);
}

TEST_F(ApiAnswers, AProblemIsAsAgreed)
{
    const HttpResponse answer = get("runs/nobody");
    EXPECT_EQ(answer.status, 404);
    EXPECT_EQ(answer.contentType, "application/problem+json");
    const Json problem = Json::parse(answer.body);
    expectShape(problem, "ProblemDetails");
    EXPECT_EQ(problem["status"], 404);
    EXPECT_EQ(problem["code"], "DS-NOT-FOUND");
}

TEST_F(ApiAnswers, AGapIsAsAgreed)
{
    const BucketCopy gaps("slime-v2-gap-in-chain");
    const Json page = json("runs/" + followed(gaps.source(), 5) + "/steps");
    EXPECT_EQ(page["steps"][3]["kind"], "gap");
    expectShape(page["steps"][3], "Gap");
    expectShapes(page["steps"][4]["problems"], "Problem");
}

// --- binary ----------------------------------------------------------------------------------------------------------

TEST_F(ApiAnswers, ATileHasACodePerCellAndAMask)
{
    const HttpResponse tile = get(run("heat/max/0/0/0/0"));
    EXPECT_EQ(tile.status, 200);
    EXPECT_EQ(tile.contentType, "application/octet-stream");
    EXPECT_EQ(tile.body.size(), 65'536U + 8'192U);
    EXPECT_EQ(tile.headers.at(0), std::pair(std::string("X-Unknown"), std::string("mask")));
    const Json cell = json(run("heat/cell"), { { "row", "0" }, { "column", "11" } });
    EXPECT_EQ(static_cast<unsigned char>(tile.body[11]), heatCode(cell["changed"], cell["total"]));
    const auto unknown = [&](std::size_t at) { return (tile.body[65'536 + at / 8] >> (at % 8) & 1) != 0; };
    EXPECT_TRUE(unknown(0)) << "the first anchor";
    EXPECT_FALSE(unknown(11));
    EXPECT_TRUE(unknown(15)) << "behind the last step";
}

TEST_F(ApiAnswers, BlocksAreAHeaderAndCounts)
{
    const HttpResponse answer = get(run("steps/12/tensors/0/blocks"), { { "n", "16" } });
    EXPECT_EQ(answer.status, 200);
    const std::size_t line = answer.body.find('\n');
    const Json header = Json::parse(answer.body.substr(0, line));
    expectShape(header, "BlockHeader");
    const std::size_t blocks = header["block_rows"].get<std::size_t>() * header["block_cols"].get<std::size_t>();
    const std::size_t rows = header["rows"];
    const std::size_t cols = header["cols"];
    ASSERT_EQ(answer.body.size(), line + 1 + 4 * (blocks + rows + cols));
    const auto sum = [&](std::size_t first, std::size_t count) {
        std::uint64_t total = 0;
        for (std::size_t i = first; i < first + count; ++i) {
            for (std::size_t byte = 0; byte < 4; ++byte)
                total += static_cast<std::uint64_t>(static_cast<unsigned char>(answer.body[line + 1 + 4 * i + byte]))
                    << (8 * byte);
        }
        return total;
    };
    EXPECT_GT(header["changed"], 0);
    EXPECT_EQ(sum(0, blocks), header["changed"]);
    EXPECT_EQ(sum(blocks, rows), header["changed"]);
    EXPECT_EQ(sum(blocks + rows, cols), header["changed"]);
}

// --- pages -----------------------------------------------------------------------------------------------------------

TEST_F(ApiAnswers, StepsComePageByPage)
{
    const BucketCopy restarted("trl-v2-restart");
    const std::string other = "runs/" + followed(restarted.source(), 6) + "/steps";
    const Json whole = json(other);
    Json paged = Json::array();
    Query query { { "limit", "4" } };
    for (;;) {
        const Json page = json(other, query);
        EXPECT_EQ(page["epochs"], Json::parse("[0,1]")) << "of the run, not of the page";
        EXPECT_LE(page["steps"].size(), 4U);
        paged.insert(paged.end(), page["steps"].begin(), page["steps"].end());
        if (page["next_cursor"].is_null())
            break;
        query["cursor"] = page["next_cursor"];
    }
    EXPECT_EQ(paged, whole["steps"]);
    EXPECT_EQ(json(other, { { "epoch", "1" }, { "from", "3" }, { "to", "5" } })["steps"].size(), 3U);
}

TEST_F(ApiAnswers, ObjectsComePageByPageWhateverBytesTheirNamesAre)
{
    for (const char* name : { "\xff\xfe", "\xff", "a\xc3", "z", "\xef\xbf\xbd" })
        std::ofstream(bucket.file(name)) << "x";
    std::vector<std::string> keys;
    Query query { { "limit", "1" } };
    for (int pages = 0; pages < 20; ++pages) {
        const Json page = json(run("objects"), query);
        for (const Json& row : page["objects"])
            keys.push_back(row["key"]);
        if (page["next_cursor"].is_null())
            break;
        query["cursor"] = page["next_cursor"];
    }
    const Json whole = json(run("objects"))["objects"];
    ASSERT_EQ(keys.size(), whole.size());
    for (std::size_t i = 0; i < keys.size(); ++i)
        EXPECT_EQ(keys[i], whole[i]["key"]);
}

// --- rights and addresses --------------------------------------------------------------------------------------------

TEST_F(ApiAnswers, ReadingIsEnoughForAPlanButForNoAct)
{
    const std::string request = R"({"kind":"verify","args":{"level":1}})";
    EXPECT_EQ(ask("POST", run("plans"), {}, request, Scope::Read).status, 200);
    for (const char* act : { "plans/p1/run", "tasks/t1/pause", "tasks/t1/cancel", "tasks/t1/resume", "alerts/a1/ack",
                             "alerts/a1/snooze", "alerts/rules/replica-lag" }) {
        const HttpResponse answer = ask("POST", act, {}, "{}", Scope::Read);
        EXPECT_EQ(answer.status, 403) << act;
        expectShape(Json::parse(answer.body), "ProblemDetails");
    }
    EXPECT_EQ(ask("POST", "alerts/rules/replica-lag", {}, R"({"on":false})", Scope::Act).status, 403) << "of an admin";
    EXPECT_TRUE(monitor->tasks().empty());
}

TEST_F(ApiAnswers, ASnoozeNeedsALengthOrNull)
{
    for (const char* body : { "{}", "[]", "60", R"({"minutes":"60"})", R"({"minutes":-1})", R"({"minutes":1e9})" })
        EXPECT_EQ(ask("POST", "alerts/a1/snooze", {}, body).status, 400) << body;
    for (const char* body : { R"({"minutes":60})", R"({"minutes":null})" })
        EXPECT_EQ(ask("POST", "alerts/a1/snooze", {}, body).status, 404) << body;
}

TEST_F(ApiAnswers, WhatIsNotThereIsNotFound)
{
    for (const std::string& path :
         { std::string(), std::string("nothing"), std::string("runs/"), run() + "/", run("nothing"), run("steps/12/x"),
           std::string("../runs"), std::string("runs//steps"), run("steps/99"), run("steps/9:1"),
           std::string("tasks/t99"), std::string("runs/x/heat"), run("heat/max/0/0/0") })
        EXPECT_EQ(get(path).status, 404) << path;
    EXPECT_EQ(ask("POST", "plans/p99/run", {}, R"({"hash":"x"})").status, 404);
    EXPECT_EQ(ask("POST", "tasks/t99/cancel").status, 404);
    EXPECT_EQ(ask("POST", "tasks/t99/explode").status, 404);
    EXPECT_EQ(get("alerts/backtest", { { "run", "nobody" }, { "rule", "replica-lag" } }).status, 404);
    EXPECT_EQ(get(run("objects/header"), { { "key", "deltas/none" } }).status, 404);
}

TEST_F(ApiAnswers, AnAddressWithAnotherMethodIsRefused)
{
    EXPECT_EQ(ask("POST", "runs").status, 405);
    EXPECT_EQ(ask("GET", run("plans")).status, 405);
    EXPECT_EQ(ask("GET", "plans/p1/run").status, 405);
    EXPECT_EQ(ask("POST", run("steps/12")).status, 405);
}

TEST_F(ApiAnswers, ARunThatCannotBeOpenedSaysWhy)
{
    SourceRequest nowhere;
    nowhere.source = home.path("nowhere");
    const std::string lost = monitor->follow(nowhere, "", false);
    runWhen(lost, [](const RunSnapshot& now) { return now.state == "error"; });
    EXPECT_EQ(json("runs/" + lost)["error"]["code"], "DS-NOT-FOUND");
    for (const char* rest :
         { "steps", "series", "heat", "tensors", "lineage", "timeline", "objects", "replicas", "steps/1" })
        EXPECT_EQ(get("runs/" + lost + "/" + rest).status, 404) << rest;
    EXPECT_FALSE(api->ready());
    EXPECT_EQ(get("alerts", { { "run", lost } }).status, 200);
    EXPECT_EQ(get("alerts", { { "run", "nope" } }).status, 404) << "no alert and no run are not the same";
}

// --- acts ------------------------------------------------------------------------------------------------------------

TEST_F(ApiAnswers, AStalePlanIsAConflict)
{
    const Json plan = made({ { "kind", "materialize" }, { "args", { { "step", "12" } } } });
    const std::string path = "plans/" + plan["id"].get<std::string>() + "/run";
    EXPECT_EQ(ask("POST", path, {}, R"({"hash":"another"})").status, 409);
    EXPECT_EQ(ask("POST", path, {}, "{}").status, 409);
    EXPECT_TRUE(monitor->tasks().empty());
}

TEST_F(ApiAnswers, ActsAndTheirFieldsAreAsAgreed)
{
    const Json acts = json("acts")["acts"];
    expectShapes(acts, "ActInfo");
    const auto note = std::find_if(acts.begin(), acts.end(), [](const Json& act) { return act["kind"] == "note"; });
    ASSERT_NE(note, acts.end());
    expectShapes((*note)["fields"], "ActField");
    EXPECT_EQ(ask("GET", "acts", {}, {}, Scope::Read).status, 200);
}

TEST_F(ApiAnswers, ADiscardIsPlannedAndCarriedOut)
{
    const std::string left = options.outputFolder + "/.a.ds-0123456789abcdef-2000000000-0badf00d";
    std::filesystem::create_directories(left);
    const Json plan = made({ { "kind", "discard" }, { "args", Json::object() } });
    expectShape(plan, "Plan");
    ASSERT_EQ(plan["act"]["deletes"].size(), 1U) << plan.dump();
    const std::string path = "plans/" + plan["id"].get<std::string>() + "/run";
    const std::string body = Json { { "hash", plan["hash"] } }.dump();
    EXPECT_EQ(ask("POST", path, {}, body, Scope::Read).status, 403);
    EXPECT_TRUE(std::filesystem::exists(left));
    const std::string task = started(plan)["id"];
    EXPECT_EQ(MonitorFixture::endOf(task).state, "done");
    const Json done = json("tasks/" + task);
    expectShape(done, "Task");
    expectShape(done["result"], "DiscardReport");
    EXPECT_EQ(done["result"]["leftovers"][0]["removed"], true);
    EXPECT_FALSE(std::filesystem::exists(left));
}

TEST_F(ApiAnswers, APlanIsAsItIsNowUntilItIsDropped)
{
    const Json plan = made({ { "kind", "note" }, { "args", { { "step", "12" }, { "text", "good" } } } });
    const std::string path = "plans/" + plan["id"].get<std::string>();
    EXPECT_EQ(plan["state"], "ready");
    EXPECT_EQ(json(path), plan);
    EXPECT_EQ(ask("POST", path + "/drop", {}, "{}", Scope::Read).status, 200);
    EXPECT_EQ(get(path).status, 404);
    EXPECT_EQ(ask("POST", path + "/drop").status, 200) << "again";
}

TEST_F(ApiAnswers, ARollBackIsPlannedFromStatesAndThenCarriedOut)
{
    const Json request { { "kind", "rollback" }, { "args", { { "step", "12" } } } };
    expectShape(planned(request), "Plan");
    const Json plan = made(request);
    ASSERT_EQ(plan["state"], "ready") << plan;
    expectShape(plan, "Plan");
    expectShape(plan["act"], "ActPlan");
    expectShapes(plan["act"]["reads"], "PlannedObject");
    expectShapes(plan["changes"], "ChangedTensor");
    const Json task = endOf(started(plan));
    ASSERT_EQ(task["state"], "done") << task;
    EXPECT_TRUE(task["undo"].is_string()) << task;
    expectShape(task["result"], "RollBackReport");
    EXPECT_EQ(task["result"]["step"], 16);
}

TEST_F(ApiAnswers, WhatWasSaidOfARunIsAsAgreed)
{
    expectShape(json(run("annotations")), "Annotations");
    const Json task = endOf(started(made({ { "kind", "pin" }, { "args", { { "step", "12" }, { "name", "good" } } } })));
    EXPECT_EQ(task["state"], "done") << task;
    expectShape(task["result"], "AnnotatedReport");
    endOf(started(made({ { "kind", "note" }, { "args", { { "step", "12" }, { "text", "serve this" } } } })));
    const Json said = json(run("annotations"));
    expectShapes(said["refs"], "Ref");
    expectShapes(said["notes"], "Annotation");
    expectShapes(said["journal"], "JournalEntry");
    EXPECT_EQ(said["refs"][0]["word"], "pin/good");
}

TEST_F(ApiAnswers, ABodyThatIsNoPlanIsRefused)
{
    for (const char* body : { "",
                              "null",
                              "[]",
                              "{",
                              "\"x\"",
                              "{}",
                              R"({"kind":"explode"})",
                              R"({"kind":5})",
                              R"({"kind":"verify","args":[]})",
                              R"({"kind":"verify","args":{"level":"2"}})",
                              R"({"kind":"verify","args":{"level":-1}})",
                              R"({"kind":"verify","args":{"level":5}})",
                              R"({"kind":"verify","args":{"level":18446744073709551615}})",
                              R"({"kind":"verify","args":{"level":1e300}})",
                              R"({"kind":"verify","args":{"range":{}}})",
                              R"({"kind":"materialize"})",
                              R"({"kind":"materialize","args":{"step":12}})",
                              R"({"kind":"materialize","args":{"step":"12","to":"../x"}})",
                              R"({"kind":"materialize","args":{"step":"12","to":"/tmp/x"}})",
                              R"({"kind":"materialize","args":{"step":"12","to":"a\u0000b"}})",
                              R"({"kind":"materialize","args":{"step":"12","state":"both"}})",
                              R"({"kind":"materialize","args":{"step":"12","shard_bytes":-1}})",
                              R"({"kind":"materialize","args":{"step":"12","across_gap":1}})",
                              R"({"kind":"diff","args":{"a":"11"}})",
                              R"({"kind":"rollback"})",
                              R"({"kind":"rollback","args":{"step":12}})",
                              R"({"kind":"undo","args":{"step":"12"}})",
                              R"({"kind":"note","args":{"step":"12","text":""}})",
                              R"({"kind":"verify","args":{"level":2,"accept_rewritten":"yes"}})",
                              "\xff\xfe" }) {
        const HttpResponse answer = ask("POST", run("plans"), {}, body);
        EXPECT_EQ(answer.status, 400) << body << ": " << answer.body;
        expectShape(Json::parse(answer.body), "ProblemDetails");
    }
}

TEST_F(ApiAnswers, ARuleIsSetByAnAdminOnly)
{
    const std::string rule = json("alerts")["rules"][0]["id"];
    for (const char* body : { "", "[]", "{}", R"({"on":1})", R"({"threshold":1})", "\xff" })
        EXPECT_EQ(ask("POST", "alerts/rules/" + rule, {}, body).status, 400) << body;
    const Json list = post("alerts/rules/" + rule, { { "on", false } });
    expectShape(list, "AlertList");
    EXPECT_EQ(list["rules"][0]["on"], false);
    const auto lag = [&](const Json& body) -> Json {
        const Json answer = post("alerts/rules/replica-lag", body);
        for (const Json& one : answer["rules"]) {
            if (one["id"] == "replica-lag")
                return one["threshold"];
        }
        return {};
    };
    EXPECT_EQ(lag({ { "on", true }, { "threshold", 8 } }), 8);
    EXPECT_EQ(lag({ { "on", false } }), 8) << "what is not named stays as it is";
    EXPECT_EQ(lag({ { "on", true }, { "threshold", nullptr } }), 3);
    EXPECT_EQ(ask("POST", "alerts/rules/none", {}, R"({"on":true})").status, 404);
}

// --- events ----------------------------------------------------------------------------------------------------------

TEST_F(ApiAnswers, WhatHappensIsTold)
{
    const auto eventsOf = [&](const std::string& topic, std::uint64_t from) {
        std::vector<Json> found;
        hub.flush();
        const EventHub::Batch batch = hub.read(from, { { topic }, id }, 1 << 24);
        for (const EventHub::Frame& frame : batch.frames) {
            const std::size_t data = frame->find("data: ");
            if (frame->find("event: " + topic + "\n") != std::string::npos)
                found.push_back(Json::parse(frame->substr(data + 6, frame->find('\n', data) - data - 6)));
        }
        return found;
    };
    const std::uint64_t from = hub.end();
    MonitorFixture::endOf(start(id, VerifyArgs { "", 4 }).id);
    runWhen(id, [](const RunSnapshot& now) { return now.verified.at({ 0, 12 }).level == 4; });
    std::set<int> verified;
    std::vector<Json> tasks, runs;
    const auto take = [&](std::vector<Json>& seen, const std::string& topic) {
        const std::vector<Json> found = eventsOf(topic, from);
        seen.insert(seen.end(), found.begin(), found.end());
    };
    EXPECT_TRUE(
        test::eventually([&] { // what is coalesced comes a little later, and takes the place of what came before
            for (const Json& event : eventsOf("step", from)) {
                EXPECT_EQ(event["run"], id);
                expectShape(event["step"], "Step");
                if (event["step"]["verified"]["level"] == 4)
                    verified.insert(event["step"]["step"].get<int>());
            }
            take(tasks, "task");
            take(runs, "run");
            return verified.size() == 15 && !tasks.empty() && !runs.empty();
        }));
    expectShapes(tasks, "Task");
    expectShapes(runs, "RunSummary");
}

TEST_F(ApiAnswers, MetricsAreOneLinePerValue)
{
    const std::string metrics = api->metrics();
    EXPECT_NE(metrics.find("deltascope_up{run=\"bucket\"} 1\n"), std::string::npos);
    EXPECT_NE(metrics.find("deltascope_latest_step{run=\"bucket\"} 15\n"), std::string::npos);
    EXPECT_NE(metrics.find("deltascope_checked_step{run=\"bucket\",result=\"first_sight\"} 15\n"), std::string::npos)
        << metrics;
    EXPECT_NE(metrics.find("deltascope_last_pause_seconds{run=\"bucket\"} 1.25\n"), std::string::npos);
    EXPECT_NE(metrics.find("deltascope_replica_lag_versions{run=\"bucket\",replica=\"r0\"} 3\n"), std::string::npos);
    EXPECT_TRUE(api->ready());
}

} // namespace
} // namespace deltascope::server

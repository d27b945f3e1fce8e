#include "deltascope/app/view/json.h"

#include "view/io/text_writer.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <regex>

// The keys and values of every document; they are a contract (architecture 8).

namespace deltascope::app {
namespace {

using Json = nlohmann::json;

TEST(Json, TextIsWrittenAsInDocuments)
{
    using namespace std::string_literals;
    for (const std::string& text : { ""s, "model.layers.0.weight"s, "\"quoted\""s, "back\\slash"s, "line\nbreak"s,
                                     "\0"s, "\x7f"s, "\x1f"s, "äö"s, "\xff\xfe"s, "</script>"s })
        EXPECT_EQ(dumpText(text), dump(ordered_json(text)));
}

ProblemView problem()
{
    return { "DS-CHAIN-GAP", 5, "deltas/step_000005.safetensors", "step 5 has no object", "publish an anchor" };
}

StepView delta()
{
    StepView step;
    step.epoch = 1;
    step.step = 12;
    step.name = "deltas/step_000012.safetensors";
    step.kind = "delta";
    step.state = "complete";
    step.baseStep = 11;
    step.changedElements = 724;
    step.changedVsPrevious = 724;
    step.totalElements = 92'352;
    step.changedFraction = 0.25;
    step.claimedElements = 725;
    step.wireBytes = (1ULL << 53) + 1;
    step.publishedUs = 1'770'000'000'000'001;
    step.restorable = true;
    step.restore = { 2, 199'508, "", {} };
    step.objects = { { "deltas/step_000012.safetensors", 6104, 1'770'000'000'000'001 } };
    step.problems = { problem() };
    return step;
}

StepView gap()
{
    StepView step;
    step.epoch = 1;
    step.step = 13;
    step.lastMissing = 15;
    step.kind = step.state = "gap";
    return step;
}

RunView run()
{
    RunView view;
    view.revision = 7;
    view.source = "file:///runs/one";
    view.layout = "trl-v2";
    view.run = "one";
    view.latest = 12;
    view.epochs = { { 0, {} }, { 1, { delta(), gap() } } };
    view.problems = { problem() };
    view.ignoredObjects = 3;
    view.wireBytes = 6104;
    return view;
}

/// Every key of every object in a document.
void collectKeys(const Json& json, std::vector<std::string>& keys)
{
    for (const auto& [key, value] : json.items()) {
        if (json.is_object())
            keys.push_back(key);
        if (value.is_structured())
            collectKeys(value, keys);
    }
}

void expectKeys(const Json& json, std::initializer_list<const char*> keys)
{
    for (const char* key : keys)
        EXPECT_TRUE(json.contains(key)) << key;
}

void expectDocument(const std::string& text)
{
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    const Json json = Json::parse(text, nullptr, false);
    ASSERT_TRUE(json.is_object()) << text;
    std::vector<std::string> keys;
    collectKeys(json, keys);
    EXPECT_FALSE(keys.empty());
    static const std::regex SnakeCase("[a-z][a-z0-9_]*");
    for (const std::string& key : keys)
        EXPECT_TRUE(std::regex_match(key, SnakeCase)) << key;
}

TEST(RunJson, HasTheKeysOfTheContract)
{
    const std::string text = toJson(run());
    expectDocument(text);
    const Json json = Json::parse(text);
    expectKeys(json, { "source", "layout", "run", "latest", "epochs", "problems" });
    expectKeys(json["epochs"][1], { "epoch", "steps" });
    expectKeys(json["epochs"][1]["steps"][0],
               { "step", "kind", "state", "base_step", "changed_elems", "changed_vs_prev_elems", "total_elems",
                 "changed_frac", "wire_bytes", "published_at", "pause_ms", "spans_from", "restorable", "restore",
                 "objects" });
    expectKeys(json["epochs"][1]["steps"][0]["restore"], { "deltas", "bytes", "reason" });
    expectKeys(json["problems"][0], { "code", "step", "where", "text" });
}

TEST(RunJson, TellsTheSizeOfTheBase)
{
    RunView view = run();
    EXPECT_TRUE(Json::parse(toJson(view)).at("base_bytes").is_null());
    view.baseBytes = 187'200;
    EXPECT_EQ(Json::parse(toJson(view))["base_bytes"], 187'200);
}

TEST(RunJson, SaysWhereAPauseIsFrom)
{
    StepView step = delta();
    EXPECT_TRUE(Json::parse(stepToJson(step))["pause_ms"].is_null());
    EXPECT_TRUE(Json::parse(stepToJson(step))["spans_from"].is_null());
    step.pauseMs = 1100;
    EXPECT_EQ(Json::parse(stepToJson(step))["pause_ms"], 1100);
    EXPECT_EQ(Json::parse(stepToJson(step))["spans_from"], "spans");
    step.pauseIsLogged = true;
    EXPECT_EQ(Json::parse(stepToJson(step))["spans_from"], "logs");
}

TEST(RunJson, SaysWhatAStepRestoresWhereItDoes)
{
    StepView step = delta();
    EXPECT_FALSE(Json::parse(stepToJson(step)).contains("restores"));
    step.restores = 7;
    EXPECT_EQ(Json::parse(stepToJson(step))["restores"], 7);
}

TEST(RunJson, HasTheValuesOfTheView)
{
    const Json json = Json::parse(toJson(run()));
    EXPECT_EQ(json["source"], "file:///runs/one");
    EXPECT_EQ(json["latest"], 12);
    const Json& step = json["epochs"][1]["steps"][0];
    EXPECT_EQ(step["step"], 12);
    EXPECT_EQ(step["base_step"], 11);
    EXPECT_EQ(step["changed_elems"], 724);
    EXPECT_EQ(step["changed_frac"], 0.25);
    EXPECT_EQ(step["restore"]["deltas"], 2);
    EXPECT_EQ(step["restore"]["bytes"], 199'508);
    EXPECT_TRUE(step["restore"]["reason"].is_null());
    EXPECT_EQ(step["objects"][0]["key"], "deltas/step_000012.safetensors");
    EXPECT_EQ(step["objects"][0]["size"], 6104);
    EXPECT_EQ(step["problems"][0]["code"], "DS-CHAIN-GAP");
}

TEST(RunJson, LargeNumbersStayExact)
{
    const Json step = Json::parse(toJson(run()))["epochs"][1]["steps"][0];
    EXPECT_EQ(step["wire_bytes"].get<std::uint64_t>(), (1ULL << 53) + 1);
    EXPECT_EQ(step["published_at"].get<std::int64_t>(), 1'770'000'000'000'001);
}

TEST(RunJson, UnknownNumbersAreNull)
{
    RunView view = run();
    view.latest.reset();
    StepView step = delta();
    step.baseStep.reset();
    step.changedElements.reset();
    step.changedVsPrevious.reset();
    step.totalElements.reset();
    step.changedFraction.reset();
    step.claimedElements.reset();
    view.epochs = { { 0, { step } } };
    const Json json = Json::parse(toJson(view));
    EXPECT_TRUE(json["latest"].is_null());
    EXPECT_TRUE(json["base"].is_null());
    for (const char* key :
         { "base_step", "changed_elems", "changed_vs_prev_elems", "total_elems", "changed_frac", "claimed_elems" })
        EXPECT_TRUE(json["epochs"][0]["steps"][0].at(key).is_null()) << key;
}

TEST(RunJson, AGapHasItsStateAndItsEnds)
{
    const Json entry = Json::parse(toJson(run()))["epochs"][1]["steps"][1];
    EXPECT_EQ(entry["state"], "gap");
    EXPECT_EQ(entry["step"], 13);
    EXPECT_EQ(entry["last_step"], 15);
}

TEST(RunJson, WhatCannotBeRebuiltSaysWhyAndWhoseFaultItIs)
{
    StepView step = delta();
    step.restorable = false;
    step.restore = { 0, 0, "step 12 builds on step 9", 9 };
    const Json json = Json::parse(stepToJson(step));
    EXPECT_EQ(json["restorable"], false);
    EXPECT_EQ(json["restore"]["reason"], "step 12 builds on step 9");
    EXPECT_EQ(json["restore"]["blocked_by"], 9);
}

TEST(RunJson, AnEmptyRunHasEmptyLists)
{
    const Json json = Json::parse(toJson(RunView()));
    EXPECT_TRUE(json["epochs"].is_array());
    EXPECT_TRUE(json["problems"].is_array());
    EXPECT_TRUE(json["problems"].empty());
}

TEST(StepJson, HasTheStepAndItsTensors)
{
    StepDetailView view;
    view.step = delta();
    view.tensors = { { "model.w", "BF16", { 3, 4 }, 5, 5, 12 }, { "scalar", "F32", {}, {}, {}, 1 } };
    const std::string text = toJson(view);
    expectDocument(text);
    const Json json = Json::parse(text);
    EXPECT_EQ(json["step"], 12);
    expectKeys(json["tensors"][0], { "name", "dtype", "shape", "changed_elems", "total_elems" });
    EXPECT_EQ(json["tensors"][0]["shape"], Json::array({ 3, 4 }));
    EXPECT_EQ(json["tensors"][1]["shape"], Json::array());
    EXPECT_TRUE(json["tensors"][1]["changed_elems"].is_null());
}

TEST(ListingJson, ObjectsOfNoVersionHaveNoStep)
{
    ListingView view;
    view.source = "file:///x";
    view.objects = { { { "a", 1, 2 }, 3, "delta", 7 }, { { "notes", 4, 5 }, {}, "", {} } };
    const std::string text = toJson(view);
    expectDocument(text);
    const Json json = Json::parse(text);
    EXPECT_TRUE(json["layout"].is_null());
    EXPECT_EQ(json["objects"][0]["step"], 3);
    EXPECT_TRUE(json["objects"][1]["step"].is_null());
    EXPECT_TRUE(json["objects"][1]["kind"].is_null());
    EXPECT_EQ(json["objects"][0]["needed_by"], 7);
    EXPECT_TRUE(json["objects"][1]["needed_by"].is_null());
}

TEST(VerifyJson, HasTheKeysOfTheContract)
{
    VerifyView view;
    view.level = 3;
    view.result = "damaged";
    StepVerdictView step;
    step.epoch = 0;
    step.step = 3;
    step.result = "damaged";
    step.problems = { problem() };
    view.steps = { step, step };
    view.steps[1].coverage = CoverageView { 25, 16, 0, 0, 9, 0, 0, 0, { "model.embed" } };
    view.consistentTo = { { 0, 2 }, { 1, {} } };
    EXPECT_TRUE(Json::parse(toJson(view))["store_digests"].is_null());
    view.storeDigests = StoreDigestsView { 7, 1, 2 };
    const std::string text = toJson(view);
    expectDocument(text);
    const Json json = Json::parse(text);
    expectKeys(json, { "level", "steps", "result", "consistent_to", "store_digests" });
    EXPECT_EQ(json["store_digests"]["equal"], 7);
    EXPECT_EQ(json["store_digests"]["not_compared"], 1);
    EXPECT_EQ(json["store_digests"]["none"], 2);
    EXPECT_EQ(json["store_digests"]["text"], storeDigestsText(*view.storeDigests));
    expectKeys(json["steps"][0], { "epoch", "step", "result", "problems" });
    EXPECT_TRUE(json["steps"][0]["coverage"].is_null());
    const Json& coverage = json["steps"][1]["coverage"];
    expectKeys(coverage, { "tensors", "digest", "root", "anchor", "base", "weak", "first_sight", "none", "weakest" });
    EXPECT_EQ(coverage["base"], 9);
    EXPECT_EQ(coverage["text"], coverageText(view.steps[1].coverage.value()));
    EXPECT_EQ(json["consistent_to"][0]["step"], 2);
    EXPECT_TRUE(json["consistent_to"][1]["step"].is_null());
    EXPECT_EQ(json["result"], "damaged");
    EXPECT_EQ(json["steps"][0]["result"], "damaged");
    EXPECT_TRUE(json["steps"][0]["root"].is_null());
}

TEST(DigestJson, HasTheKeysOfTheContract)
{
    DigestView view { "r", "s", { { "model.w", "BF16", { 2 }, { std::byte { 0xab } }, {} } }, {}, {} };
    const std::string text = toJson(view);
    expectDocument(text);
    const Json json = Json::parse(text);
    EXPECT_EQ(json["root"], "r");
    expectKeys(json["tensors"][0], { "name", "dtype", "shape", "xxh3_128", "sha256" });
    EXPECT_EQ(json["tensors"][0]["shape"], Json::array({ 2 }));
    EXPECT_EQ(json["tensors"][0]["xxh3_128"], "ab" + std::string(30, '0'));
    EXPECT_TRUE(json["tensors"][0]["sha256"].is_null()) << "not asked for";
    view.tensors[0].sha256.emplace();
    EXPECT_EQ(Json::parse(toJson(view))["tensors"][0]["sha256"], std::string(64, '0'));
}

/// A document with a row for each tensor is written in pieces, none of which grows with the number of tensors.
TEST(DigestJson, IsWrittenInPieces)
{
    DigestView view { "r", "s", {}, {}, {} };
    std::string text;
    std::size_t longest = 0;
    const auto write = [&] {
        text.clear();
        writeJson(view, [&](std::string_view piece) {
            text += piece;
            longest = std::max(longest, piece.size());
        });
    };
    write();
    EXPECT_EQ(Json::parse(text)["tensors"], Json::array());
    for (int i = 0; i < 5000; ++i)
        view.tensors.push_back({ "a \"name\" " + std::to_string(i), "BF16", {}, {}, {} });
    write();
    EXPECT_EQ(text, toJson(view));
    EXPECT_EQ(Json::parse(text)["tensors"].size(), 5000U);
    EXPECT_EQ(Json::parse(text)["tensors"][4999]["name"], "a \"name\" 4999");
    EXPECT_GT(text.size(), 4 * longest);
}

TEST(DiffJson, HasTheKeysOfTheContract)
{
    DiffView view;
    view.onlyInA = { "x" };
    TensorDiffView tensor;
    tensor.name = "w";
    tensor.different = 3;
    tensor.maxAbs = 0.5;
    tensor.maxUlp = 9;
    tensor.notFiniteB = 2;
    tensor.relativeNorm = 0.25;
    view.notFiniteB = 2;
    view.tensors = { tensor };
    view.reshaped = { { "v", "BF16", "F32", { 2 }, { 2 } } };
    const std::string text = toJson(view);
    expectDocument(text);
    const Json json = Json::parse(text);
    expectKeys(json,
               { "equal", "tensors_total", "tensors_different", "elements_total", "elements_different", "only_in_a",
                 "only_in_b", "tensors" });
    expectKeys(json["tensors"][0], { "name", "elements_different", "max_abs", "max_ulp" });
    EXPECT_EQ(json["only_in_a"], Json::array({ "x" }));
    EXPECT_EQ(json["only_in_b"], Json::array());
    EXPECT_EQ(json["tensors"][0]["max_ulp"], 9);
    EXPECT_TRUE(json["elements_touched"].is_null());
    EXPECT_TRUE(json["relative_norm"].is_null());
    EXPECT_EQ(json["tensors"][0]["relative_norm"], 0.25);
    EXPECT_EQ(json["not_finite_b"], 2);
    EXPECT_EQ(json["tensors"][0]["not_finite_a"], 0);
    EXPECT_EQ(json["tensors"][0]["not_finite_b"], 2);
}

/// Who reads `equal` alone must not take a part for the whole.
TEST(DiffJson, SaysOfAPartNeverThatAllIsEqual)
{
    DiffView view;
    view.equal = true;
    view.globs = { "*.weight" };
    EXPECT_EQ(Json::parse(toJson(view))["equal"], true);
    view.tensorsLeftOut = 2;
    EXPECT_TRUE(Json::parse(toJson(view))["equal"].is_null());
    EXPECT_EQ(Json::parse(toJson(view))["tensors_left_out"], 2);
    EXPECT_EQ(Json::parse(toJson(view))["tensor_globs"], Json::array({ "*.weight" }));
    view.equal = false;
    EXPECT_EQ(Json::parse(toJson(view))["equal"], false);
}

TEST(MaterializeJson, HasTheKeysOfTheContract)
{
    MaterializeView view;
    view.step = 9;
    view.path = "/out";
    view.sidecars = { "config.json", "tokenizer.json" };
    const std::string text = toJson(view);
    expectDocument(text);
    const Json json = Json::parse(text);
    expectKeys(json, { "step", "path", "bytes", "root", "tensors", "seconds" });
    EXPECT_TRUE(json["root"].is_null());
    EXPECT_EQ(json["sidecars"], Json::array({ "config.json", "tokenizer.json" }));
}

TEST(DoctorJson, ListsEveryCheck)
{
    DoctorView view;
    view.ok = false;
    view.checks = { { "catalog", false, false, "locked" } };
    const std::string text = toJson(view);
    expectDocument(text);
    EXPECT_EQ(Json::parse(text)["checks"][0]["detail"], "locked");
}

TEST(ErrorJson, HasTheKeysOfTheContract)
{
    const std::string text = errorToJson(problem());
    expectDocument(text);
    const Json json = Json::parse(text);
    ASSERT_TRUE(json["error"].is_object());
    expectKeys(json["error"], { "code", "where", "step", "text", "remedy", "notice" });
    EXPECT_EQ(json["error"]["code"], "DS-CHAIN-GAP");
    EXPECT_EQ(json["error"]["step"], 5);
}

TEST(ErrorJson, AnErrorOfNoStepHasNone)
{
    ProblemView view = problem();
    view.step.reset();
    EXPECT_TRUE(Json::parse(errorToJson(view))["error"]["step"].is_null());
}

TEST(CostJson, HasEveryKeyAndNullForWhatIsUnknown)
{
    CostView view;
    view.source = "file:///runs/one";
    view.layout = "trl-v2";
    view.epoch = 1;
    view.pricePerGb = { 0.09, true };
    view.delta = CostRowView { 100, 9e-9, 8e-8, 288'000, {}, 10.0, 2.5 };
    view.cadences = { CadenceView { 10, true, false, {}, 1450, 1e-6, {}, {} } };
    view.ownCadence = 10;
    view.prediction = PredictionView { 1e-6, {}, 0.02, 0, 4096, 8192 };
    expectDocument(toJson(view));
    const Json json = Json::parse(toJson(view));
    expectKeys(json,
               { "source",
                 "layout",
                 "epoch",
                 "versions",
                 "anchors",
                 "deltas",
                 "price_per_gb",
                 "price_assumed",
                 "price_per_1000_requests",
                 "link_gbps",
                 "link_assumed",
                 "restores_per_day",
                 "restores_assumed",
                 "steps_per_day",
                 "steps_given",
                 "seconds_per_step",
                 "delta",
                 "published",
                 "full_sync",
                 "full_sync_is_base",
                 "newest_restore",
                 "cadences",
                 "own_cadence",
                 "recommended_cadence",
                 "recommendation",
                 "observed_changed_frac",
                 "observed_deltas",
                 "prediction" });
    EXPECT_EQ(json["delta"]["bytes"], 100);
    EXPECT_EQ(json["delta"]["bytes_per_day"], 288'000);
    EXPECT_EQ(json["delta"]["times_smaller"], 10.0);
    EXPECT_EQ(json["delta"]["requests"], 2.5);
    EXPECT_TRUE(json["delta"]["price_per_day"].is_null());
    EXPECT_EQ(json["cadences"][0]["own"], true);
    EXPECT_TRUE(json["cadences"][0]["bytes_per_day"].is_null());
    EXPECT_EQ(json["own_cadence"], 10);
    EXPECT_EQ(json["prediction"]["elements_outside"], 4096);
    for (const char* unknown :
         { "steps_per_day", "seconds_per_step", "published", "full_sync", "newest_restore", "recommended_cadence" })
        EXPECT_TRUE(json[unknown].is_null()) << unknown;
    EXPECT_TRUE(json["prediction"]["changed_frac"].is_null());
}

TEST(Json, NamesThatAreNoUtf8AreReplacedAndStillOneDocument)
{
    StepDetailView detail;
    detail.step = delta();
    detail.step.name = "\xff\xfe";
    detail.step.objects[0].key = "a\xc3";
    detail.tensors = { { "w\xff\x1b[31m\n\"", "BF16", {}, 1, 1, 1 } };
    expectDocument(toJson(detail));
    ProblemView broken = problem();
    broken.text = "tensor \xed\xa0\x80";
    expectDocument(errorToJson(broken));
}

TEST(Json, ControlCharactersAreEscaped)
{
    ProblemView view = problem();
    view.where = "a\x1b]0;title\x07\n";
    const std::string text = errorToJson(view);
    for (const char c : text)
        EXPECT_GE(static_cast<unsigned char>(c), 0x20);
    EXPECT_EQ(Json::parse(text)["error"]["where"], view.where);
}

} // namespace
} // namespace deltascope::app

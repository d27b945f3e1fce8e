#include "deltascope/app/acts.h"
#include "deltascope/app/view/dashboard_json.h"
#include "deltascope/app/view/json.h"
#include "view/act_info_description.h"
#include "view/alert_description.h"
#include "view/capabilities_description.h"
#include "view/diff_description.h"
#include "view/event_description.h"
#include "view/heat_description.h"
#include "view/io/json_reader.h"
#include "view/io/json_writer.h"
#include "view/io/schema_writer.h"
#include "view/io/text_writer.h"
#include "view/lineage_description.h"
#include "view/listing_description.h"
#include "view/plan_description.h"
#include "view/publish_description.h"
#include "view/run_description.h"
#include "view/series_description.h"
#include "view/snapshot_description.h"
#include "view/statistics_description.h"
#include "view/step_page_description.h"
#include "view/summary_description.h"
#include "view/task_description.h"
#include "view/tensor_description.h"
#include "view/timeline_description.h"
#include "view/touched_description.h"
#include "view/verify_description.h"

#include "generated/openapi.h"
#include "generated/typescript.h"
#include "openapi_document.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <gtest/gtest.h>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

// The documents that are made from the descriptions of values (app/src/view/*_description.h), and what a description
// does.

namespace deltascope::app {
namespace {

const std::string RepositoryFolder = std::string(DELTASCOPE_GOLDEN_DIR) + "/../../";
const std::string MakeAgain = "DELTASCOPE_UPDATE_GENERATED=1 build/dev/bin/deltascope_tests --gtest_filter='Schema.*'";

/// What the HTTP API answers with, alone or inside something else.
Schema describedValues()
{
    Schema schema;
    addTo(schema, ProblemView());
    addTo(schema, CheckedStepView { StepView(), std::optional<VerifiedView>() });
    addTo(schema, TensorCountView());
    addTo(schema, DriftView());
    addTo(schema, NoteView());
    addTo(schema, AnnotationsView());
    addTo(schema, AnnotatedView());
    addTo(schema, SpanView());
    addTo(schema, ReplicaHistoryView());
    addTo(schema, FeedItemView());
    addTo(schema, StoreMeterView());
    addTo(schema, ListingView());
    addTo(schema, PlanView());
    addTo(schema, RollBackView());
    addTo(schema, BranchView());
    addTo(schema, PublishView());
    addTo(schema, DiscardView());
    addTo(schema, TaskView());
    addTo(schema, AlertListView());
    addTo(schema, BacktestView());
    addTo(schema, ActInfo());
    addTo(schema, RunListView { 0, {} });
    addTo(schema, RunDetailView { RunSummaryView(), 0 });
    addTo(schema, LineageView());
    addTo(schema, TimelineView());
    addTo(schema, HeatIndexView());
    addTo(schema, HeatChange());
    addTo(schema, StepChange { {}, 0, { StepView(), std::optional<VerifiedView>() } });
    addTo(schema, ReplicaChange());
    addTo(schema, FeedChange());
    addTo(schema, CapabilitiesView());
    addTo(schema, StepPageView());
    addTo(schema, StepSheetView());
    addTo(schema, TensorTableView());
    addTo(schema, HeatCellView());
    addTo(schema, HeatCountsView());
    addTo(schema, TouchedView());
    addTo(schema, SeriesView());
    addTo(schema, ListingPage());
    addTo(schema, BlocksView());
    addTo(schema, ElementsView());
    addTo(schema, HeaderView());
    addTo(schema, StatisticsView());
    addTo(schema, StatisticsHistoryView());
    addTo(schema, StatisticsCostView());
    return schema;
}

/// Of an argument of an act.
ordered_json argumentOf(const ActField& field)
{
    using Type = ActField::Type;
    if (field.type == Type::Step)
        return { { "$ref", "#/components/schemas/StepAddress" } };
    ordered_json out;
    switch (field.type) {
    case Type::Flag:
        out = { { "type", "boolean" }, { "default", field.standard == "true" } };
        break;
    case Type::Whole:
        out = { { "type", "integer" }, { "minimum", 0 }, { "maximum", field.most } };
        break;
    case Type::Choice:
        out = { { "type", "string" }, { "enum", field.choices } };
        break;
    default:
        out = { { "type", "string" }, { "maxLength", 1000 } };
        break;
    }
    out["description"] = field.help;
    return out;
}

/// What a plan is asked for with: one schema for each act.
std::vector<ordered_json> planRequests()
{
    std::vector<ordered_json> acts;
    for (const ActInfo& act : actInfos()) {
        ordered_json args { { "type", "object" } };
        for (const ActField& field : act.fields) {
            if (field.isRequired)
                args["required"].push_back(field.name);
        }
        args["properties"] = ordered_json::object();
        for (const ActField& field : act.fields)
            args["properties"][std::string(field.name)] = argumentOf(field);
        const ordered_json kind { { "type", "string" }, { "enum", ordered_json::array({ act.kind }) } };
        acts.push_back({ { "type", "object" },
                         { "required", { "kind", "args" } },
                         { "properties", { { "kind", kind }, { "args", args } } } });
    }
    return acts;
}

std::string textOfFile(const std::string& path)
{
    std::ifstream file(RepositoryFolder + path);
    return { std::istreambuf_iterator<char>(file), {} };
}

/// With DELTASCOPE_UPDATE_GENERATED=1 the file becomes what it should be.
void expectGenerated(const std::string& path, const std::string& expected)
{
    if (std::getenv("DELTASCOPE_UPDATE_GENERATED"))
        std::ofstream(RepositoryFolder + path) << expected;
    EXPECT_TRUE(textOfFile(path) == expected)
        << path << " is not as the descriptions say. To make it again: " << MakeAgain;
}

TEST(Schema, TypescriptIsAsDescribed)
{
    const std::string head =
        "// Made from app/src/view/*_description.h, not by hand. To make it again:\n// " + MakeAgain + "\n\n";
    expectGenerated("ui/web/src/api/generated.ts", head + typescriptOf(describedValues()));
}

/// The described schemas and those of acts come first in `components.schemas`, in front of those by hand.
TEST(Schema, OpenapiIsAsDescribed)
{
    const std::string path = "resources/openapi.json";
    const std::string text = textOfFile(path);
    const std::string opening = "    \"schemas\": {\n";
    const std::size_t begin = text.find(opening);
    const std::size_t end = text.find("      \"StepAddress\": {", begin);
    ASSERT_NE(begin, std::string::npos);
    ASSERT_NE(end, std::string::npos);
    expectGenerated(path,
                    text.substr(0, begin + opening.size()) + openapiOf(describedValues())
                        + openapiOneOf("PlanRequest", planRequests()) + text.substr(end));
}

/// The names that "$ref" in it, at any depth, means.
void addReferences(const json& document, std::set<std::string>& names)
{
    if (document.is_object() && document.contains("$ref"))
        names.insert(document["$ref"].get<std::string>());
    for (const json& value : document) {
        if (value.is_structured())
            addReferences(value, names);
    }
}

TEST(Schema, EveryReferenceInTheDocumentMeansSomething)
{
    const test::OpenapiDocument document;
    std::set<std::string> names;
    addReferences(document.json(), names);
    EXPECT_TRUE(names.contains("#/components/schemas/Listing"));
    for (const std::string& name : names)
        EXPECT_TRUE(document.json().contains(json::json_pointer(name.substr(1)))) << name;
}

TEST(Schema, ANameMeansOneValue)
{
    std::set<std::string> names;
    for (const SchemaType& words : describedValues().words)
        EXPECT_TRUE(names.insert(words.alias).second) << words.alias;
    for (const SchemaObject& object : describedValues().objects)
        EXPECT_TRUE(names.insert(object.name).second) << object.name;
}

StepView describedStep()
{
    StepView step;
    step.epoch = 1;
    step.step = 7;
    step.name = "step_7";
    step.kind = "delta";
    step.state = "complete";
    step.baseStep = 6;
    step.changedFraction = 0.25;
    step.publishedUs = 5;
    step.pauseMs = 2.5;
    step.pauseIsLogged = true;
    step.restore = { 2, 100, "the step 6 is damaged", 6 };
    step.objects = { { "deltas/7", 10, 3 } };
    step.forms = { { "step_7", "delta", 6, 10, {}, "digest", true, true, false } };
    step.problems = { { "DS-CHAIN-GAP", 7, "deltas/7", "text", "remedy" } };
    step.refs = { "good" };
    step.restores = 4;
    step.branchOf = "file:///x@3";
    step.id = "cd613e30";
    return step;
}

TEST(Schema, TheDocumentKnowsAStepAndWhatIsNone)
{
    const test::OpenapiDocument document;
    const json step =
        json::parse(written(CheckedStepView { describedStep(), VerifiedView { 3, "damaged", 1 } }).dump());
    EXPECT_EQ(document.misfitOf(step, "Step"), "");
    const auto misfit = [&](const char* place, const json& value) {
        json other = step;
        other[json::json_pointer(place)] = value;
        return document.misfitOf(other, "Step");
    };
    EXPECT_EQ(misfit("/verified", nullptr), "");
    EXPECT_EQ(misfit("/name", 7), "Step.name is no string");
    EXPECT_EQ(misfit("/wire_bytes", -1), "Step.wire_bytes is too small");
    EXPECT_EQ(misfit("/spans_from", "elsewhere"), "Step.spans_from is none of its words: \"elsewhere\"");
    EXPECT_EQ(misfit("/forms/0/restore/reason", false), "Step.forms[].restore.reason is no string");
    EXPECT_EQ(misfit("/other", 1), "Step has other, which nobody describes");
    json less = step;
    less["verified"].erase("level");
    EXPECT_EQ(document.misfitOf(less, "Step"), "Step.verified has no level");
    StepView gap;
    gap.kind = gap.state = "gap";
    const json hole = json::parse(written(CheckedStepView { gap, std::nullopt }).dump());
    EXPECT_EQ(document.misfitOf(hole, "Gap"), "");
    EXPECT_NE(document.misfitOf(hole, "Step"), "");
}

TEST(Description, WhatIsWrittenIsRead)
{
    StepView bare;
    bare.kind = "anchor";
    bare.state = "broken";
    StepView gap;
    gap.kind = gap.state = "gap";
    gap.lastMissing = 9;
    for (const StepView& step : { describedStep(), bare, gap })
        EXPECT_EQ(readAs<StepView>(json::parse(written(step).dump())), step);
}

TEST(Description, AKeyIsNeededUnlessEarlierVersionsDoNotWriteIt)
{
    const json whole = json::parse(written(describedStep()).dump());
    const std::set<std::string> free = { "forms", "id", "refs", "restores", "branch_of" };
    for (const auto& [key, value] : whole.items()) {
        json less = whole;
        less.erase(key);
        if (free.contains(key)) {
            EXPECT_NO_THROW(readAs<StepView>(less)) << key;
        } else {
            EXPECT_THROW(readAs<StepView>(less), Unfit) << key;
        }
    }
}

TEST(Description, ErrorsSayWhichKeyDoesNotFit)
{
    const auto whatOf = [](const char* key, const json& value) {
        json step = json::parse(written(describedStep()).dump());
        step[key] = value;
        try {
            readAs<StepView>(step);
        } catch (const Unfit& unfit) {
            return unfit.what;
        }
        return std::string();
    };
    EXPECT_EQ(whatOf("name", "other"), "");
    EXPECT_EQ(whatOf("kind", "a later kind"), "");
    EXPECT_EQ(whatOf("name", 7), "\"name\" is no text");
    EXPECT_EQ(whatOf("wire_bytes", -1), "\"wire_bytes\" is no count");
    EXPECT_EQ(whatOf("epoch", 1e12), "\"epoch\" is no whole number");
    EXPECT_EQ(whatOf("restores", nullptr), "\"restores\" is no whole number");
    EXPECT_EQ(whatOf("objects", json::object()), "\"objects\" is no list");
    EXPECT_EQ(whatOf("objects", json::array({ 7 })), "what should have \"key\" is no object");
    EXPECT_EQ(whatOf("published_at", INT64_MAX), "\"published_at\" is no time");
}

TEST(Description, AnAlertIsReadByItsWords)
{
    AlertView alert;
    alert.level = AlertLevel::Error;
    alert.state = AlertState::Acked;
    for (const std::optional<std::int64_t> snoozed :
         { std::optional<std::int64_t>(), std::optional<std::int64_t>(7), std::optional(UntilCleared) }) {
        alert.snoozedUntilUs = snoozed;
        const AlertView read = readAs<AlertView>(json::parse(written(alert).dump()));
        EXPECT_EQ(read.snoozedUntilUs, snoozed);
        EXPECT_EQ(read.level, AlertLevel::Error);
        EXPECT_EQ(read.state, AlertState::Acked);
    }
    const auto with = [&](const char* key, const char* word) {
        json other = json::parse(written(alert).dump());
        other[key] = word;
        return other;
    };
    EXPECT_THROW(readAs<AlertView>(with("level", "loud")), Unfit);
    EXPECT_THROW(readAs<AlertView>(with("level", "")), Unfit);
    EXPECT_THROW(readAs<AlertView>(with("snoozed", "for long")), Unfit);
}

DiffView describedDiff()
{
    TensorDiffView tensor;
    tensor.name = "w";
    tensor.dtype = "F64";
    tensor.shape = { 2, 3, 4 };
    tensor.maxAbs = 0.1;
    DiffView diff;
    diff.globs = { "w*" };
    diff.elementsTouched = 7;
    diff.onlyInA = { "a \"name\"", "\xff" };
    diff.settings = { { "r", "8", "null" }, { "targets", R"(["q",{"a":1}])", "\"all\"" } };
    diff.tensors = { tensor, tensor };
    diff.reshaped = { { "v", "BF16", "F32", { 2 }, {} } };
    diff.reads = { { "deltas/7" }, { { "DS-CHAIN-GAP", 7, "deltas/7", "text", "remedy" } } };
    diff.seconds = 0.25;
    return diff;
}

TEST(Description, WhatIsWrittenInPiecesIsTheSame)
{
    const std::string whole = written(describedDiff()).dump(-1, ' ', false, ordered_json::error_handler_t::replace);
    EXPECT_EQ(toJson(describedDiff()), whole);
    const DiffView read = readAs<DiffView>(json::parse(whole));
    EXPECT_EQ(toJson(read), whole);
    EXPECT_EQ(read.settings, describedDiff().settings);
}

TEST(Description, ANumberWithoutEndIsNull)
{
    StatisticsView view;
    view.moved.emplace();
    view.moved->norm = std::numeric_limits<double>::infinity();
    const json document = json::parse(toJson(view));
    EXPECT_TRUE(document["moved"]["norm"].is_null());
    EXPECT_EQ(readAs<StatisticsView>(document).moved->norm, view.moved->norm);
    EXPECT_EQ(test::OpenapiDocument().misfitOf(document, "Statistics"), "");
    view.moved->norm = 0.1;
    EXPECT_EQ(json::parse(toJson(view))["moved"]["norm"], 0.1);
}

TEST(Description, WhatIsNotMeasuredOfADtypeIsNull)
{
    DiffView diff = describedDiff();
    diff.tensors[0].maxAbs.reset();
    diff.tensors[1].maxUlp = 3;
    const json document = json::parse(toJson(diff));
    EXPECT_TRUE(document["tensors"][0]["max_abs"].is_null());
    EXPECT_TRUE(document["tensors"][0]["max_ulp"].is_null());
    EXPECT_EQ(document["tensors"][1]["max_abs"], 0.1);
    EXPECT_EQ(document["tensors"][1]["max_ulp"], 3);
    const DiffView read = readAs<DiffView>(document);
    EXPECT_EQ(read.tensors[0].maxAbs, std::nullopt);
    EXPECT_EQ(read.tensors[0].maxUlp, std::nullopt);
    EXPECT_EQ(read.tensors[1].maxAbs, 0.1);
    EXPECT_EQ(read.tensors[1].maxUlp, 3U);
    EXPECT_EQ(test::OpenapiDocument().misfitOf(document, "Diff"), "");
}

TEST(Description, WhetherPartsOfCheckpointsAreEqualSaysNothingOfTheWhole)
{
    DiffView diff;
    for (const bool isEqual : { false, true }) {
        for (const std::uint64_t leftOut : { 0, 3 }) {
            diff.equal = isEqual;
            diff.tensorsLeftOut = leftOut;
            const json document = json::parse(toJson(diff));
            EXPECT_EQ(document["equal"], isEqual && leftOut > 0 ? json(nullptr) : json(isEqual));
            EXPECT_EQ(readAs<DiffView>(document).equal, isEqual);
        }
    }
}

TEST(Description, TheKindOfATaskSaysWhatItsReportIs)
{
    TaskView task;
    task.state = "done";
    VerifyView verified;
    verified.result = "damaged";
    verified.steps.emplace_back();
    verified.steps[0].result = "damaged";
    task.result = std::make_shared<const VerifyView>(verified);
    task.plan.kind = "verify";
    const json document = json::parse(toJson(task));
    EXPECT_EQ(document["result"], json::parse(toJson(verified)));
    EXPECT_EQ(test::OpenapiDocument().misfitOf(document, "Task"), "");
    const TaskView read = readAs<TaskView>(document);
    ASSERT_TRUE(read.result && std::holds_alternative<std::shared_ptr<const VerifyView>>(*read.result));
    EXPECT_EQ(toJson(read), toJson(task));

    json other = document;
    other["kind"] = "diff";
    EXPECT_THROW(readAs<TaskView>(other), Unfit);
    other["result"] = nullptr;
    EXPECT_FALSE(readAs<TaskView>(other).result);
    other = document;
    other["kind"] = "of a later version";
    EXPECT_FALSE(readAs<TaskView>(other).result);
}

TEST(Description, PairsAreReadByTheirKeys)
{
    ValuesView values;
    values.percentiles = { { 0.1, -2 }, { 99.9, 3.5 } };
    const json document = json::parse(written(values).dump());
    EXPECT_EQ(document["percentiles"], json::parse(R"([{"percent":0.1,"value":-2.0},{"percent":99.9,"value":3.5}])"));
    EXPECT_EQ(readAs<ValuesView>(document).percentiles, values.percentiles);
    for (const json& unfit : { json::object(), json::array({ 7 }), json::array({ { { "percent", 1 } } }) }) {
        json other = document;
        other["percentiles"] = unfit;
        EXPECT_THROW(readAs<ValuesView>(other), Unfit) << unfit;
    }
}

TEST(Description, AHistogramHasItsBins)
{
    HistogramView histogram { { 0, 1, 2 }, {}, { 3, 4 } };
    const auto read = [&] { return readAs<HistogramView>(json::parse(written(histogram).dump())); };
    EXPECT_EQ(read().b, histogram.b);
    histogram.a = { 5 };
    EXPECT_THROW(read(), Unfit);
    histogram.a = { 5, 6 };
    EXPECT_EQ(read().a, histogram.a);
    histogram.b.pop_back();
    EXPECT_THROW(read(), Unfit);
}

TEST(Description, AWindowHasAnElementForEachRowAndColumn)
{
    ElementsView window;
    window.rows = 1;
    window.cols = 2;
    window.newBits = { "7fc0", "3f80" };
    window.newValues = { std::nullopt, 1.0 };
    const auto read = [](const ElementsView& view) { return readAs<ElementsView>(json::parse(written(view).dump())); };
    EXPECT_EQ(written(window)["old_bits"].dump(), "[null,null]");
    EXPECT_EQ(written(window)["old_values"].dump(), "[null,null]");
    EXPECT_TRUE(read(window).oldBits.empty());
    EXPECT_EQ(read(window).newValues, window.newValues);
    window.a = 3;
    window.oldBits = { "0000", "8000" };
    window.oldValues = { 0.0, -0.0 };
    EXPECT_EQ(read(window).oldBits, window.oldBits);
    EXPECT_EQ(read(window).oldValues, window.oldValues);
    EXPECT_EQ(test::OpenapiDocument().misfitOf(json::parse(written(window).dump()), "ElementWindow"), "");
    for (const auto change :
         { +[](ElementsView& view) { view.rows = 2; }, +[](ElementsView& view) { view.newValues.pop_back(); },
           +[](ElementsView& view) { view.oldBits.pop_back(); },
           +[](ElementsView& view) { view.oldValues.pop_back(); } }) {
        ElementsView other = window;
        change(other);
        EXPECT_THROW(read(other), Unfit);
    }
}

TEST(Description, TextIsWhatATreeWouldBe)
{
    DiffView diff = describedDiff();
    diff.tensors[0].maxAbs.reset();
    diff.onlyInA = { "a\"b", "\xff" };
    EXPECT_EQ(writtenText(diff), dump(written(diff)));
    StepDetailView detail;
    detail.tensors = { { "t", "BF16", { 2, 3 }, 4, std::nullopt, 6 }, {} };
    StepView gap;
    gap.kind = gap.state = "gap";
    for (const StepView& step : { describedStep(), StepView(), gap }) {
        detail.step = step;
        EXPECT_EQ(writtenText(detail), dump(written(detail)));
    }
    EXPECT_EQ(writtenText(std::vector<TensorCountView>()), "[]");
    EXPECT_EQ(writtenText(HeatTotalsView()), R"({"changed_elems":[],"last_changed":[]})");
}

TEST(Description, LongTextComesInPieces)
{
    DiffView diff;
    diff.onlyInA.assign(10'000, std::string(100, 'x'));
    std::string text;
    std::size_t longest = 0;
    writeText(diff, [&](std::string_view piece) {
        text += piece;
        longest = std::max(longest, piece.size());
    });
    EXPECT_EQ(text, dump(written(diff)));
    EXPECT_LT(longest, 100'000U);
}

TEST(Description, AHeaderKeepsItsMetadata)
{
    HeaderView header;
    header.metadata = { { "format", "pt" }, { "step", "7" } };
    const json document = json::parse(written(header).dump());
    EXPECT_EQ(document["metadata"], json::parse(R"({"format":"pt","step":"7"})"));
    EXPECT_EQ(readAs<HeaderView>(document).metadata, header.metadata);
    json other = document;
    other["metadata"]["step"] = 7;
    EXPECT_THROW(readAs<HeaderView>(other), Unfit);
}

} // namespace
} // namespace deltascope::app

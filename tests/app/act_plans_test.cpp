#include "acts/act.h"

#include "run_views.h"
#include "support/temp_dir.h"

#include <gtest/gtest.h>

// What an act would do, from what is known of a run.

namespace deltascope::app {
namespace {

/// An anchor at 1, deltas to 4, 5 … 6 missing, 7 lost with them; and a newer epoch with 1 and 2.
class Plans : public testing::Test {
protected:
    Plans()
    {
        std::vector<StepView> old { stepView(1, "anchor"), stepView(2),   stepView(3),
                                    stepView(4),           gapStep(5, 6), stepView(7) };
        old[5].restorable = false;
        old[5].restore.reason = "it builds on step 6, which is missing";
        old[5].problems = { { "DS-CHAIN-GAP", 7, "step_7", "step 6 is missing", "publish an anchor" } };
        run = runView({ old, { stepView(1, "anchor"), stepView(2) } });
        for (EpochView& epoch : run.epochs) {
            for (StepView& step : epoch.steps) {
                if (step.state != "gap")
                    step.objects = { { step.name, step.wireBytes, step.publishedUs } };
                step.restore.deltas = static_cast<std::uint64_t>(step.step - 1);
                step.restore.bytes = 1'000'000 + step.restore.deltas * 5'000;
            }
        }
        auto heatmap = std::make_shared<HeatView>();
        heatmap->rows.resize(2);
        heatmap->rows[0].bytes = 700;
        heatmap->rows[1].bytes = 42;
        heat = heatmap;
        source.source = "/data/wordle";
    }

    Result<BoundPlan> tryBound(const ActRequest& request) const
    {
        const auto snapshot = snapshotOf(run);
        snapshot->heat = heat;
        return planAct(*snapshot, source, request, options);
    }
    BoundPlan bound(const ActRequest& request) const
    {
        const auto made = tryBound(request);
        EXPECT_TRUE(made) << made.error().text;
        return made.value_or(BoundPlan());
    }
    /// What the engine is asked for.
    ActValue argumentOf(const ActRequest& request, const std::string& name) const
    {
        const ActArgs args = bound(request).call.act.args;
        const auto found = args.find(name);
        EXPECT_NE(found, args.end()) << name;
        return found == args.end() ? ActValue() : found->second;
    }
    Result<PlanView> planOf(const ActRequest& request) const
    {
        DS_TRY(const BoundPlan made, tryBound(request));
        return made.view;
    }
    PlanView plan(const ActRequest& request) const
    {
        const auto made = planOf(request);
        EXPECT_TRUE(made) << made.error().text;
        return made.value_or(PlanView());
    }
    Code errorOf(const ActRequest& request) const
    {
        const auto made = planOf(request);
        EXPECT_FALSE(made) << made->cli;
        return made ? Code::Internal : made.error().code;
    }

    RunView run;
    std::shared_ptr<const HeatView> heat;
    SourceRequest source;
    MonitorOptions options { .outputFolder = "/out", .taskFolder = {} };
};

MaterializeArgs materialize(std::string step, std::string to = {})
{
    MaterializeArgs plan;
    plan.step = std::move(step);
    plan.to = std::move(to);
    return plan;
}

TEST_F(Plans, AMaterializationTellsWhatItReadsAndWrites)
{
    const PlanView view = plan(materialize("0:3"));
    EXPECT_EQ(view.kind, "materialize");
    EXPECT_EQ(view.run, "wordle");
    EXPECT_EQ(view.title, "Materialize step 3 of wordle");
    EXPECT_EQ(view.cli, "deltascope materialize /data/wordle@0:3 -o /out/wordle-step_000003");
    EXPECT_EQ(view.destination, "/out/wordle-step_000003");
    EXPECT_EQ(view.readBytes, 0U) << "the engine tells";
    EXPECT_EQ(view.writeBytes, 742U) << "all tensors";
    ASSERT_EQ(view.steps.size(), 4U);
    EXPECT_EQ(view.steps[0].text, "Read the base and 2 deltas");
    EXPECT_EQ(view.steps[0].bytes, 1'010'000U);
    EXPECT_TRUE(view.freeBytes) << "of the folder that exists, although the destination does not";
    EXPECT_TRUE(view.warnings.empty());
}

TEST_F(Plans, AStepIsOfTheNewestEpochThatHasIt)
{
    EXPECT_NE(plan(materialize("2")).cli.find("@1:2 "), std::string::npos);
    EXPECT_NE(plan(materialize("0:2")).cli.find("@0:2 "), std::string::npos);
    EXPECT_NE(plan(materialize("4")).cli.find("@0:4 "), std::string::npos);
}

TEST_F(Plans, WhatIsNoStepIsRefused)
{
    for (const char* step :
         { "", "x", "-1", "1x", " 1", "1:", ":1", "1:2:3", "0x1", "1.0", "99999999999999999999", "latest" })
        EXPECT_EQ(errorOf(materialize(step)), Code::Usage) << step;
}

TEST_F(Plans, AStepThatIsNotThereIsNotFound)
{
    for (const char* step : { "99", "0:99", "1:3", "7:1", "5", "6" })
        EXPECT_EQ(errorOf(materialize(step)), Code::NotFound) << step;
}

TEST_F(Plans, AStepThatIsLostIsRefusedWithItsReason)
{
    const auto made = planOf(materialize("7"));
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::ChainGap);
    EXPECT_EQ(made.error().text, "it builds on step 6, which is missing");
    EXPECT_EQ(made.error().remedyText(), "publish an anchor");
}

TEST_F(Plans, ADestinationHasShortNamesAndIsNotDeep)
{
    const std::string longest(255, 'x');
    EXPECT_EQ(plan(materialize("3", "a/" + longest)).destination, "/out/a/" + longest);
    EXPECT_EQ(errorOf(materialize("3", longest + "x")), Code::Usage);
    EXPECT_EQ(errorOf(materialize("3", longest + "x/a")), Code::Usage);
    EXPECT_EQ(plan(materialize("3", "1/2/3/4/5/6/7/8")).destination, "/out/1/2/3/4/5/6/7/8");
    EXPECT_EQ(errorOf(materialize("3", "1/2/3/4/5/6/7/8/9")), Code::Usage);
    EXPECT_EQ(errorOf(materialize("3", std::string(900'000, 'x'))), Code::Usage);
    const auto refused = planOf(materialize("3", std::string(900'000, '/') + "x"));
    ASSERT_FALSE(refused);
    EXPECT_LT(refused.error().where.size(), 5'000U) << "the answer does not repeat all of it";
}

TEST_F(Plans, RewrittenObjectsAreAcceptedByNameAndWithAWarning)
{
    const auto accepting = [](auto request) {
        request.acceptRewritten = true;
        return ActRequest(request);
    };
    for (const auto& [without, with] : std::vector<std::pair<ActRequest, ActRequest>> {
             { materialize("3"), accepting(materialize("3")) },
             { VerifyArgs { "", 2 }, accepting(VerifyArgs { "", 2 }) },
             { DiffArgs { "1", "2" }, accepting(DiffArgs { "1", "2" }) } }) {
        const PlanView careful = plan(without);
        const PlanView accepts = plan(with);
        EXPECT_EQ(careful.cli.find("--accept-rewritten"), std::string::npos);
        EXPECT_NE(accepts.cli.find(" --accept-rewritten"), std::string::npos) << accepts.cli;
        EXPECT_EQ(accepts.warnings.size(), careful.warnings.size() + 1);
        EXPECT_EQ(argumentOf(without, "accept_rewritten"), ActValue(false));
        EXPECT_EQ(argumentOf(with, "accept_rewritten"), ActValue(true));
    }
}

TEST_F(Plans, ALostStepIsPlannedAcrossTheGapOnRequest)
{
    MaterializeArgs request = materialize("7");
    request.acrossGap = true;
    EXPECT_NE(plan(request).cli.find(" --across-gap"), std::string::npos);
}

TEST_F(Plans, ADestinationIsBelowTheOutputFolder)
{
    for (const char* to :
         { "../x", "/etc/x", "a/../../b", "..", ".", "a/..", "a/../..", "./../x", "//x", "a/./../../x" })
        EXPECT_EQ(errorOf(materialize("4", to)), Code::Usage) << to;
    EXPECT_EQ(plan(materialize("4", "a/b")).destination, "/out/a/b");
    EXPECT_EQ(plan(materialize("4", "a/../b")).destination, "/out/b");
    EXPECT_EQ(plan(materialize("4", "..x")).destination, "/out/..x");
}

TEST_F(Plans, ADestinationIsAFolderWithOrWithoutASlash)
{
    EXPECT_EQ(plan(materialize("4", "a/")).destination, "/out/a");
    EXPECT_EQ(plan(materialize("4", "./a//")).destination, "/out/a");
}

TEST_F(Plans, WhereAnyFolderIsAllowedAPathIsTakenAsItIs)
{
    options.anyFolder = true;
    EXPECT_EQ(plan(materialize("4", "/data/of mine/x")).destination, "/data/of mine/x");
    EXPECT_EQ(plan(materialize("4", "a/b")).destination, "/out/a/b");
    EXPECT_EQ(errorOf(materialize("4", "../x")), Code::Usage);
    EXPECT_EQ(errorOf(materialize("4", "/")), Code::Usage);
    EXPECT_EQ(errorOf(materialize("4", "/data/\nx")), Code::Usage);
}

TEST_F(Plans, AFolderWithCheckpointsOfAnotherRunIsWarnedOf)
{
    const test::TempDir folder;
    options.anyFolder = true;
    const auto warnings = [&] { return plan(materialize("1", folder.path("out/new"))).warnings; };
    const auto put = [&](const std::string& name, const std::string& provenance) {
        folder.write("out/" + name + "/deltascope.provenance.json", provenance);
    };
    EXPECT_TRUE(warnings().empty());
    put("broken", "{");
    put("silent", "{\"source\": 7}");
    put("plain", "[]");
    folder.write("out/file", "text");
    EXPECT_TRUE(warnings().empty());
    put("theirs", "{\"source\": \"file:///data/other\"}");
    ASSERT_EQ(warnings().size(), 1U);
    EXPECT_EQ(warnings().front(),
              "The folder " + folder.path("out") + " holds checkpoints of another run: file:///data/other.");
    options.anyFolder = false; // then all runs have one output folder
    options.outputFolder = folder.path("out");
    EXPECT_TRUE(plan(materialize("1", "new")).warnings.empty());
    options.anyFolder = true;
    put("ours", "{\"source\": \"" + snapshotOf(run)->source + "\"}"); // somebody has chosen it
    EXPECT_TRUE(warnings().empty());
}

TEST_F(Plans, ADestinationHoldsNoControlCharacters)
{
    for (const std::string& to : { std::string("..\0", 3), std::string("a\0/x", 4), std::string("a\nb"),
                                   std::string("\x1b[2J"), std::string("a\x7f") })
        EXPECT_EQ(errorOf(materialize("4", to)), Code::Usage);
}

TEST_F(Plans, ACommandLineIsQuotedForTheShell)
{
    source.source = "/data/it's $HOME";
    source.base = "/base models/a";
    source.layout = "trl-v2";
    EXPECT_EQ(
        plan(materialize("4", "x;y")).cli,
        R"(deltascope materialize '/data/it'\''s $HOME@0:4' -o '/out/x;y' --base '/base models/a' --layout trl-v2)");
    EXPECT_EQ(plan(VerifyArgs { "1..2; rm", 1 }).cli,
              R"(deltascope verify '/data/it'\''s $HOME@1..2; rm' --level 1 --base '/base models/a' --layout trl-v2)");
}

TEST_F(Plans, OptionsAreInTheCommandLine)
{
    MaterializeArgs request = materialize("4");
    request.trained = true;
    request.shardBytes = 5'000;
    EXPECT_TRUE(plan(request).cli.ends_with(" --state trained --shard-size 5000"));
}

TEST_F(Plans, AnUnprovenStepIsWarnedOf)
{
    run.epochs[1].steps[1].proven = false;
    EXPECT_EQ(plan(materialize("2")).warnings.size(), 1U);
}

// --- what the engine is asked for ------------------------------------------------------------------------------------

TEST_F(Plans, TheEngineIsAskedForTheStepsThatAreMeant)
{
    EXPECT_EQ(argumentOf(materialize("2"), "step"), ActValue(std::string("1:2")));
    EXPECT_EQ(argumentOf(materialize("4"), "step"), ActValue(std::string("0:4")));
    EXPECT_EQ(argumentOf(DiffArgs { "0:2", "2" }, "a"), ActValue(std::string("0:2")));
    EXPECT_EQ(argumentOf(DiffArgs { "0:2", "2" }, "b"), ActValue(std::string("1:2")));
    EXPECT_EQ(argumentOf(materialize("4", "x"), "to"), ActValue(std::string("/out/x")));
    MaterializeArgs trained = materialize("4");
    trained.trained = true;
    EXPECT_EQ(argumentOf(trained, "state"), ActValue(std::string("trained")));
    EXPECT_EQ(argumentOf(VerifyArgs { "0:3..4", 3 }, "range"), ActValue(std::string("0:3..4")));
    EXPECT_EQ(argumentOf(VerifyArgs { "", 3 }, "level"), ActValue(std::int64_t { 3 }));
}

TEST_F(Plans, AVerificationGoesUpToTheNewestStepThatIsWhole)
{
    EXPECT_EQ(argumentOf(VerifyArgs(), "until"), ActValue(std::string("1:2")));
    run.epochs[1].steps.push_back(stepView(3));
    run.epochs[1].steps.back().epoch = 1;
    EXPECT_EQ(argumentOf(VerifyArgs(), "until"), ActValue(std::string("1:3")));
    run.epochs[1].steps.back().state = "publishing";
    EXPECT_EQ(argumentOf(VerifyArgs(), "until"), ActValue(std::string("1:2")));
    run.epochs.clear();
    EXPECT_EQ(argumentOf(VerifyArgs(), "until"), ActValue(std::string("")));
}

TEST_F(Plans, WhatWasLeftOpenIsSettled)
{
    EXPECT_EQ(bound(materialize("2")).settled, (ActArgs { { "step", std::string("1:2") } }));
    EXPECT_EQ(bound(DiffArgs { "2", "0:4" }).settled,
              (ActArgs { { "a", std::string("1:2") }, { "b", std::string("0:4") } }));
    EXPECT_EQ(bound(VerifyArgs()).settled, (ActArgs { { "until", std::string("1:2") } }));
    EXPECT_EQ(std::get<std::string>(bound(VerifyArgs()).request.args.at("until")), "") << "as it was asked for";
}

TEST_F(Plans, WhatIsWrittenStaysBelowTheOutputFolder)
{
    EXPECT_EQ(bound(materialize("2")).call.below, "/out");
    options.anyFolder = true;
    EXPECT_EQ(bound(materialize("2")).call.below, "");
}

// --- verify and diff -------------------------------------------------------------------------------------------------

TEST_F(Plans, AVerificationWritesNothing)
{
    const PlanView view = plan(VerifyArgs { "3..9", 3 });
    EXPECT_EQ(view.title, "Verify 3..9 of wordle, level 3");
    EXPECT_EQ(view.cli, "deltascope verify /data/wordle@3..9 --level 3");
    EXPECT_EQ(view.destination, "");
    EXPECT_EQ(view.writeBytes, 0U);
    EXPECT_EQ(view.freeBytes, std::nullopt);
    EXPECT_EQ(view.steps.size(), 3U);
    EXPECT_EQ(plan(VerifyArgs { "", 0 }).steps.size(), 1U);
}

TEST_F(Plans, LevelsGoFromZeroToFour)
{
    for (int level = 0; level <= 4; ++level)
        plan(VerifyArgs { "", level });
    EXPECT_EQ(errorOf(VerifyArgs { "", 5 }), Code::Usage);
    EXPECT_EQ(errorOf(VerifyArgs { "", -1 }), Code::Usage);
}

TEST_F(Plans, ADiffReadsBothStates)
{
    const PlanView view = plan(DiffArgs { "0:2", "0:4" });
    EXPECT_EQ(view.title, "Compare steps 2 and 4 of wordle");
    EXPECT_EQ(view.cli, "deltascope diff /data/wordle@0:2 /data/wordle@0:4");
    ASSERT_EQ(view.steps.size(), 2U);
    EXPECT_EQ(view.steps[0].bytes, 1'005'000U);
    EXPECT_EQ(view.steps[1].bytes, 1'015'000U);
    EXPECT_EQ(errorOf(DiffArgs { "2", "7" }), Code::ChainGap);
    EXPECT_EQ(errorOf(DiffArgs { "2", "" }), Code::Usage);
}

TEST_F(Plans, ARunThatIsBeingOpenedHasNone)
{
    RunSnapshot opening;
    const auto made = planAct(opening, source, VerifyArgs(), { .outputFolder = "/out", .taskFolder = {} });
    ASSERT_FALSE(made);
    EXPECT_EQ(made.error().code, Code::Transient) << "it may be there in a moment";
}

} // namespace
} // namespace deltascope::app

#include "deltascope/app/view/health_view.h"

#include "monitor_fixture.h"
#include "run_views.h"

#include <gtest/gtest.h>

// What the first tile of a run says.

namespace deltascope::app {
namespace {

/// Anchors at 0 and 5, deltas up to 9.
RunView soundRun()
{
    std::vector<StepView> steps;
    for (std::int64_t step = 0; step < 10; ++step)
        steps.push_back(stepView(step, step % 5 == 0 ? "anchor" : "delta"));
    return runView({ steps });
}

StepView& stepOf(RunView& run, std::int64_t step)
{
    return *std::find_if(run.epochs.back().steps.begin(), run.epochs.back().steps.end(),
                         [step](const StepView& view) { return view.step == step; });
}

VerifiedSteps verified(const RunView& run, const char* result, int level = 2)
{
    VerifiedSteps all;
    for (const StepView* step : newestSteps(run))
        all[{ step->epoch, step->step }] = { level, result, 0 };
    return all;
}

ProblemView problem(const char* code, std::int64_t step)
{
    return { code, step, "object", "in other words", "Do this." };
}

TEST(Health, OfARunWithoutStepsIsNotKnown)
{
    EXPECT_EQ(makeHealth(runView({}), {}).state, "");
    EXPECT_EQ(makeHealth(runView({ {} }), {}).state, "");
}

TEST(Health, OfASoundRunIsWhatIsProvenToWhichStep)
{
    const RunView run = soundRun();
    const HealthView seen = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(seen.state, "sound");
    EXPECT_EQ(seen.headline, "Bytes as first read, which may be just now, to step 9");
    EXPECT_EQ(seen.restorable, "Can be restored: from step 0 on");
    EXPECT_EQ(seen.remedy, "");
    EXPECT_EQ(seen.step, std::nullopt);
    EXPECT_EQ(seen.restore, 9);
    EXPECT_EQ(makeHealth(run, verified(run, "verified", 3)).headline,
              "Checked to step 9: as their publisher recorded them");
    EXPECT_EQ(makeHealth(run, verified(run, "consistent", 4)).headline,
              "Checked to step 9: they lead to the complete states that were published");
}

TEST(Health, TheWeakestStepSpeaksForAll)
{
    const RunView run = soundRun();
    VerifiedSteps steps = verified(run, "verified", 3);
    steps[{ 0, 2 }].result = "first_sight";
    EXPECT_EQ(makeHealth(run, steps).headline, "Bytes as first read, which may be just now, to step 9");
}

TEST(Health, WhatIsNotCheckedYetIsCountedAndNotCalledProven)
{
    const RunView run = soundRun();
    EXPECT_EQ(makeHealth(run, {}).state, "unchecked");
    EXPECT_EQ(makeHealth(run, {}).headline, "No step is checked yet");
    VerifiedSteps steps = verified(run, "first_sight");
    steps.erase({ 0, 7 }); // 8 and 9 build on it
    EXPECT_EQ(makeHealth(run, steps).headline,
              "Bytes as first read, which may be just now, to step 6; 3 newer not checked yet");
}

TEST(Health, ALostStepIsTheDamageWithItsEndAndTheWayOut)
{
    RunView run = soundRun();
    std::erase_if(run.epochs.back().steps, [](const StepView& step) { return step.step == 2; });
    run.epochs.back().steps.insert(run.epochs.back().steps.begin() + 2, gapStep(2, 2));
    for (const std::int64_t step : { 3, 4 }) {
        stepOf(run, step).restorable = false;
        stepOf(run, step).problems = { problem("DS-CHAIN-GAP", step) };
    }
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.state, "broken");
    EXPECT_EQ(health.headline, "Step 2 is lost: steps 3 and 4 cannot be rebuilt");
    EXPECT_EQ(health.proven, "Bytes as first read, which may be just now, to step 1")
        << "what lies behind the hole is not joined";
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 and 1, and from 5 on");
    EXPECT_EQ(health.remedy, "Put step 2 back if there is a copy of it");
    EXPECT_EQ(health.step, 3);
    EXPECT_EQ(health.restore, 9);
    EXPECT_EQ(health.problem->code, "DS-CHAIN-GAP");
    EXPECT_EQ(healthText(health),
              "Step 2 is lost: steps 3 and 4 cannot be rebuilt. Bytes as first read, which may be just now, to step 1. "
              "Can be restored: steps 0 and 1, and from 5 on. Put step 2 back if there is a copy of it");
}

TEST(Health, WhereNoNumberIsMissingTheBaseMayLackWhatIsLost)
{
    RunView run = soundRun();
    for (const std::int64_t step : { 3, 4 }) {
        stepOf(run, step).restorable = false;
        stepOf(run, step).problems = { problem("DS-CHAIN-GAP", step) };
    }
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.headline, "Step 3 was not written against step 2 as it is here: steps 3 and 4 cannot be rebuilt");
    EXPECT_EQ(health.remedy, "Put what is lost back if there is a copy of it; step 2 may lack it, too");
}

TEST(Health, DamageOfTheNewestStepsIsSaidBeforeOlderDamage)
{
    RunView run = soundRun();
    for (const std::int64_t step : { 4, 8, 9 }) {
        stepOf(run, step).restorable = false;
        stepOf(run, step).state = step == 9 ? "complete" : "broken";
        stepOf(run, step).problems = { problem("DS-DIGEST", step) };
    }
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.headline, "Step 8 is damaged: steps 8 and 9 cannot be rebuilt; 1 more stretch is damaged");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 3, steps 5 to 7");
    EXPECT_EQ(health.remedy,
              "Put a sound step 8 back if there is a copy of it. "
              "The next complete state that is published ends the damage");
    EXPECT_EQ(health.restore, 7);
}

/// soundRun() with suspect steps.
RunView suspectRun(std::initializer_list<std::int64_t> suspects)
{
    RunView run = soundRun();
    for (const std::int64_t step : suspects)
        stepOf(run, step).problems = { problem("DS-SUSPECT-VALUES", step) };
    return run;
}

/// Gives a delta a complete form beside it, as some trainers publish both.
void addCompleteForm(StepView& step, bool isUsed)
{
    FormView delta;
    delta.kind = "delta";
    delta.baseStep = step.baseStep;
    delta.isUsed = !isUsed;
    FormView full;
    full.kind = "anchor";
    full.isUsed = isUsed;
    step.forms = { delta, full };
}

TEST(Health, DamageEndsWhereACompleteFormStandsBesideADelta)
{
    RunView run = soundRun();
    for (const std::int64_t step : { 1, 2, 8 }) {
        stepOf(run, step).restorable = false;
        stepOf(run, step).state = step == 2 ? "complete" : "broken";
        stepOf(run, step).problems = { problem("DS-DIGEST", step) };
    }
    stepOf(run, 9).restorable = false;
    addCompleteForm(stepOf(run, 3), true);
    stepOf(run, 3).forms[0].restore.reason = "it builds on step 1";
    HealthView health = makeHealth(run, {});
    EXPECT_EQ(health.headline, "Step 8 is damaged: steps 8 and 9 cannot be rebuilt; 1 more stretch is damaged");
    EXPECT_EQ(health.restorable, "Can be restored: step 0, steps 3 to 7");

    stepOf(run, 3).forms[1].restore.reason = "it is damaged, too"; // and the run says that nothing leads to it
    stepOf(run, 3).forms[1].isUsed = false;
    for (const std::int64_t step : { 3, 4 })
        stepOf(run, step).restorable = false;
    health = makeHealth(run, {});
    EXPECT_EQ(health.restorable, "Can be restored: step 0, steps 5 to 7");
}

TEST(Health, DamageThatAVerificationSawSparesWhatHasACompleteForm)
{
    RunView run = soundRun();
    addCompleteForm(stepOf(run, 3), false);
    VerifiedSteps steps = verified(run, "first_sight");
    steps[{ 0, 2 }] = { 2, "damaged", 0, problem("DS-DIGEST", 2) };
    const HealthView health = makeHealth(run, steps);
    EXPECT_EQ(health.headline, "Step 2 is damaged and cannot be rebuilt");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 and 1, and from 3 on");
}

TEST(Health, DoubtsEndAtTheCompleteFormThatIsUsed)
{
    RunView run = suspectRun({ 2 });
    addCompleteForm(stepOf(run, 4), true);
    EXPECT_EQ(makeHealth(run, {}).restorable, "Can be restored: steps 0 and 1, and from 4 on");
    addCompleteForm(stepOf(run, 4), false);
    EXPECT_EQ(makeHealth(run, {}).restorable, "Can be restored: steps 0 and 1, and from 5 on");
}

TEST(Health, DoubtsBesideDamageAreNamed)
{
    RunView run = suspectRun({ 7 });
    stepOf(run, 4).restorable = false;
    stepOf(run, 4).state = "broken";
    stepOf(run, 4).problems = { problem("DS-DIGEST", 4) };
    EXPECT_EQ(makeHealth(run, {}).headline, "Step 4 is damaged and cannot be rebuilt; steps 7 to 9 are in doubt");
    EXPECT_EQ(makeHealth(run, {}).restorable, "Can be restored: steps 0 to 3, steps 5 and 6");
    run.epochs.back().steps.resize(8);
    EXPECT_EQ(makeHealth(run, {}).headline, "Step 4 is damaged and cannot be rebuilt; step 7 is in doubt");
}

TEST(Health, NeighborsThatStandAloneHaveEachAFaultOfTheirOwn)
{
    RunView run = soundRun();
    for (StepView& step : run.epochs.back().steps)
        step.baseStep.reset();
    stepOf(run, 4).state = "broken";
    stepOf(run, 4).restorable = false;
    stepOf(run, 4).problems = { problem("DS-UNFINISHED", 4) };
    stepOf(run, 5).problems = { problem("DS-REWRITTEN", 5) };
    const HealthView older = makeHealth(run, {});
    EXPECT_EQ(older.headline, "Step 4 is not whole and cannot be rebuilt; 1 more stretch is damaged");
    EXPECT_EQ(older.remedy, "Put what is missing back if there is a copy of it");
    EXPECT_EQ(older.restorable, "Can be restored: steps 0 to 3, and from 6 on");

    run.epochs.back().steps.resize(6);
    const HealthView newest = makeHealth(run, {});
    EXPECT_EQ(newest.headline, "Step 5 is no longer what was first read and cannot be used; 1 more stretch is damaged");
    EXPECT_EQ(newest.step, 5);
}

TEST(Health, ACheckpointThatWasNotGivenIsOneFaultOfAllThatBuildOnIt)
{
    RunView run = soundRun();
    for (StepView& step : run.epochs.back().steps) {
        step.baseStep.reset();
        step.restorable = false;
        step.problems = { problem("DS-BASE-MISSING", step.step) };
    }
    EXPECT_EQ(makeHealth(run, {}).headline,
              "The checkpoint that step 0 builds on was not given: steps 0 to 9 cannot be rebuilt");
}

TEST(Health, DamageThatOnlyAVerificationSawTakesAlongWhatBuildsOnIt)
{
    const RunView run = soundRun(); // all of it can be rebuilt, as far as reading it tells
    VerifiedSteps steps = verified(run, "first_sight");
    steps[{ 0, 3 }] = { 2, "damaged", 0, problem("DS-DIGEST", 3) };
    const HealthView health = makeHealth(run, steps);
    EXPECT_EQ(health.headline, "Step 3 is damaged: steps 3 and 4 cannot be rebuilt");
    EXPECT_EQ(health.problem->text, "in other words");
}

TEST(Health, RewrittenBytesAreNotUsedEvenWhereTheirPublisherVouchesForThem)
{
    const RunView run = soundRun();
    VerifiedSteps steps = verified(run, "verified", 3);
    steps[{ 0, 7 }].problem = problem("DS-REWRITTEN", 7);
    const HealthView health = makeHealth(run, steps);
    EXPECT_EQ(health.state, "broken");
    EXPECT_EQ(health.headline, "Step 7 is no longer what was first read: steps 7 to 9 cannot be used");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 6");
    EXPECT_EQ(health.remedy, "If it was rewritten on purpose, accept what is there now; else put the first bytes back");
}

TEST(Health, WhatTheRecordsCallRewrittenIsNotUsedBeforeItIsVerified)
{
    RunView run = soundRun();
    stepOf(run, 5).problems = { problem("DS-REWRITTEN", 5) };
    const HealthView health = makeHealth(run, {});
    EXPECT_EQ(health.state, "broken");
    EXPECT_EQ(health.headline, "Step 5 is no longer what was first read: steps 5 to 9 cannot be used");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 4");
    EXPECT_EQ(health.problem->where, "object");
    EXPECT_EQ(health.restore, 4);
    EXPECT_EQ(makeHealth(run, verified(run, "first_sight")).state, "sound") << "it was verified since";
}

TEST(Health, ARewrittenBaseIsNamedAsTheBase)
{
    RunView run = soundRun();
    ProblemView base = problem("DS-REWRITTEN", 0);
    base.step.reset();
    stepOf(run, 0).problems = { base };
    for (const VerifiedSteps& steps : { VerifiedSteps(), verified(run, "first_sight") })
        EXPECT_EQ(
            makeHealth(run, steps).headline,
            "The checkpoint that was given for step 0 is no longer what was first read: steps 0 to 4 cannot be used");
}

TEST(Health, RewrittenBytesThatAreDamagedTooAreDamaged)
{
    RunView run = soundRun();
    VerifiedSteps steps = verified(run, "first_sight");
    steps[{ 0, 9 }] = { 2, "damaged", 0, problem("DS-REWRITTEN", 9) };
    EXPECT_EQ(makeHealth(run, steps).headline, "Step 9 is damaged and cannot be rebuilt");
    stepOf(run, 9).restorable = false;
    stepOf(run, 9).problems = { problem("DS-HOSTILE", 9) };
    EXPECT_EQ(makeHealth(run, steps).problem->code, "DS-HOSTILE");
}

TEST(Health, SuspectValuesAreADoubtUntilTheNextCompleteState)
{
    RunView run = soundRun();
    stepOf(run, 2).problems = { problem("DS-SUSPECT-VALUES", 2) };
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.state, "doubtful");
    EXPECT_EQ(health.headline, "Values of step 2 look broken: do not rely on steps 2 to 4");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 and 1, and from 5 on") << "what is in doubt is not offered";
    EXPECT_EQ(health.proven, "Bytes as first read, which may be just now, to step 1");
    EXPECT_EQ(health.remedy, "Do this.");
    EXPECT_EQ(health.step, 2);
}

TEST(Health, ARollBackToASoundStepEndsADoubtAboutValues)
{
    RunView run = suspectRun({ 6, 7 });
    stepOf(run, 8).restores = 3;
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.headline, "Values of step 6 look broken: do not rely on steps 6 and 7");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 5, and from 8 on");
}

TEST(Health, ARollBackToASuspectStepIsWarnedOfWithIt)
{
    RunView run = suspectRun({ 4, 8, 9 }); // 5 is a sound anchor
    stepOf(run, 8).restores = 4;
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.headline, "Values of step 4 look broken: do not rely on step 4, steps 8 and 9");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 3, steps 5 to 7");
    EXPECT_EQ(health.restore, 9);
    stepOf(run, 8).restores.reset();
    EXPECT_EQ(makeHealth(run, {}).headline, "Values of step 4 look broken: do not rely on step 4")
        << "steps 8 and 9 have a fault of their own";
}

TEST(Health, ARollBackEndsEveryDoubtAboutAState)
{
    RunView run = suspectRun({ 4 });
    stepOf(run, 5).problems = { problem("DS-REVERTED", 5) };
    stepOf(run, 6).restores = 3;
    stepOf(run, 7).restores = 5;
    stepOf(run, 8).restores = 6;
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.headline, "Values of step 4 look broken: do not rely on steps 4 and 5, step 7");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 3, step 6, and from 8 on");
}

TEST(Health, WhatRollBacksPartAndRepeatIsNamedInStretches)
{
    RunView run = suspectRun({ 6, 8 });
    stepOf(run, 7).restores = 3;
    stepOf(run, 8).restores = 6;
    stepOf(run, 9).restores = 7;
    const HealthView health = makeHealth(run, verified(run, "first_sight"));
    EXPECT_EQ(health.headline, "Values of step 6 look broken: do not rely on step 6, step 8");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 5, step 7, and from 9 on");
    EXPECT_EQ(makeHealth(suspectRun({ 6, 8 }), {}).headline,
              "Values of step 6 look broken: do not rely on steps 6 to 9")
        << "nothing is restored here";
}

TEST(Health, ARollBackTakesNoStateOverThatCannotBeUsed)
{
    RunView run = soundRun();
    stepOf(run, 8).restores = 3;
    stepOf(run, 3).restorable = false;
    stepOf(run, 3).problems = { problem("DS-DIGEST", 3) };
    EXPECT_EQ(makeHealth(run, {}).restorable, "Can be restored: steps 0 to 2, and from 5 on")
        << "it does not read the step that it restores";
    stepOf(run, 7).restorable = false;
    stepOf(run, 7).problems = { problem("DS-DIGEST", 7) };
    EXPECT_EQ(makeHealth(run, {}).restorable, "Can be restored: steps 0 to 2, steps 5 and 6")
        << "it is a delta from the step before it";
}

TEST(Health, NoStepIsWarnedOfAndOffered)
{
    RunView run = soundRun();
    stepOf(run, 0).problems = { problem("DS-MISSING-TENSOR", 0) };
    const std::vector<StepView> steps = run.epochs.back().steps;
    run.epochs.back().steps.assign(steps.begin(), steps.begin() + 1);
    const HealthView health = makeHealth(run, {});
    EXPECT_EQ(health.headline, "Step 0 contradicts itself: do not rely on step 0");
    EXPECT_EQ(health.restorable, "What can be restored is in doubt");
}

TEST(Health, AnUnexplainedHoleIsADoubt)
{
    RunView run = soundRun();
    run.epochs.back().steps.erase(run.epochs.back().steps.begin() + 7);
    run.epochs.back().steps.insert(run.epochs.back().steps.begin() + 7, gapStep(7, 7));
    stepOf(run, 8).problems = { problem("DS-UNPROVEN", 8) };
    stepOf(run, 8).baseStep = 6;
    EXPECT_EQ(makeHealth(run, verified(run, "first_sight")).headline,
              "Step 7 may be lost: do not rely on steps 8 and 9");
}

TEST(Health, WhatIsStillBeingPublishedIsNoDamage)
{
    RunView run = soundRun();
    stepOf(run, 9).state = "publishing";
    stepOf(run, 9).restorable = false;
    VerifiedSteps steps = verified(run, "first_sight");
    steps.erase({ 0, 9 });
    const HealthView health = makeHealth(run, steps);
    EXPECT_EQ(health.state, "sound");
    EXPECT_EQ(health.restorable, "Can be restored: steps 0 to 8") << "the one that is on its way cannot be yet";
}

TEST(Health, OnlyNoticesOfAVerificationRaiseNoDoubt)
{
    const RunView run = soundRun();
    EXPECT_EQ(makeHealth(run, verified(run, "unverified", 0)).state, "unchecked") << "nothing was compared";
    VerifiedSteps steps = verified(run, "first_sight");
    steps[{ 0, 4 }] = { 2, "unverified", 0, problem("DS-CATALOG", 4) };
    EXPECT_EQ(makeHealth(run, steps).headline, "Step 4 could not be checked: do not rely on step 4");
}

TEST(Health, VerdictsOfOlderRulesAreADoubt)
{
    const HealthView health = makeHealth(soundRun(), {}, true);
    EXPECT_EQ(health.state, "doubtful");
    EXPECT_EQ(health.headline, "The verdicts in this bundle were made by older rules: do not rely on them");
    EXPECT_EQ(health.remedy, "Export the run again, or verify it where it lies");
    EXPECT_EQ(health.restorable, "Can be restored: from step 0 on");
}

// --- real runs -------------------------------------------------------------------------------------------------------

class HealthOf : public MonitorFixture {
protected:
    HealthView golden(const std::string& name, bool withBase = true)
    {
        const BucketCopy bucket(name);
        SourceRequest source = bucket.source();
        if (!withBase)
            source.base = {};
        return makeHealth(*viewOf<RunView>(service->openRun(source, Depth::Replayed)), {});
    }
};

TEST_F(HealthOf, DamagedBucketsNamesTheirFirstFault)
{
    const HealthView gap = golden("trl-v2-gap-in-chain");
    EXPECT_EQ(gap.headline, "Step 6 is lost: steps 7 to 9 cannot be rebuilt");
    EXPECT_EQ(gap.restorable, "Can be restored: steps 1 to 5, and from 10 on");
    EXPECT_EQ(golden("trl-v1.0-badhash").headline, "Step 8 is damaged: steps 8 to 11 cannot be rebuilt");
    EXPECT_EQ(golden("trl-v2-truncated").headline, "Step 13 is damaged and cannot be rebuilt");
    EXPECT_EQ(golden("slime-v2-gap-in-chain").headline, "Step 4 is lost: steps 5 and 6 cannot be rebuilt");
    EXPECT_EQ(golden("slime-v2-wrongbase").headline,
              "Step 1 does not fit the checkpoint that was given: steps 1 to 3 cannot be rebuilt");
    EXPECT_EQ(golden("slime-v2-xor", false).headline,
              "The checkpoint that step 1 builds on was not given: steps 1 to 9 cannot be rebuilt");
    EXPECT_EQ(golden("skyrl-missing-payload").headline, "Step 3 is not whole: steps 3 and 4 cannot be rebuilt");
    EXPECT_EQ(golden("grail-badhash").headline,
              "Step 2730 is damaged: steps 2730 to 2850 cannot be rebuilt; 1 more stretch is damaged");
    EXPECT_EQ(golden("grail-badhash").restorable, "Can be restored: steps 2610 to 2640, step 2700");
}

TEST_F(HealthOf, AHoleThatNothingExplainsIsADoubtAndNoDamage)
{
    EXPECT_EQ(golden("trl-v2-empty-step").headline, "Step 5 may be lost: do not rely on steps 6 to 9");
}

TEST_F(HealthOf, SoundBucketsIsNotInDoubt)
{
    for (const char* name : { "trl-v2-gap", "trl-v1.2", "slime-v2-xor", "slime-v1-deltas", "grail", "modelexpress",
                              "skyrl", "hf-single", "trl-v2-restart" })
        EXPECT_EQ(golden(name).state, "unchecked") << name << ": " << golden(name).headline;
}

TEST(HealthWithoutContact, IsSoundNoLongerAndNotDamaged)
{
    const ProblemView why { "DS-NOT-FOUND", {}, "file:///run", "there is no such folder", "Look for it." };
    HealthView sound;
    sound.state = "sound";
    sound.restorable = "Can be restored: from step 1 on";
    const HealthView lost = withoutContact(sound, why, std::int64_t { 14 * 3600 + 5 * 60 } * 1'000'000);
    EXPECT_EQ(lost.state, "no_contact");
    EXPECT_EQ(lost.headline, "No contact since 14:05 UTC, sound until then");
    EXPECT_EQ(lost.restorable, "Could be restored then: from step 1 on");
    EXPECT_EQ(lost.remedy, "Look for it.");

    HealthView broken;
    broken.state = "broken";
    broken.headline = "Step 4 is damaged";
    const HealthView still = withoutContact(broken, why, 0);
    EXPECT_EQ(still.state, "broken");
    EXPECT_EQ(still.headline, "No contact. At the last look: Step 4 is damaged");
}

TEST_F(HealthOf, ARewrittenObjectIsToldUntilItIsAccepted)
{
    const BucketCopy bucket("trl-v1.2");
    const std::string id = monitor->follow(bucket.source(), "", false);
    const Snapshot before = runWhen(id, [](const RunSnapshot& run) { return run.verified.contains({ 0, 13 }); });
    EXPECT_EQ(makeRunSummary(before).health.headline, "Bytes as first read, which may be just now, to step 13");
    const std::string key = "deltas/step_000012.safetensors";
    bucket.damage(key, std::filesystem::file_size(bucket.file(key)) - 1); // of a value
    const Snapshot rewritten = runWhen(id, [](const RunSnapshot& run) {
        const auto verified = run.verified.find({ 0, 12 });
        return verified != run.verified.end() && verified->second.problem;
    });
    EXPECT_EQ(makeRunSummary(rewritten).health.headline,
              "Step 12 is no longer what was first read: steps 12 and 13 cannot be used");
    VerifyArgs accepting;
    accepting.acceptRewritten = true;
    const PlanView plan = planOf(id, accepting);
    ASSERT_TRUE(monitor->start(plan.id, plan.hash, "me"));
    const Snapshot accepted = runWhen(id, [](const RunSnapshot& run) {
        const auto verified = run.verified.find({ 0, 12 });
        return verified != run.verified.end() && !verified->second.problem;
    });
    EXPECT_EQ(makeRunSummary(accepted).health.headline, "Bytes as first read, which may be just now, to step 13");
}

TEST_F(HealthOf, ANewRunThatComesPieceByPieceIsSoundOnceItIsThere)
{
    namespace fs = std::filesystem;
    const std::string anchor = "anchors/step_000001.safetensors";
    const std::string delta = "deltas/step_000002.safetensors";
    const BucketCopy bucket("trl-v2-raw", [&](const std::string& key) { return key == anchor || key == delta; });
    const auto put = [&](const std::string& key) { // as writers that rename do
        fs::copy_file(test::goldenPath("trl-v2-gap/bucket/") + key, bucket.file("new"));
        fs::rename(bucket.file("new"), bucket.file(key));
    };
    const std::string id = monitor->follow(bucket.source(), "", false);
    runWhen(id, [](const RunSnapshot& run) { return run.verified.contains({ 0, 2 }); });
    fs::remove(bucket.file(delta));
    put(anchor);
    const Snapshot begun = runWhen(id, [](const RunSnapshot& run) {
        const auto verified = run.verified.find({ 0, 1 });
        return verified != run.verified.end() && verified->second.problem;
    });
    EXPECT_EQ(makeRunSummary(begun).health.state, "broken") << "it may be damage as well";
    put(delta);
    const Snapshot whole = runWhen(id, [](const RunSnapshot& run) {
        return makeRunSummary(std::make_shared<RunSnapshot>(run)).health.state == "sound";
    });
    EXPECT_EQ(makeRunSummary(whole).health.headline, "Bytes as first read, which may be just now, to step 2");
}

} // namespace
} // namespace deltascope::app

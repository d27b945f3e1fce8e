#include "deltascope/engine/operations.h"

#include "audit/first_state.h"
#include "publish_fixture.h"
#include "run_steps.h"
#include "session.h"
#include "support/memory_store.h"

#include <algorithm>

// What is found in the values of complete checkpoints, by themselves and beside the one before.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::uint16_t One = 0x3f80;
constexpr std::uint16_t Infinity = 0x7f80;
constexpr std::uint16_t MinusInfinity = 0xff80;

FileTensor bf16(std::string name, Bits words)
{
    std::string bytes(asText(std::as_bytes(std::span(words))));
    return { tensor(std::move(name), { words.size() }), std::move(bytes) };
}

Bits weights(std::uint16_t seed = 0, std::size_t elements = 64)
{
    Bits words(elements);
    for (std::size_t i = 0; i < elements; ++i)
        words[i] = static_cast<std::uint16_t>(0x3c00 + (i * 7 + seed) % 256);
    return words;
}

Bits with(Bits words, std::size_t at, std::uint16_t word)
{
    words[at] = word;
    return words;
}

using Tensors = std::vector<FileTensor>;

/// A run of plain checkpoints, a hundred steps apart.
struct Checkpoints {
    Checkpoints& add(const Tensors& tensors)
    {
        last += 100;
        EXPECT_TRUE(putText(*store, fmt::format("checkpoint-{}/model.safetensors", last), safetensorsFile(tensors)));
        return *this;
    }
    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
    std::int64_t last = 0;
};

Run judged(Session& session, const Checkpoints& checkpoints)
{
    auto run = session.open(checkpoints.store);
    EXPECT_TRUE(run) << run.error().text;
    AnalyzeOptions all;
    all.standAloneBytes = UINT64_MAX;
    const auto outcome = analyzeRun(session.bench, *run, all, session.task);
    EXPECT_TRUE(outcome) << outcome.error().text;
    return std::move(*run);
}

Steps suspectStepsOf(const Checkpoints& checkpoints)
{
    Session session;
    return suspectSteps(judged(session, checkpoints));
}

std::string textAt(const Run& run, std::int64_t step, Code code)
{
    const Version& version = *run.find(step);
    for (const Error& problem : version.problems) {
        if (problem.code == code)
            return problem.text;
    }
    return {};
}

TEST(FullStateHealth, NamesTheFirstStepWithNanAndWhatKeepsIt)
{
    Checkpoints run;
    run.add({ bf16("w", weights()) }).add({ bf16("w", weights(1)) });
    run.add({ bf16("w", with(weights(2), 5, Nan)) }).add({ bf16("w", with(weights(3), 5, Nan)) });
    run.add({ bf16("w", weights(4)) });
    Session session;
    session.openCatalog();
    const deltascope::Run found = judged(session, run);
    EXPECT_EQ(suspectSteps(found), (Steps { 300, 400 }));
    EXPECT_NE(textAt(found, 300, Code::SuspectValues).find("1 element of w is NaN or infinite"), std::string::npos);
    const auto again = session.open(run.store); // known without being read again
    ASSERT_TRUE(again);
    EXPECT_EQ(suspectSteps(*again), (Steps { 300, 400 }));
}

TEST(FullStateHealth, NamesHowManyElementsOfEachStateAreNan)
{
    const auto withNan = [](std::uint16_t seed, std::size_t elements) {
        Bits words = weights(seed);
        std::fill_n(words.begin(), elements, Nan);
        return Tensors { bf16("w", words) };
    };
    Checkpoints run;
    run.add(withNan(0, 3)).add(withNan(1, 2)).add(withNan(2, 5)).add(withNan(3, 1)).add(withNan(4, 0));
    Session session;
    const deltascope::Run found = judged(session, run);
    const auto says = [&](std::int64_t step, std::string_view what) {
        return textAt(found, step, Code::SuspectValues).ends_with(what);
    };
    EXPECT_TRUE(says(100, "suspect: 3 elements of w are NaN or infinite"));
    EXPECT_TRUE(says(200, "suspect: 2 elements of w are NaN or infinite"));
    EXPECT_TRUE(says(300, "suspect: 5 elements of w are NaN or infinite"));
    EXPECT_TRUE(says(400, "suspect: 1 element of w is NaN or infinite"));
    EXPECT_EQ(suspectSteps(found), (Steps { 100, 200, 300, 400 }));
}

/// Infinities of a mask count where the tensor is suspect, and hold no NaN behind it.
TEST(FullStateHealth, AMaskIsSoundAgainOnceItsNanIsGone)
{
    const Bits mask { 0, MinusInfinity, MinusInfinity, 0 };
    Checkpoints run;
    run.add({ bf16("mask", mask), bf16("w", weights()) });
    run.add({ bf16("mask", with(mask, 0, Nan)), bf16("w", weights(1)) });
    run.add({ bf16("mask", mask), bf16("w", weights(2)) });
    Session session;
    const deltascope::Run found = judged(session, run);
    EXPECT_EQ(suspectSteps(found), Steps { 200 });
    EXPECT_NE(textAt(found, 200, Code::SuspectValues).find("3 elements of mask are NaN or infinite"),
              std::string::npos);
}

TEST(FullStateHealth, ReadsNoMoreThanItMay)
{
    Checkpoints run;
    run.add({ bf16("w", with(weights(), 0, Nan)) }).add({ bf16("w", weights(1)) });
    Session session;
    auto opened = session.open(run.store);
    ASSERT_TRUE(opened);
    ASSERT_TRUE(analyzeRun(session.bench, *opened, {}, session.task));
    EXPECT_FALSE(opened->find(100)->facts || opened->find(200)->facts);
    AnalyzeOptions one;
    one.standAloneBytes = 2 * 128; // the newest, and the one before it
    ASSERT_TRUE(analyzeRun(session.bench, *opened, one, session.task));
    EXPECT_FALSE(opened->find(100)->facts);
    EXPECT_TRUE(opened->find(200)->facts);
    EXPECT_EQ(suspectSteps(*opened), Steps());
}

/// Bits that a state which nobody has judged holds, too, excuse nothing.
TEST(FullStateHealth, SeesNanThatTheUnreadCheckpointBeforeHolds)
{
    Checkpoints run;
    run.add({ bf16("w", with(weights(), 0, Nan)) }).add({ bf16("w", with(weights(1), 0, Nan)) });
    Session session;
    auto opened = session.open(run.store);
    ASSERT_TRUE(opened);
    AnalyzeOptions newest;
    newest.standAloneBytes = 2 * 128;
    ASSERT_TRUE(analyzeRun(session.bench, *opened, newest, session.task));
    EXPECT_EQ(suspectSteps(*opened), Steps { 200 });
}

TEST(FullStateHealth, SeesZerosAndOneValueOfManyElements)
{
    EXPECT_EQ(suspectStepsOf(Checkpoints().add({ bf16("w", weights()) }).add({ bf16("w", Bits(64, 0)) })),
              Steps { 200 });
    EXPECT_EQ(suspectStepsOf(Checkpoints().add({ bf16("w", weights()) }).add({ bf16("w", Bits(64, One)) })),
              Steps { 200 });
    const Bits few = weights(0, 63);
    EXPECT_EQ(suspectStepsOf(Checkpoints().add({ bf16("w", few) }).add({ bf16("w", Bits(63, 0)) })), Steps());
}

TEST(FullStateHealth, OfAFirstState)
{
    const auto alone = [](const Tensors& tensors) { return suspectStepsOf(Checkpoints().add(tensors)); };
    EXPECT_EQ(alone({ bf16("w", with(weights(), 9, Nan)) }), Steps { 100 });
    EXPECT_EQ(alone({ bf16("w", with(weights(), 9, Infinity)) }), Steps { 100 });
    EXPECT_EQ(alone({ bf16("w", weights()) }), Steps());
    // Ranges of observers, and masks, whose other elements have one value.
    EXPECT_EQ(alone({ bf16("min_val", Bits { Infinity }), bf16("max_val", Bits { MinusInfinity }) }), Steps());
    EXPECT_EQ(alone({ bf16("mask", Bits { 0, MinusInfinity, 0, 0 }) }), Steps());
    EXPECT_EQ(alone({ bf16("mask", Bits { 0, MinusInfinity, Nan, 0 }) }), Steps { 100 });
    FileTensor integers = bf16("ids", with(weights(), 3, Nan));
    integers.info.dtype = Dtype::U16;
    EXPECT_EQ(alone({ integers }), Steps());
}

TEST(FullStateHealth, WhatStaysInfiniteIsNoFinding)
{
    const Bits mask { 0, MinusInfinity, MinusInfinity, 0 };
    Checkpoints run;
    for (std::uint16_t step = 0; step < 3; ++step)
        run.add({ bf16("mask", mask), bf16("max_val", { MinusInfinity }), bf16("w", weights(step)) });
    EXPECT_EQ(suspectStepsOf(run), Steps());
    run.add({ bf16("mask", mask), bf16("max_val", { One }), bf16("w", with(weights(4), 1, Infinity)) });
    EXPECT_EQ(suspectStepsOf(run), Steps { 400 });
}

TEST(FullStateHealth, InfinitiesThatAreNoAlarmAreSaidOnceForTheRun)
{
    const Bits mask { 0, MinusInfinity, MinusInfinity, 0 };
    Checkpoints run;
    for (std::uint16_t step = 0; step < 3; ++step)
        run.add({ bf16("mask", mask), bf16("max_val", { MinusInfinity }), bf16("w", weights(step)) });
    Session session;
    session.openCatalog();
    const auto noted = [&] {
        Steps steps;
        const deltascope::Run found = judged(session, run);
        for (const Version& version : found.versions) {
            if (countNotes(version.problems, Code::Infinite) > 0)
                steps.push_back(version.step());
        }
        return steps;
    };
    EXPECT_EQ(noted(), Steps { 100 });
    EXPECT_EQ(noted(), Steps { 100 }); // as the catalog keeps it
    const deltascope::Run found = judged(session, run);
    EXPECT_EQ(textAt(found, 100, Code::Infinite),
              "mask, max_val hold infinities from this step on, as masks and the ranges of observers do: no alarm");
    EXPECT_TRUE(isNotice(Code::Infinite));
    Session other;
    EXPECT_EQ(textAt(judged(other, Checkpoints().add({ bf16("w", weights()) })), 100, Code::Infinite), "");
}

TEST(FullStateHealth, AWholeLayerOfZerosIsOneThatWasNeverWritten)
{
    const auto layer = [](const std::string& name, const Bits& norm, const Bits& projection) {
        return Tensors { bf16(name + ".input_layernorm.weight", norm), bf16(name + ".up_proj.weight", projection),
                         bf16(name + ".up_proj.bias", Bits(8, 0)) };
    };
    const auto both = [](Tensors a, const Tensors& b) {
        a.insert(a.end(), b.begin(), b.end());
        return a;
    };
    const Bits zeros(64, 0);
    const Tensors sound = layer("model.layers.0", Bits(8, One), weights());
    Session session;
    const deltascope::Run bad =
        judged(session, Checkpoints().add(both(sound, layer("model.layers.1", Bits(8, 0), zeros))));
    EXPECT_EQ(suspectSteps(bad), Steps { 100 });
    EXPECT_NE(textAt(bad, 100, Code::SuspectValues).find("model.layers.1.input_layernorm.weight is all zeros"),
              std::string::npos);
    // A projection that begins as zeros has a norm beside it; LoRA B has A; norms of some models begin as zeros.
    EXPECT_EQ(suspectStepsOf(Checkpoints().add(both(sound, layer("model.layers.1", Bits(8, One), zeros)))), Steps());
    EXPECT_EQ(suspectStepsOf(Checkpoints().add(both(sound, layer("model.layers.1", Bits(8, 0), weights())))), Steps());
    EXPECT_EQ(suspectStepsOf(Checkpoints().add(
                  { bf16("layers.0.q.lora_A.weight", weights()), bf16("layers.0.q.lora_B.weight", zeros) })),
              Steps());
}

TEST(FullStateHealth, PlaceholdersAreNoModel)
{
    const Tensors sound { bf16("a.weight", weights()), bf16("b.bias", weights(1, 8)), bf16("c._extra_state", {}) };
    const Tensors hollow { bf16("a.weight", {}), bf16("b.bias", weights(1, 8)), bf16("c._extra_state", {}) };
    Session session;
    EXPECT_EQ(suspectSteps(judged(session, Checkpoints().add(sound).add(sound))), Steps());
    const auto alone = session.open(Checkpoints().add(hollow).store); // their headers tell
    ASSERT_TRUE(alone);
    EXPECT_EQ(suspectSteps(*alone), Steps { 100 });
    EXPECT_NE(textAt(*alone, 100, Code::SuspectValues).find("1 of 3 tensors holds no elements, a.weight"),
              std::string::npos)
        << textAt(*alone, 100, Code::SuspectValues);
    const auto run = session.open(Checkpoints().add(sound).add(hollow).add(sound).store);
    ASSERT_TRUE(run);
    EXPECT_EQ(suspectSteps(*run), Steps { 200 });
    // Under any name, if it had elements before.
    const auto buffer =
        session.open(Checkpoints().add({ bf16("inv_freq", weights()) }).add({ bf16("inv_freq", {}) }).store);
    ASSERT_TRUE(buffer);
    EXPECT_EQ(suspectSteps(*buffer), Steps { 200 });
}

TEST(FullStateHealth, IsUnverifiedWithTheFindingBesideIt)
{
    Session session;
    session.openRecords();
    auto run =
        session.open(Checkpoints().add({ bf16("w", weights()) }).add({ bf16("w", with(weights(1), 2, Nan)) }).store);
    ASSERT_TRUE(run);
    VerifyOptions options;
    options.level = 3;
    const auto report = verifyRun(session.bench, *run, options, session.task);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->steps[0].verdict, Verdict::FirstSight);
    EXPECT_EQ(report->steps[0].health, StepVerdict::Health::Normal);
    EXPECT_EQ(report->steps[1].verdict, Verdict::Unverified);
    EXPECT_EQ(report->steps[1].health, StepVerdict::Health::Suspect);
}

TEST(CheckpointNames, AreComparedWithThoseOfTheStepBefore)
{
    Session session;
    const auto told = [&](const Tensors& a, const Tensors& b) {
        const auto run = session.open(Checkpoints().add(a).add(b).store);
        EXPECT_TRUE(run);
        return textAt(*run, 200, Code::PartialAnchor);
    };
    const Tensors plain { bf16("model.a.weight", weights()), bf16("model.b.weight", weights()) };
    EXPECT_EQ(told(plain, plain), "");
    const std::string prefix =
        told(plain, { bf16("_orig_mod.model.a.weight", weights()), bf16("_orig_mod.model.b.weight", weights()) });
    EXPECT_NE(prefix.find("its names begin with _orig_mod. where those of step 100 do not"), std::string::npos)
        << prefix;
    Tensors wide { { tensor("model.a.weight", { 64 }, Dtype::F32), std::string(256, 'a') },
                   { tensor("model.b.weight", { 64 }, Dtype::F32), std::string(256, 'a') } };
    EXPECT_NE(told(plain, wide).find("2 of 2 tensors are F32 and were BF16 at step 100"), std::string::npos)
        << told(plain, wide);
    const std::string other = told(plain, { bf16("model.a.weight", weights(0, 32)), bf16("lm_head.scale", weights()) });
    EXPECT_NE(other.find("it has 1 tensor that step 100 lacks (lm_head.scale)"), std::string::npos) << other;
    EXPECT_NE(other.find("it lacks 1 tensor of step 100"), std::string::npos) << other;
}

TEST(CheckpointNames, SayThatProjectionsAreFused)
{
    Session session;
    const auto run =
        session.open(Checkpoints()
                         .add({ bf16("l.gate_proj.weight", weights()), bf16("l.up_proj.weight", weights()) })
                         .add({ bf16("l.gate_up_proj.weight", weights(0, 128)) })
                         .store);
    ASSERT_TRUE(run);
    const std::string text = textAt(*run, 200, Code::PartialAnchor);
    EXPECT_NE(text.find("it stores gate_up_proj where step 100 stores gate_proj, up_proj"), std::string::npos) << text;
    EXPECT_EQ(text.find("it lacks"), std::string::npos) << text;
}

TEST(CheckpointNames, SayThatAdaptersWereNotMerged)
{
    Session session;
    const auto run =
        session.open(Checkpoints()
                         .add({ bf16("q.base_layer.weight", weights()), bf16("q.lora_A.default.weight", weights()) })
                         .store);
    ASSERT_TRUE(run);
    EXPECT_NE(textAt(*run, 100, Code::PartialAnchor).find("LoRA adapters that were not merged"), std::string::npos);
}

struct WatchedRun {
    WatchedRun()
    {
        p.options.allowSuspect = false;
        for (std::int64_t step = 1; step <= 4; ++step)
            drop(step, weights(static_cast<std::uint16_t>(step)));
    }
    void drop(std::int64_t step, const Bits& words)
    {
        EXPECT_TRUE(putText(*p.checkpoints, Publishing::keyOf(step), safetensorsFile({ bf16("w", words) })));
    }
    Result<void> follow()
    {
        DS_TRY(Publisher publisher, p.open());
        FollowOptions once;
        once.once = true;
        once.onVersion = [&](const PublishedVersion& version) { published.push_back(version.origin); };
        once.onSkipped = [&](const std::vector<std::string>& names, const std::string& why) {
            skipped.push_back(fmt::format("{}: {}", names.front(), why));
        };
        return publishWatched(p.bench, p.checkpoints, publisher, once, p.task);
    }
    Publishing p;
    std::vector<std::string> published, skipped;
};

TEST(PublishSuspect, PassesOverACheckpointWithNanAndChainsTheNextOne)
{
    WatchedRun run;
    run.drop(3, with(weights(3), 7, Nan));
    const auto outcome = run.follow();
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::SuspectValues);
    EXPECT_EQ(run.published, (std::vector<std::string> { "checkpoint-1", "checkpoint-2", "checkpoint-4" }));
    ASSERT_EQ(run.skipped.size(), 1U);
    EXPECT_EQ(run.skipped[0], "checkpoint-3: not published: its values are suspect: 1 element of w is NaN or infinite");
    EXPECT_EQ(run.p.rootOfStep(3).value_or("none"), run.p.rootOfCheckpoint(4));
}

TEST(PublishSuspect, NamesHowManyElementsOfTheCheckpointAreNan)
{
    WatchedRun run;
    run.p.options.allowSuspect = true;
    run.drop(2, with(with(weights(2), 0, Nan), 1, Nan));
    ASSERT_TRUE(run.follow());
    run.p.options.allowSuspect = false;
    run.drop(5, with(with(with(weights(5), 0, Nan), 1, Nan), 2, Nan));
    run.drop(6, weights(6));
    EXPECT_FALSE(run.follow());
    ASSERT_EQ(run.skipped.size(), 1U);
    EXPECT_TRUE(run.skipped[0].ends_with("3 elements of w are NaN or infinite")) << run.skipped[0];
}

TEST(PublishSuspect, PublishesAllWhereItMay)
{
    WatchedRun sound;
    EXPECT_TRUE(sound.follow());
    EXPECT_EQ(sound.published.size(), 4U);
    WatchedRun allowed;
    allowed.drop(3, with(weights(3), 7, Nan));
    allowed.p.options.allowSuspect = true;
    EXPECT_TRUE(allowed.follow());
    EXPECT_EQ(allowed.published.size(), 4U);
    EXPECT_TRUE(allowed.skipped.empty());
}

} // namespace
} // namespace deltascope

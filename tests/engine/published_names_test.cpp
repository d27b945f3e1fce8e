#include "publish/published_names.h"

#include "publish/tensor_difference.h"
#include "publish_fixture.h"
#include "state_fixture.h"

#include <string>

// Tensors that are published under other names than those of the checkpoint (PublishOptions::prefixes).

namespace deltascope {
namespace {

using namespace layout_test;

struct WrappedCheckpoints : Publishing {
    explicit WrappedCheckpoints(const std::string& layout = "trl-v2")
        : Publishing(layout)
    {
        options.prefixes = PrefixMap { "_orig_mod.", "" };
    }
    /// Publishes the first checkpoint, which has the names of the run.
    void beginPlain()
    {
        const std::optional<PrefixMap> prefixes = std::exchange(options.prefixes, std::nullopt);
        publishAll(1, 1);
        options.prefixes = prefixes;
    }
    /// The checkpoint of a step as torch.compile names its tensors.
    void dropWrapped(std::int64_t step)
    {
        std::vector<FileTensor> tensors = tensorsOf(step);
        for (FileTensor& one : tensors)
            one.info.name = "_orig_mod." + one.info.name;
        EXPECT_TRUE(putText(*checkpoints, keyOf(step), safetensorsFile(tensors)));
    }
    Result<std::vector<PublishedVersion>> step(std::int64_t from, std::int64_t to)
    {
        return publishStep(bench, run, base, between(from, to), options, {}, task);
    }
    /// That of the checkpoint with plain names.
    std::string plainRoot(std::int64_t step) { return rootOf(stateOf(tensorsOf(step))).value_or("no root"); }
};

TEST(PublishedNames, ARunGoesOnWithWrappedCheckpoints)
{
    WrappedCheckpoints p;
    p.beginPlain();
    p.dropWrapped(2);
    p.dropWrapped(3);
    const auto second = p.step(1, 2);
    ASSERT_TRUE(second) << second.error().text;
    EXPECT_FALSE(second->back().anchor);
    EXPECT_EQ(p.rootOfStep(2), p.plainRoot(2));
    const auto third = p.step(2, 3);
    ASSERT_TRUE(third) << third.error().text;
    EXPECT_EQ(p.rootOfStep(3), p.plainRoot(3));
    EXPECT_EQ(p.factOf(3, fact::Root), p.plainRoot(3));
    const auto again = p.step(2, 3);
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_TRUE(again->back().wasThere);
}

TEST(PublishedNames, ARunBeginsWithThem)
{
    WrappedCheckpoints p;
    p.dropWrapped(1);
    p.dropWrapped(2);
    const auto begun = p.step(1, 2);
    ASSERT_TRUE(begun) << begun.error().text;
    ASSERT_EQ(begun->size(), 2U);
    EXPECT_EQ(p.rootOfStep(1), p.plainRoot(1));
    EXPECT_EQ(p.rootOfStep(2), p.plainRoot(2));
}

TEST(PublishedNames, WithoutTheMapTheRefusalNamesIt)
{
    WrappedCheckpoints p;
    p.beginPlain();
    p.dropWrapped(2);
    p.options.prefixes.reset();
    const Error error = errorOf(p.step(1, 2));
    EXPECT_EQ(error.code, Code::BaseMismatch);
    EXPECT_NE(error.action.find("--map-prefix _orig_mod.="), std::string::npos) << error.action;
}

TEST(PublishedNames, AMapThatFitsNothingIsRefusedAndNothingIsPut)
{
    WrappedCheckpoints p;
    p.beginPlain();
    const auto before = p.keys();
    p.dropWrapped(2);
    p.options.prefixes = PrefixMap { "module.", "" };
    const Error error = errorOf(p.step(1, 2));
    EXPECT_EQ(error.code, Code::BaseMismatch);
    EXPECT_EQ(error.text, "no tensor has a name that begins with \"module.\"");
    EXPECT_EQ(errorOf(planPublish(p.bench, p.run, p.base, p.between(1, 2), p.options, p.task)).code,
              Code::BaseMismatch);
    p.options.prefixes = PrefixMap { "_orig_mod.", "x." };
    EXPECT_EQ(errorOf(p.step(1, 2)).code, Code::BaseMismatch) << "other names than those of the run";
    EXPECT_EQ(p.keys(), before);
}

Result<void> follow(WrappedCheckpoints& p, std::vector<std::string>& skipped)
{
    DS_TRY(Publisher publisher, p.open());
    FollowOptions options;
    options.once = true;
    options.onSkipped = [&](const std::vector<std::string>& names, const std::string&) {
        skipped.insert(skipped.end(), names.begin(), names.end());
    };
    return publishWatched(p.bench, p.checkpoints, publisher, options, p.task);
}

TEST(PublishedNames, AFollowedFolderMayHoldBothNames)
{
    WrappedCheckpoints p;
    p.dropWrapped(1);
    p.drop(2);
    p.dropWrapped(3);
    std::vector<std::string> skipped;
    const auto outcome = follow(p, skipped);
    ASSERT_TRUE(outcome) << outcome.error().text;
    EXPECT_TRUE(skipped.empty());
    for (std::int64_t step = 1; step <= 3; ++step)
        EXPECT_EQ(p.rootOfStep(step), p.plainRoot(step));
}

TEST(PublishedNames, AFollowedFolderWithOthersEnds)
{
    WrappedCheckpoints p;
    p.dropWrapped(1);
    p.options.prefixes = PrefixMap { "module.", "" };
    std::vector<std::string> skipped;
    EXPECT_EQ(errorOf(follow(p, skipped)).code, Code::BaseMismatch);
    EXPECT_TRUE(p.keys().empty());
}

TEST(PublishedNames, APlanNamesTheMap)
{
    WrappedCheckpoints p;
    p.beginPlain();
    p.dropWrapped(2);
    const auto plan = planPublish(p.bench, p.run, p.base, p.between(1, 2), p.options, p.task);
    ASSERT_TRUE(plan) << plan.error().text;
    p.options.prefixes = PrefixMap { "_orig", "x" };
    const auto stale = publishStep(p.bench, p.run, p.base, p.between(1, 2), p.options, plan->act.hash(), p.task);
    EXPECT_EQ(errorOf(stale).code, Code::Exists);
    p.options.prefixes = PrefixMap { "_orig_mod.", "" };
    EXPECT_TRUE(publishStep(p.bench, p.run, p.base, p.between(1, 2), p.options, plan->act.hash(), p.task));
}

/// Its readers would look for names that its folder lacks.
TEST(PublishedNames, AnExternalBaseKeepsItsNames)
{
    WrappedCheckpoints p("slime-v2");
    p.dropWrapped(0);
    p.dropWrapped(1);
    const Error error = errorOf(p.step(0, 1));
    EXPECT_EQ(error.code, Code::Unsupported) << error.text;
    EXPECT_TRUE(p.keys().empty());
    EXPECT_EQ(errorOf(planPublish(p.bench, p.run, p.base, p.between(0, 1), p.options, p.task)).code, Code::Unsupported);
    p.drop(0); // with the names of the run
    ASSERT_TRUE(p.step(0, 1));
    EXPECT_EQ(p.rootOfStep(1), p.plainRoot(1));
}

TEST(PublishedNames, OfTheRunItselfStay)
{
    const auto named = [](const std::vector<std::string>& names) {
        std::vector<FileTensor> tensors;
        for (const std::string& name : names)
            tensors.push_back({ tensor(name, { 1 }), "12" });
        return stateOf(tensors);
    };
    const auto namesOf = [](const State& state) {
        std::string names;
        for (const TensorInfo& tensor : state.tensors())
            names += tensor.name + " ";
        return names;
    };
    const auto expectBoth = [&](const FileState& from, const FileState& to, const PrefixMap& prefixes,
                                const std::string& expected) {
        const auto step = PublishedStep::of(&from, to, prefixes);
        ASSERT_TRUE(step) << step.error().text;
        EXPECT_EQ(namesOf(*step->from()), expected);
        EXPECT_EQ(namesOf(step->to()), expected);
    };
    const FileState outer = named({ "model.lm_head", "model.model.a" });
    const FileState inner = named({ "lm_head", "model.a" });
    expectBoth(inner, outer, { "model.", "" }, "lm_head model.a ");
    expectBoth(outer, outer, { "model.", "" }, "lm_head model.a ");
    expectBoth(outer, inner, { "", "model." }, "model.lm_head model.model.a ");
    expectBoth(inner, inner, { "", "model." }, "model.lm_head model.model.a ");
    expectBoth(named({ "_orig_mod.a" }), named({ "a" }), { "_orig_mod.", "" }, "a ");
    EXPECT_EQ(errorOf(PublishedStep::of(&inner, inner, PrefixMap { "none.", "" })).code, Code::BaseMismatch);
    EXPECT_EQ(errorOf(PublishedStep::of(&outer, inner, PrefixMap { "none.", "" })).code, Code::BaseMismatch);
    EXPECT_EQ(errorOf(PublishedStep::of(nullptr, inner, PrefixMap { "none.", "" })).code, Code::BaseMismatch);
    EXPECT_EQ(errorOf(PublishedStep::of(nullptr, named({ "a", "x.a" }), PrefixMap { "x.", "" })).code, Code::Usage);
}

TEST(PublishedNames, TheRemedyOfARefusalIsOneThatHelps)
{
    const auto remedyFor = [](const std::vector<FileTensor>& run, const std::vector<FileTensor>& checkpoint) {
        return errorOf(expectSameTensors(stateOf(run), stateOf(checkpoint))).action;
    };
    const FileTensor a { tensor("a", { 1 }), "12" };
    const FileTensor wrapped { tensor("_orig_mod.a", { 1 }), "12" };
    const FileTensor other { tensor("_orig_mod.b", { 1 }), "12" };
    EXPECT_NE(remedyFor({ a }, { wrapped }).find("--map-prefix _orig_mod.="), std::string::npos);
    EXPECT_EQ(remedyFor({ a, other }, { wrapped, other }).find("--map-prefix"), std::string::npos)
        << "it would rename what has the name of the run";
}

TEST(PublishedNames, ARefusalNamesEveryReasonThatHolds)
{
    const auto of = [](const std::string& name, Dtype dtype, const TensorShape& shape) {
        FileTensor one { tensor(name, shape), {} };
        one.info.dtype = dtype;
        one.data.assign(one.info.bytes(), 'x');
        return one;
    };
    const std::vector<FileTensor> run { of("a", Dtype::BF16, { 2, 3 }), of("b", Dtype::BF16, { 4 }),
                                        of("c", Dtype::BF16, { 4 }) };
    const std::vector<FileTensor> other { of("_orig_mod.a", Dtype::F32, { 3, 2 }), of("_orig_mod.b", Dtype::F32, { 4 }),
                                          of("_orig_mod.d", Dtype::BF16, { 4 }) };
    const auto difference = differenceOfTensors(stateOf(run), stateOf(other));
    ASSERT_TRUE(difference);
    for (const char* words :
         { "the names of B begin with _orig_mod. where those of A do not", "tensor a is BF16 in A and F32 in B",
           "and 1 more tensor has another dtype", "tensor a has the shape [2, 3] in A and [3, 2] in B",
           "A has 1 tensor that B lacks, as c", "B has 1 tensor that A lacks, as _orig_mod.d" })
        EXPECT_NE(difference->reason.find(words), std::string::npos) << difference->reason;
    EXPECT_NE(difference->remedy.find("Save the model itself"), std::string::npos) << difference->remedy;
    EXPECT_NE(difference->remedy.find("; save the checkpoint as BF16"), std::string::npos) << difference->remedy;
    EXPECT_FALSE(differenceOfTensors(stateOf(run), stateOf(run)));
}

TEST(PublishedNames, TheRemedyNamesTheDtypesOfThePublishedSide)
{
    const auto of = [](const std::string& name, Dtype dtype) {
        FileTensor one { tensor(name, { 4 }), {} };
        one.info.dtype = dtype;
        one.data.assign(one.info.bytes(), 'x');
        return one;
    };
    const std::vector<FileTensor> mixed { of("a", Dtype::F32), of("b", Dtype::BF16), of("c", Dtype::BF16) };
    const std::vector<FileTensor> narrow { of("a", Dtype::BF16), of("b", Dtype::BF16), of("c", Dtype::BF16) };
    const std::vector<FileTensor> wide { of("a", Dtype::F32), of("b", Dtype::F32), of("c", Dtype::F32) };
    const auto remedy = [](const std::vector<FileTensor>& run, const std::vector<FileTensor>& checkpoint) {
        return errorOf(expectSameTensors(stateOf(run), stateOf(checkpoint))).action;
    };
    const std::string perTensor = "Save each tensor in the dtype that it has in A, where they are mixed: ";
    EXPECT_NE(remedy(mixed, narrow).find(perTensor + "a as F32"), std::string::npos) << remedy(mixed, narrow);
    EXPECT_NE(remedy(mixed, wide).find(perTensor + "b and 1 more as BF16"), std::string::npos) << remedy(mixed, wide);
    EXPECT_NE(remedy(narrow, wide).find("Save the checkpoint as BF16"), std::string::npos) << remedy(narrow, wide);
}

TEST(PublishedNames, ARemedyIsGivenOnce)
{
    const auto difference =
        differenceOfTensors(stateOf({ { tensor("a", { 2 }), "1234" }, { tensor("b", { 1 }), "12" } }),
                            stateOf({ { tensor("a", { 1, 2 }), "1234" } }));
    ASSERT_TRUE(difference);
    EXPECT_EQ(difference->remedy, "Publish checkpoints of one model");
}

TEST(PrefixMap, IsAPairOfWhichOneMayBeEmpty)
{
    EXPECT_FALSE(parsePrefixMap("")->has_value());
    EXPECT_EQ((*parsePrefixMap("a.=b."))->a, "a.");
    EXPECT_EQ((*parsePrefixMap("a.=b."))->b, "b.");
    EXPECT_EQ((*parsePrefixMap("a.="))->b, "");
    EXPECT_EQ((*parsePrefixMap("=b."))->a, "");
    EXPECT_EQ(errorOf(parsePrefixMap("a.")).code, Code::Usage);
}

}
} // namespace deltascope

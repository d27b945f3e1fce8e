#include "publish/published_names.h"

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

TEST(PublishedNames, AFollowedFolderIsPublishedUnderThem)
{
    WrappedCheckpoints p;
    for (std::int64_t step = 1; step <= 3; ++step)
        p.dropWrapped(step);
    auto publisher = p.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    FollowOptions follow;
    follow.once = true;
    const auto outcome = publishWatched(p.bench, p.checkpoints, *publisher, follow, p.task);
    ASSERT_TRUE(outcome) << outcome.error().text;
    for (std::int64_t step = 1; step <= 3; ++step)
        EXPECT_EQ(p.rootOfStep(step), p.plainRoot(step));
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
    EXPECT_EQ(errorOf(p.step(1, 2)).code, Code::NotFound);
    EXPECT_EQ(errorOf(planPublish(p.bench, p.run, p.base, p.between(1, 2), p.options, p.task)).code, Code::NotFound);
    p.options.prefixes = PrefixMap { "_orig_mod.", "x." };
    EXPECT_EQ(errorOf(p.step(1, 2)).code, Code::BaseMismatch) << "other names than those of the run";
    EXPECT_EQ(p.keys(), before);
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
    p.drop(0); // with the names of the run
    ASSERT_TRUE(p.step(0, 1));
    EXPECT_EQ(p.rootOfStep(1), p.plainRoot(1));
}

TEST(PublishedNames, StayWhereTheyAreRightAlready)
{
    const FileState state = stateOf({ { tensor("model.language_model.a", { 1 }), "12" },
                                      { tensor("model.visual.b", { 1 }), "34" },
                                      { tensor("lm_head", { 1 }), "56" } });
    const auto into = [&](const std::string& a, const std::string& b) {
        auto published = PublishedState::of(state, PrefixMap { a, b });
        EXPECT_TRUE(published);
        std::string names;
        for (const TensorInfo& tensor : (**published).tensors())
            names += tensor.name + " ";
        return names;
    };
    EXPECT_EQ(into("model.", "model.language_model."), "lm_head model.language_model.a model.language_model.visual.b ");
    EXPECT_EQ(into("model.language_model.", "model."), "lm_head model.a model.visual.b ");
    EXPECT_EQ(into("", "lm_"), "lm_head lm_model.language_model.a lm_model.visual.b ");
    EXPECT_EQ(into("none.", ""), "lm_head model.language_model.a model.visual.b ");
    const auto clash = PublishedState::of(stateOf({ { tensor("a", { 1 }), "12" }, { tensor("x.a", { 1 }), "34" } }),
                                          PrefixMap { "x.", "" });
    EXPECT_EQ(errorOf(clash).code, Code::Usage);
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

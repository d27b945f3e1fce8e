#include "publish_fixture.h"
#include "state_fixture.h"

#include "support/temp_dir.h"

#include <filesystem>

// Publisher behind versions that others wrote, without roots and without a name of their run.

namespace deltascope {
namespace {

using namespace layout_test;

/// A copy of a golden run without roots, its newest step as a state, and one more change of it.
struct Foreign {
    explicit Foreign(const std::string& name, std::int64_t last)
        : p(name.substr(0, name.find("-v2") + 3))
        , newest(last)
    {
        std::filesystem::copy(goldenPath(name) + "/bucket", folder.path("run"),
                              std::filesystem::copy_options::recursive);
        into = open(folder.path("run"));
        p.base.base = p.base.base ? open(goldenPath(name) + "/base") : nullptr;
    }
    static std::shared_ptr<ObjectStore> open(const std::string& path)
    {
        auto store = openLocalStore(path);
        EXPECT_TRUE(store) << path;
        return std::move(*store);
    }
    PathPtr stateOf(std::int64_t step)
    {
        auto run = p.tryOpen(into, p.base);
        EXPECT_TRUE(run);
        const auto path = p.pathOf(*run, step);
        EXPECT_TRUE(path) << path.error().text;
        return path.value_or(nullptr);
    }
    test::TempDir folder;
    Publishing p;
    std::int64_t newest;
    std::shared_ptr<ObjectStore> into;
};

TEST(PublisherBehindOthers, ARunOfOthersWithoutRootsIsContinued)
{
    for (const auto& [name, last] :
         { std::pair<const char*, std::int64_t> { "trl-v2-gap", 15 }, { "slime-v2-xor", 9 } }) {
        SCOPED_TRACE(name);
        Foreign foreign(name, last);
        Publishing& p = foreign.p;
        auto publisher = Publisher::open(p.bench, foreign.into, p.base, p.options, p.task);
        ASSERT_TRUE(publisher) << publisher.error().text;
        EXPECT_EQ(publisher->headStep(), last);
        const PathPtr head = foreign.stateOf(last);
        const PathPtr older = foreign.stateOf(last - 3);
        EXPECT_EQ(errorOf(publisher->publish(older.get(), *head, "", p.task)).code,
                  Code::BaseMismatch); // bit by bit, without roots
        const auto back = publisher->publish(head.get(), *older, "back", p.task);
        ASSERT_TRUE(back) << back.error().text;
        EXPECT_EQ(back->step, last + 1);
        const auto forth = publisher->publish(nullptr, *head, "forth", p.task);
        ASSERT_TRUE(forth) << forth.error().text;

        auto run = p.tryOpen(foreign.into, p.base);
        ASSERT_TRUE(run);
        EXPECT_EQ(run->epochs(), 1);
        ASSERT_NE(run->find(last + 1), nullptr);
        EXPECT_EQ(run->find(last + 1)->summary->root, p.rootOf(*older).value_or("none"));
        EXPECT_EQ(p.rootOf(*foreign.stateOf(last + 1)).value_or("lost"), p.rootOf(*older).value_or("none"));
        EXPECT_EQ(p.rootOf(*foreign.stateOf(last + 2)).value_or("lost"), p.rootOf(*head).value_or("none"));
        VerifyOptions level3;
        level3.level = 3;
        const auto report = verifyRun(p.bench, *run, level3, p.task);
        ASSERT_TRUE(report);
        EXPECT_EQ(report->steps.back().verdict, Verdict::Verified);
    }
}

TEST(PublisherBehindOthers, AStateOfOtherTensorsIsRefusedForThem)
{
    Foreign foreign("trl-v2-gap", 15);
    Publishing& p = foreign.p;
    auto publisher = Publisher::open(p.bench, foreign.into, p.base, p.options, p.task);
    ASSERT_TRUE(publisher) << publisher.error().text;
    const PathPtr head = foreign.stateOf(15);
    const auto reasonOf = [&](const State& from) {
        const Error error = errorOf(publisher->publish(&from, *head, "", p.task));
        EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
        EXPECT_EQ(error.text.find("the state to publish from is not step 15, the newest of the run: "), 0U)
            << error.text;
        EXPECT_FALSE(error.action.empty());
        return error.text;
    };
    const auto changed = [&](const auto& change) {
        std::vector<FileTensor> tensors;
        for (const TensorInfo& info : head->tensors())
            tensors.push_back({ info, {} });
        change(tensors);
        for (FileTensor& one : tensors)
            one.data.assign(one.info.elements() * bitsOf(one.info.dtype) / 8, '\0');
        return reasonOf(stateOf(tensors));
    };
    const TensorInfo first = head->tensors().front();
    ASSERT_EQ(first.dtype, Dtype::BF16);
    const std::string dtype =
        changed([](std::vector<FileTensor>& tensors) { tensors.front().info.dtype = Dtype::F32; });
    EXPECT_NE(dtype.find(fmt::format("tensor {} is BF16 in A and F32 in B", first.name)), std::string::npos) << dtype;
    const std::string shape =
        changed([](std::vector<FileTensor>& tensors) { tensors.front().info.shape.push_back(2); });
    EXPECT_NE(shape.find(fmt::format("tensor {} has the shape", first.name)), std::string::npos) << shape;
    const std::string name = changed([](std::vector<FileTensor>& tensors) { tensors.erase(tensors.begin()); });
    EXPECT_NE(name.find(fmt::format("A has 1 tensor that B lacks, as {}", first.name)), std::string::npos) << name;
    const std::string values = changed([](auto&&) {});
    EXPECT_NE(values.find(" elements in "), std::string::npos) << values;
    const PathPtr older = foreign.stateOf(12);
    EXPECT_TRUE(publisher->publish(head.get(), *older, "", p.task)) << "the run goes on from its newest state";
}

/// A step of another run is published as what that run records, or not at all.
TEST(PublisherOfAnotherRun, AStateThatItsRunRecordsOtherwiseIsNotPut)
{
    Publishing source;
    source.publishAll(1, 3);
    const std::string root = source.factOf(3, fact::Root);
    const auto publishStep3 = [&](Publishing& target) {
        const auto read = source.view();
        const auto path = source.pathOf(read, 3);
        EXPECT_TRUE(path) << path.error().text;
        auto publisher = target.open();
        EXPECT_TRUE(publisher) << publisher.error().text;
        return publisher->publish(nullptr, **path, "step 3", target.task);
    };
    Publishing sound;
    ASSERT_TRUE(publishStep3(sound));
    EXPECT_EQ(sound.rootOfStep(1).value_or("none"), root);

    const std::string key = source.view().find(3)->objects.objects.front().key;
    const auto bytes = readWhole(*source.run, key, 1 << 20, source.task);
    ASSERT_TRUE(bytes);
    std::string text(asText(*bytes));
    const std::size_t at = text.find(root);
    ASSERT_NE(at, std::string::npos);
    text[at] = root[0] == '0' ? '1' : '0';
    ASSERT_TRUE(putText(*source.run, key, text));
    Publishing target;
    const auto refused = publishStep3(target);
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Digest) << refused.error().text;
    EXPECT_EQ(refused.error().step, 3);
    EXPECT_EQ(target.keys(), std::vector<std::string>());

    const auto read = source.view(); // nor is the sound state before it, as the begin of a run
    const auto before = source.pathOf(read, 2);
    const auto lie = source.pathOf(read, 3);
    ASSERT_TRUE(before && lie);
    auto publisher = target.open();
    ASSERT_TRUE(publisher) << publisher.error().text;
    EXPECT_EQ(errorOf(publisher->begin({ **before, "step 2" }, { **lie, "step 3" }, target.task)).code, Code::Digest);
    EXPECT_EQ(target.keys(), std::vector<std::string>());
}

TEST(PublisherBehindOthers, TheFirstVersionIsNoAnchorSoThatTheEpochGoesOn)
{
    Foreign foreign("trl-v2-gap", 15);
    Publishing& p = foreign.p;
    p.options.anchorEvery = 1;
    auto publisher = Publisher::open(p.bench, foreign.into, p.base, p.options, p.task);
    ASSERT_TRUE(publisher);
    const PathPtr older = foreign.stateOf(12);
    const PathPtr head = foreign.stateOf(15);
    const auto first = publisher->publish(nullptr, *older, "", p.task);
    ASSERT_TRUE(first) << first.error().text;
    EXPECT_FALSE(first->anchor);
    const auto second = publisher->publish(nullptr, *head, "", p.task);
    ASSERT_TRUE(second) << second.error().text;
    EXPECT_TRUE(second->anchor);
    auto run = p.tryOpen(foreign.into, p.base);
    ASSERT_TRUE(run);
    EXPECT_EQ(run->epochs(), 1);
}

TEST(PublisherBehindOthers, ANewEpochIsOne)
{
    Foreign foreign("trl-v2-gap", 15);
    Publishing& p = foreign.p;
    p.options.newEpoch = true;
    auto publisher = Publisher::open(p.bench, foreign.into, p.base, p.options, p.task);
    ASSERT_TRUE(publisher);
    const PathPtr old = foreign.stateOf(3);
    const auto version = publisher->publish(nullptr, *old, "", p.task);
    ASSERT_TRUE(version) << version.error().text;
    EXPECT_TRUE(version->anchor);
    auto run = p.tryOpen(foreign.into, p.base);
    ASSERT_TRUE(run);
    ASSERT_EQ(run->epochs(), 2);
    for (const Version& one : run->versions)
        EXPECT_EQ(one.epoch, one.step() <= 15 ? 0 : 1);
    ASSERT_TRUE(analyzeRun(p.bench, *run, {}, p.task));
    EXPECT_FALSE(run->find(16)->facts->changedVsPrevious); // another model is no drift
    EXPECT_TRUE(run->find(16)->problems.empty());
}

} // namespace
} // namespace deltascope

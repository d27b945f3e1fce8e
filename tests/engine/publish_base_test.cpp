#include "publish_fixture.h"

#include "support/counting_store.h"
#include "support/forwarding_store.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <filesystem>
#include <utility>
#include <vector>

// The checkpoint that is given as the base of a run is compared with what the run needs before anything is put.

namespace deltascope {
namespace {

using namespace layout_test;

using Tensors = std::vector<FileTensor>;

/// A checkpoint under an address of its own.
class BaseStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    std::string uri() const override { return "memory:base"; }
};

std::shared_ptr<ObjectStore> storeOf(const Tensors& tensors)
{
    const auto store = std::make_shared<MemoryStore>();
    EXPECT_TRUE(putText(*store, "model.safetensors", safetensorsFile(tensors)));
    return std::make_shared<BaseStore>(store);
}

Tensors widened(Tensors tensors)
{
    for (FileTensor& one : tensors) {
        one.info.dtype = Dtype::F32;
        std::string wide;
        for (std::size_t at = 0; at < one.data.size(); at += 2)
            wide += std::string(2, '\0') + one.data.substr(at, 2);
        one.data = std::move(wide);
    }
    return tensors;
}

Tensors prefixed(Tensors tensors)
{
    for (FileTensor& one : tensors)
        one.info.name = "_orig_mod." + one.info.name;
    return tensors;
}

/// Checkpoints that are not the one that a run of `Publishing` begins with, and a word of why.
std::vector<std::pair<std::shared_ptr<ObjectStore>, std::string>> wrongBases()
{
    return { { storeOf(widened(Publishing::tensorsOf(0))), "another dtype or size" },
             { storeOf(prefixed(Publishing::tensorsOf(0))), "are not in it" },
             { storeOf(Publishing::tensorsOf(3)), "the base checkpoint has root" } };
}

TEST(PublishOnABase, AWrongOneIsRefusedBeforeAnythingIsPut)
{
    for (const auto& one : wrongBases()) {
        const std::string& why = one.second;
        SCOPED_TRACE(why);
        Publishing p("slime-v2");
        p.publishAll(1, 2);
        const std::shared_ptr<ObjectStore> right = std::exchange(p.base.base, one.first);
        const auto before = p.keys();
        const auto expectRefusal = [&](const Error& error) {
            EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
            EXPECT_NE(error.text.find("base checkpoint"), std::string::npos) << error.text;
            EXPECT_NE(error.text.find(why), std::string::npos) << error.text;
            EXPECT_EQ(error.action.find("--new-epoch"), std::string::npos) << error.action;
        };
        expectRefusal(errorOf(p.open()));
        expectRefusal(errorOf(planPublish(p.bench, p.run, p.base, p.between(2, 3), p.options, p.task)));
        expectRefusal(errorOf(publishStep(p.bench, p.run, p.base, p.between(2, 3), p.options, {}, p.task)));
        EXPECT_EQ(p.keys(), before);

        p.base.base = right;
        const auto sound = publishStep(p.bench, p.run, p.base, p.between(2, 3), p.options, {}, p.task);
        ASSERT_TRUE(sound) << sound.error().text;
        EXPECT_EQ(p.rootOfStep(3).value_or("none"), p.rootOfCheckpoint(3));
    }
}

TEST(PublishOnABase, AWrongOneIsRefusedForTheFirstStepToo)
{
    for (const auto& [wrong, why] : wrongBases()) {
        SCOPED_TRACE(why);
        Publishing p("slime-v2");
        p.base.base = wrong;
        const Error error = errorOf(publishStep(p.bench, p.run, p.base, p.between(0, 1), p.options, {}, p.task));
        EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
        EXPECT_EQ(error.text.find("the state to publish from is not the checkpoint given as base: "), 0U) << error.text;
        EXPECT_TRUE(p.keys().empty());
    }
    const auto equal = storeOf(Publishing::tensorsOf(0));
    for (const auto& right : std::vector<std::shared_ptr<ObjectStore>> { nullptr, equal }) {
        Publishing p("slime-v2");
        p.base.base = right;
        const auto sound = publishStep(p.bench, p.run, p.base, p.between(0, 1), p.options, {}, p.task);
        ASSERT_TRUE(sound) << sound.error().text;
        p.base.base = equal;
        EXPECT_EQ(p.rootOfStep(1).value_or("none"), p.rootOfCheckpoint(1));
    }
}

TEST(PublishOnABase, APlanOfTheFirstStepComparesFormsAndListsTheBase)
{
    Publishing p("slime-v2");
    p.base.base = storeOf(Publishing::tensorsOf(0));
    const auto plan = planPublish(p.bench, p.run, p.base, p.between(0, 1), p.options, p.task);
    ASSERT_TRUE(plan) << plan.error().text;
    const auto ofBase = [&](const PlannedObject& object) { return object.store == p.base.base->uri(); };
    EXPECT_TRUE(std::any_of(plan->act.reads.begin(), plan->act.reads.end(), ofBase));
    p.base.base = storeOf(widened(Publishing::tensorsOf(0)));
    const Error error = errorOf(planPublish(p.bench, p.run, p.base, p.between(0, 1), p.options, p.task));
    EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
    EXPECT_NE(error.text.find("is F32 in A and BF16 in B"), std::string::npos) << error.text;
}

TEST(PublishOnABase, AFolderWithoutACheckpointIsNone)
{
    Publishing p("slime-v2");
    p.base.base = std::make_shared<MemoryStore>();
    EXPECT_EQ(errorOf(p.open()).code, Code::BaseMissing);
}

TEST(PublishOnABase, IsHeldAgainstTheRunOnce)
{
    test::TempDir folder;
    auto catalog = Catalog::open(folder.path("catalog.sqlite"));
    ASSERT_TRUE(catalog);
    Publishing p("slime-v2");
    p.bench.catalog = catalog->get();
    p.publishAll(1, 2);
    const auto base = std::make_shared<test::CountingStore>(p.base.base);
    p.base.base = base;
    const auto readsOfPayload = [&] {
        std::size_t reads = 0;
        for (const test::CountingStore::Read& read : base->reads())
            reads += Publishing::isPayload(read.offset) ? 1 : 0;
        base->clear();
        return reads;
    };
    ASSERT_TRUE(p.open());
    EXPECT_GT(readsOfPayload(), 0U);
    ASSERT_TRUE(p.open());
    EXPECT_EQ(readsOfPayload(), 0U);
}

TEST(PublishOnABase, ThatOfARunOfOthersIsHeldAgainstItToo)
{
    const std::string golden = goldenPath("slime-v2-xor");
    test::TempDir folder;
    std::filesystem::copy(golden + "/bucket", folder.path("run"), std::filesystem::copy_options::recursive);
    const auto open = [](const std::string& path) {
        auto store = openLocalStore(path);
        EXPECT_TRUE(store) << path;
        return std::shared_ptr<ObjectStore>(std::move(*store));
    };
    Publishing p("slime-v2");
    const auto into = open(folder.path("run"));
    p.base.base = storeOf(prefixed(Publishing::tensorsOf(0)));
    const Error error = errorOf(Publisher::open(p.bench, into, p.base, p.options, p.task));
    EXPECT_EQ(error.code, Code::BaseMismatch) << error.text;
    EXPECT_NE(error.text.find("base checkpoint"), std::string::npos) << error.text;
    p.base.base = open(golden + "/base");
    EXPECT_TRUE(Publisher::open(p.bench, into, p.base, p.options, p.task));
}

} // namespace
} // namespace deltascope

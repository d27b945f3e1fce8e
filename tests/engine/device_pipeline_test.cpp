#include "publish_fixture.h"
#include "support/device.h"
#include "support/fake_driver.h"

#include <map>
#include <string>

// What the device does for publish, replay and diff has the bits of the scalar backend.

namespace deltascope {
namespace {

using namespace layout_test;

/// A trainer whose model takes more than two slots of a device.
struct LargeModel : Publishing {
    LargeModel(const std::string& layout, const std::string& backend)
        : Publishing(layout)
    {
        bench.backends = Backends::builtin().with(device);
        bench.forcedBackend = backend;
        bench.threads = 2;
        if (base.base) {
            EXPECT_TRUE(putText(*base.base, "model.safetensors", file(0)));
        }
        for (std::int64_t step = 1; step <= Steps; ++step)
            EXPECT_TRUE(putText(*checkpoints, keyOf(step), file(step)));
    }

    static constexpr std::int64_t Steps = 5;
    static constexpr std::size_t Elements = std::size_t { 5 } << 20;

    /// Every step changes one element in about a thousand, some of them again.
    static std::string file(std::int64_t step)
    {
        static const std::string first = noise(Elements * 2, 7);
        std::string bytes = first;
        for (std::int64_t now = 1; now <= step; ++now) {
            for (std::size_t at = static_cast<std::size_t>(now % 3); at < Elements; at += 997)
                bytes[at * 2] = static_cast<char>(bytes[at * 2] ^ (1 + now));
        }
        return safetensorsFile({ { tensor("a", { Elements / 1024, 1024 }), std::move(bytes) },
                                 { tensor("b", { 300 }), noise(600, step) } });
    }

    /// Each run has an id of its own, which does not count.
    std::map<std::string, std::string> objects()
    {
        const std::string id = factOf(1, fact::Run);
        std::map<std::string, std::string> all;
        for (const std::string& key : keys()) {
            std::string& bytes = all[key] = readObject(*run, key);
            for (auto at = bytes.find(id); at != std::string::npos; at = bytes.find(id))
                bytes.erase(at, id.size());
        }
        return all;
    }
    DiffReport diff(std::int64_t from, std::int64_t to)
    {
        const Run now = view();
        const auto a = pathOf(now, from);
        const auto b = pathOf(now, to);
        EXPECT_TRUE(a && b);
        const auto report = diffStates(bench, **a, **b, std::nullopt, task);
        EXPECT_TRUE(report) << report.error().text;
        return report.value_or(DiffReport());
    }

    std::shared_ptr<const DeviceBackend> device = test::deviceBackend();
};

class DevicePipeline : public testing::TestWithParam<const char*> {
protected:
    void SetUp() override { test::plan({}); }
    void TearDown() override { test::plan({}); }
};

INSTANTIATE_TEST_SUITE_P(Layouts, DevicePipeline, testing::Values("trl-v2", "slime-v2"),
                         [](const auto& info) { return std::string(info.param, 3); });

TEST_P(DevicePipeline, PublishesReplaysAndComparesWithTheBitsOfTheProcessor)
{
    LargeModel expected(GetParam(), "scalar");
    LargeModel model(GetParam(), "cuda");
    expected.publishAll(1, LargeModel::Steps);
    model.publishAll(1, LargeModel::Steps);
    EXPECT_TRUE(model.objects() == expected.objects());
    EXPECT_GT(model.device->share()->byDevice, 3 * LargeModel::Elements * 2);

    const std::uint64_t published = model.device->share()->byDevice;
    EXPECT_EQ(*model.rootOfStep(LargeModel::Steps), model.rootOfCheckpoint(LargeModel::Steps));
    const std::uint64_t replayed = model.device->share()->byDevice - published;
    if (GetParam() == std::string("trl-v2")) {
        EXPECT_GE(replayed, LargeModel::Elements * 2);
    } else {
        EXPECT_EQ(replayed, 0U) << "the digest of each delta is compared on the way";
    }

    const DiffReport diff = model.diff(2, 5);
    const DiffReport same = expected.diff(2, 5);
    EXPECT_EQ(diff.elementsDifferent(), same.elementsDifferent());
    EXPECT_EQ(diff.relativeNorm, same.relativeNorm);
    ASSERT_EQ(diff.tensors.size(), same.tensors.size());
    ASSERT_FALSE(diff.tensors.empty());
    EXPECT_EQ(diff.tensors[0].maxUlp, same.tensors[0].maxUlp);
    EXPECT_EQ(diff.tensors[0].maxAbs, same.tensors[0].maxAbs);
    EXPECT_TRUE(model.device->notices().empty());
    EXPECT_FALSE(expected.device->share()) << "nobody asked for it";
}

/// From the first call of a driver to the last, in steps: whichever fails, the objects are the same.
TEST_P(DevicePipeline, ADeviceThatFailsOnTheWayChangesNothing)
{
    if (test::isRealDevice())
        GTEST_SKIP() << "a device does not fail when it is asked to";
    LargeModel expected(GetParam(), "scalar");
    expected.publishAll(1, 2);
    const auto objects = expected.objects();
    for (const std::uint64_t call : { 120, 150, 200 }) {
        test::FakeDriverPlan plan;
        plan.failAtCall = call;
        plan.failWith = 700;
        test::plan(plan);
        LargeModel model(GetParam(), "cuda");
        model.publishAll(1, 2);
        EXPECT_TRUE(model.objects() == objects) << call;
        EXPECT_EQ(*model.rootOfStep(2), model.rootOfCheckpoint(2)) << call;
        EXPECT_EQ(model.device->notices().size(), 1U) << call;
    }
}

} // namespace
} // namespace deltascope

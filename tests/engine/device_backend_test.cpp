#include "deltascope/engine/device_backend.h"

#include "deltascope/engine/hash_tree.h"
#include "device_module_fixture.h"
#include "module/module.h"
#include "support/device.h"
#include "support/fake_driver.h"
#include "support/sanitizer.h"
#include "support/slice.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <sys/stat.h>
#include <thread>
#include <vector>

// The module for CUDA devices and the backend over it. What the backend computes is compared with the scalar one in
// backend_test.cpp, moments_test.cpp and diff_apply_test.cpp; here: batches, devices that fail.

namespace deltascope::device_module_test {
namespace {

TEST_F(DeviceModuleTest, WhatChangedInManyTensorsIsWhatEveryOtherBackendFinds)
{
    std::mt19937_64 random(1);
    OpenModule module;
    for (const unsigned width : { 1U, 2U, 4U, 8U }) {
        SCOPED_TRACE(width);
        const Tensors tensors(2500, width, random);
        const std::size_t count = tensors.begins.size() - 1;
        const std::uint64_t before = module.upload(tensors.before);
        const std::uint64_t after = module.upload(tensors.after);
        std::vector<DevicePair> pairs;
        std::vector<DeviceChanges> changes;
        std::vector<std::vector<std::uint32_t>> positions;
        std::vector<Bytes> values;
        for (std::size_t i = 0; i < count; ++i) {
            const std::uint64_t at = tensors.begins[i] * width;
            const std::uint64_t elements = tensors.begins[i + 1] - tensors.begins[i];
            pairs.push_back({ before + at, after + at, 0, elements });
            positions.emplace_back(elements + Backend::SlackElements);
            values.emplace_back((elements + Backend::SlackElements) * width);
            changes.push_back({ positions.back().data(), values.back().data(), elements, 0 });
        }
        module.call(module->extract, pairs.data(), std::uint64_t { count }, std::uint32_t { width }, changes.data());
        module.call(module->wait);
        for (std::size_t i = 0; i < count; ++i) {
            const std::size_t at = tensors.begins[i] * width;
            const std::size_t size = pairs[i].elements * width;
            const ByteSpan a = ByteSpan(tensors.before).subspan(at, size);
            const ByteSpan b = ByteSpan(tensors.after).subspan(at, size);
            for (const auto& backend : processors()) {
                SCOPED_TRACE(testing::Message() << "tensor " << i << ", " << backend->name());
                std::vector<std::uint32_t> expected(positions[i].size());
                Bytes bits(values[i].size());
                const std::size_t found = backend->extract(a, b, width, expected.data(), bits.data());
                ASSERT_EQ(changes[i].found, found);
                ASSERT_TRUE(std::equal(expected.begin(), expected.begin() + found, positions[i].begin()));
                ASSERT_TRUE(std::equal(bits.begin(), bits.begin() + found * width, values[i].begin()));
            }
        }
    }
}

/// Random bits hold every kind of number: of the narrow types many NaN, infinities and subnormals.
TEST_F(DeviceModuleTest, MomentsOfManyTensorsHaveTheBitsOfEveryOtherBackend)
{
    std::mt19937_64 random(5);
    OpenModule module;
    for (auto number = static_cast<std::uint8_t>(Dtype::Bool); number <= static_cast<std::uint8_t>(Dtype::U64);
         ++number) {
        const auto dtype = static_cast<Dtype>(number);
        if (!isNumber(dtype))
            continue;
        SCOPED_TRACE(word(dtype));
        const unsigned width = bitsOf(dtype) / 8;
        const Tensors tensors(700, width, random);
        const std::uint64_t before = module.upload(tensors.before);
        const std::uint64_t after = module.upload(tensors.after);
        std::vector<DevicePair> pairs;
        std::vector<std::pair<std::size_t, std::size_t>> blocks; ///< begin and size, in bytes
        for (std::size_t i = 0; i + 1 < tensors.begins.size(); ++i) {
            const std::size_t begin = tensors.begins[i] * width;
            const std::size_t end = tensors.begins[i + 1] * width;
            pairs.push_back({ before + begin, after + begin, 0, (end - begin) / width });
            for (std::size_t at = begin; at < end; at += Backend::MomentElements * width)
                blocks.emplace_back(at, std::min(Backend::MomentElements * width, end - at));
        }
        std::vector<DiffMoments> moments(blocks.size());
        module.call(module->moments, pairs.data(), std::uint64_t { pairs.size() }, static_cast<std::uint32_t>(dtype),
                    static_cast<void*>(moments.data()));
        module.call(module->wait);
        for (std::size_t i = 0; i < blocks.size(); ++i) {
            const auto [at, size] = blocks[i];
            for (const auto& backend : processors())
                ASSERT_EQ(moments[i],
                          backend->moments(ByteSpan(tensors.before).subspan(at, size),
                                           ByteSpan(tensors.after).subspan(at, size), dtype))
                    << "block " << i << ", " << backend->name();
        }
    }
}

TEST_F(DeviceModuleTest, ChangesThatDoNotFitAreCounted)
{
    OpenModule module;
    const Bytes zeros(20000 * 2);
    const Bytes ones(20000 * 2, std::byte { 1 });
    std::vector<std::uint32_t> positions(100);
    std::vector<std::uint16_t> values(100);
    const DevicePair pair { module.upload(zeros), module.upload(ones), 0, 20000 };
    DeviceChanges changes { positions.data(), values.data(), positions.size(), 0 };
    module.call(module->extract, &pair, std::uint64_t { 1 }, std::uint32_t { 2 }, &changes);
    module.call(module->wait);
    EXPECT_EQ(changes.found, 20000U);
}

TEST_F(DeviceModuleTest, MomentsOfATensorOfSeveralBlocksAreThoseOfEachBlock)
{
    std::mt19937_64 random(2);
    const auto scalar = Backends::builtin().all().front();
    OpenModule module;
    const std::size_t elements = 3 * Backend::MomentElements + 77;
    const Bytes before = randomBytes(elements * 2, random);
    Bytes after = before;
    for (std::size_t i = 0; i < after.size(); i += 37)
        after[i] ^= std::byte { 3 };
    const DevicePair pairs[] = { { module.upload(before), module.upload(after), 0, elements },
                                 { module.upload(after), module.upload(before), 0, 100 } };
    std::vector<DiffMoments> moments(5);
    module.call(module->moments, &pairs[0], std::uint64_t { 2 }, static_cast<std::uint32_t>(Dtype::BF16),
                static_cast<void*>(moments.data()));
    module.call(module->wait);
    const std::size_t block = Backend::MomentElements * 2;
    for (std::size_t i = 0; i < 4; ++i) {
        const std::size_t size = std::min(block, before.size() - i * block);
        EXPECT_EQ(moments[i],
                  scalar->moments(ByteSpan(before).subspan(i * block, size), ByteSpan(after).subspan(i * block, size),
                                  Dtype::BF16));
    }
    EXPECT_EQ(moments[4], scalar->moments(ByteSpan(after).first(200), ByteSpan(before).first(200), Dtype::BF16));
}

TEST_F(DeviceModuleTest, SaysWhatTheDeviceIs)
{
    const auto backend = test::deviceBackend();
    const Result<DeviceInfo> info = backend->describe();
    ASSERT_TRUE(info) << info.error().text;
    EXPECT_GT(std::strlen(info->name), 0U);
    EXPECT_GT(info->totalBytes, 0U);
    EXPECT_GE(info->driverVersion, 13000);
    EXPECT_GE(info->major, 8);
}

/// What only a driver of the tests does.
class FakeDeviceTest : public testing::Test {
protected:
    void SetUp() override
    {
        if (test::isRealDevice())
            GTEST_SKIP() << "a device does not fail when it is asked to";
        test::plan({});
        m_before = test::counts();
    }
    void TearDown() override { test::plan({}); }

    void expectNothingLeaked() const
    {
        const test::FakeDriverCounts now = test::counts();
        EXPECT_EQ(now.buffers, m_before.buffers);
        EXPECT_EQ(now.streams, m_before.streams);
        EXPECT_EQ(now.events, m_before.events);
        EXPECT_EQ(now.contexts, m_before.contexts);
        EXPECT_EQ(now.modules, m_before.modules);
    }

private:
    test::FakeDriverCounts m_before; ///< others may have a device open
};

/// Everything that a device does for a backend: batches of each kind, each of one block, and more of them than slots.
struct Work {
    static constexpr std::size_t BlockBytes = 9 << 18;
    static constexpr std::size_t Blocks = 3;

    std::vector<std::uint32_t> positions;
    Bytes values;
    std::vector<DiffMoments> moments;
    std::vector<Digest128> patched; ///< by block, and by piece
    std::vector<PatchCounts> counts;

    explicit Work(const Backend& backend)
    {
        const auto& [before, after] = states();
        const auto find = backend.find(2, [&](const ChangedBlock& block) -> Result<void> {
            positions.insert(positions.end(), block.positions.begin(), block.positions.end());
            values.insert(values.end(), block.values.begin(), block.values.end());
            return {};
        });
        const auto measure =
            backend.measure(Dtype::BF16, [&](const DiffMoments& measured) { moments.push_back(measured); });
        for (std::size_t n = 0; n < Blocks; ++n) {
            const std::size_t at = n * BlockBytes;
            EXPECT_TRUE(find->add(ByteSpan(before).subspan(at, BlockBytes), ByteSpan(after).subspan(at, BlockBytes)));
            EXPECT_TRUE(
                measure->add(ByteSpan(before).subspan(at, BlockBytes), ByteSpan(after).subspan(at, BlockBytes)));
        }
        EXPECT_TRUE(find->finish());
        EXPECT_TRUE(measure->finish());
        patch(backend, before, PatchedStates::Last, BlockBytes);
        patch(backend, before, PatchedStates::Each, std::size_t { 1 } << 20);
    }
    bool operator==(const Work&) const = default;

private:
    static const std::pair<Bytes, Bytes>& states()
    {
        static const std::pair<Bytes, Bytes> made = [] {
            std::mt19937_64 random(4);
            const Bytes before = randomBytes(Blocks * BlockBytes, random);
            Bytes after = before;
            for (std::size_t i = 0; i < after.size(); i += 900)
                after[i] ^= std::byte { 1 };
            return std::pair(before, after);
        }();
        return made;
    }

    void patch(const Backend& backend, const Bytes& before, PatchedStates wanted, std::size_t bytes)
    {
        const std::vector<std::uint32_t> elements { 0, 5, 7000 };
        const Bytes bits(elements.size() * 2, std::byte { 0x5a });
        const PatchPiece pieces[] = { AssignElements { elements, bits }, XorElements { elements, bits },
                                      AssignBytes { elements, ByteSpan(bits).first(elements.size()) } };
        const std::unique_ptr<PatchBatches> batches = backend.patch(Dtype::BF16, wanted);
        for (std::size_t n = 0;;) {
            const auto block = [&] { return ByteSpan(before).subspan(n * BlockBytes, bytes); };
            while (n < Blocks && batches && batches->takesMore() && batches->add(block(), pieces))
                ++n;
            const PatchedBlock made = batches ? batches->next() : PatchedBlock();
            if (!made.bytes.empty()) {
                counts.insert(counts.end(), made.counts.begin(), made.counts.end());
                for (const ByteSpan state : made.states)
                    patched.push_back(xxh3(state));
                patched.push_back(xxh3(made.bytes));
            } else if (n < Blocks) {
                patchAlone(backend, block(), pieces, wanted);
                ++n;
            } else {
                return;
            }
        }
    }
    void patchAlone(const Backend& backend, ByteSpan block, std::span<const PatchPiece> pieces, PatchedStates wanted)
    {
        Bytes one(block.begin(), block.end());
        for (const PatchPiece& piece : pieces) {
            if (wanted == PatchedStates::Each)
                patched.push_back(xxh3(one));
            counts.push_back(backend.apply(piece, one, Dtype::BF16));
        }
        patched.insert(patched.end(), wanted == PatchedStates::Each ? 2 : 1, xxh3(one));
    }
};

/// A slice lets each n-th call of the driver fail.
constexpr std::size_t EachCall = test::UnderThreadSanitizer ? 51 : test::UnderSanitizer ? 15 : 5;

TEST_F(FakeDeviceTest, AFailureOfAnyCallEndsInTheSameResultAndOneNotice)
{
    const Work expected(*Backends::builtin().all().front());
    std::uint64_t calls = 0;
    {
        const auto backend = test::deviceBackend();
        ASSERT_TRUE(backend->isSupportedHere());
        EXPECT_EQ(Work(*backend), expected);
        EXPECT_TRUE(backend->notices().empty());
        calls = test::counts().calls;
        EXPECT_GT(test::counts().launches, 4U);
    }
    expectNothingLeaked();
    ASSERT_GT(calls, 100U);
    std::size_t withoutNotice = 0;
    for (const cuda::Status status : { 2, 700, 999 }) {
        // The others end the device: each is tried half as often.
        for (const std::size_t trial : test::chosenTrials(calls, (status == 2 ? 1 : 2) * EachCall)) {
            const std::uint64_t call = trial + 1;
            test::FakeDriverPlan plan;
            plan.failAtCall = call;
            plan.failWith = status;
            test::plan(plan);
            {
                const auto backend = test::deviceBackend();
                const bool isOpen = backend->isSupportedHere();
                SCOPED_TRACE(testing::Message() << "call " << call << " " << test::counts().failed << " " << status);
                EXPECT_EQ(Work(*backend), expected);
                const std::vector<Error> notices = backend->notices();
                EXPECT_EQ(!backend->obstacle(), isOpen);
                // Memory that is not pinned does as well: where pinned memory is refused, nobody need know.
                const std::string failed = test::counts().failed;
                const bool mayBePageable = status == 2 && (failed == "cuMemHostAlloc" || failed == "cuCtxPushCurrent");
                EXPECT_LE(notices.size(), isOpen ? 1U : 0U);
                EXPECT_GE(notices.size(), isOpen && !mayBePageable ? 1U : 0U);
                withoutNotice += isOpen && notices.empty() ? 1 : 0;
                if (isOpen && status == 700 && !notices.empty()) {
                    EXPECT_NE(notices[0].text.find("CUDA_ERROR_ILLEGAL_ADDRESS"), std::string::npos);
                    const std::uint64_t launches = test::counts().launches;
                    EXPECT_EQ(Work(*backend), expected);
                    EXPECT_EQ(test::counts().launches, launches) << "a lost device is not asked again";
                }
                if (isOpen && status == 2 && call % 4 == 0) {
                    EXPECT_EQ(Work(*backend), expected);
                    EXPECT_EQ(backend->notices().size(), notices.size()) << "memory is there again";
                }
            }
            expectNothingLeaked();
        }
    }
    EXPECT_TRUE(withoutNotice > 0 || !test::isWholeSweep()); // a slice tries too few calls to say
}

TEST_F(FakeDeviceTest, BatchesThatNobodyUsesAreReleased)
{
    const Work expected(*Backends::builtin().all().front());
    const auto backend = test::deviceBackend();
    backend->releaseIdle(); // does not open the device
    EXPECT_EQ(test::counts().calls, 0U);
    EXPECT_TRUE(Work(*backend) == expected);
    EXPECT_GT(test::counts().buffers, 0U);
    backend->releaseIdle();
    EXPECT_EQ(test::counts().buffers, 0U);
    EXPECT_EQ(test::counts().streams, 0U);
    EXPECT_TRUE(Work(*backend) == expected);
    EXPECT_TRUE(backend->notices().empty());
}

TEST_F(FakeDeviceTest, ABatchThatIsUsedIsNotReleased)
{
    const auto backend = test::deviceBackend();
    const Bytes before(1 << 16);
    Bytes after = before;
    after[4] = std::byte { 1 };
    std::vector<std::uint32_t> found;
    const auto find = backend->find(2, [&](const ChangedBlock& block) -> Result<void> {
        found.insert(found.end(), block.positions.begin(), block.positions.end());
        return {};
    });
    ASSERT_TRUE(find->add(before, after));
    backend->releaseIdle();
    ASSERT_TRUE(find->finish());
    EXPECT_EQ(found, (std::vector<std::uint32_t> { 2 }));
    EXPECT_EQ(backend->share()->byDevice, before.size() + after.size());
}

TEST_F(FakeDeviceTest, WhatHadNoRoomIsTriedAgainBehindARelease)
{
    const auto streamsOf = [](const DeviceBackend& backend) {
        const Work work(backend);
        return test::counts().streams;
    };
    const std::uint64_t all = streamsOf(*test::deviceBackend());
    const std::uint64_t calls = test::counts().calls;
    bool wasTried = false;
    for (std::uint64_t call = 1; call <= calls && !wasTried; ++call) {
        test::FakeDriverPlan plan;
        plan.failAtCall = call;
        plan.failWith = cuda::OutOfMemory;
        test::plan(plan);
        const auto backend = test::deviceBackend();
        if (!backend->isSupportedHere() || streamsOf(*backend) == all || streamsOf(*backend) == all)
            continue; // it was tried again at once
        backend->releaseIdle();
        EXPECT_EQ(streamsOf(*backend), all);
        wasTried = true;
    }
    EXPECT_TRUE(wasTried);
}

TEST_F(FakeDeviceTest, MachinesWithoutADeviceSaySo)
{
    test::FakeDriverPlan plan;
    plan.devices = 0;
    test::plan(plan);
    EXPECT_NE(test::deviceBackend()->obstacle()->text.find("finds no device"), std::string::npos);
    plan = {};
    plan.version = 12080;
    test::plan(plan);
    const std::string old = test::deviceBackend()->obstacle()->text;
    EXPECT_NE(old.find("the driver knows CUDA 12.8, and CUDA 13.0 is needed"), std::string::npos) << old;
    const auto chosen = Backends::builtin().with(test::deviceBackend()).choose("cuda");
    ASSERT_FALSE(chosen);
    EXPECT_EQ(chosen.error().code, Code::Unsupported);
    EXPECT_NE(chosen.error().text.find(old), std::string::npos) << chosen.error().text;
    EXPECT_EQ(chosen.error().action.find("Install a driver of the 580 series or a newer one. Or choose another one: "),
              0U)
        << chosen.error().action;
    expectNothingLeaked();
}

TEST_F(FakeDeviceTest, ADriverThatDoesNotStartSaysWhy)
{
    const auto obstacleWith = [](cuda::Status status) {
        test::FakeDriverPlan plan;
        plan.failAtCall = 2; // cuInit, behind the driver's version
        plan.failWith = status;
        test::plan(plan);
        const Error obstacle = test::deviceBackend()->obstacle().value_or(Error());
        EXPECT_EQ(test::counts().failed, "cuInit");
        EXPECT_EQ(obstacle.code, Code::Unsupported);
        return obstacle;
    };
    EXPECT_EQ(obstacleWith(100).text, "the driver of NVIDIA finds no device");
    for (const cuda::Status status : { 802, 803, 999 }) {
        EXPECT_EQ(obstacleWith(status).text, "the driver of NVIDIA does not start: cuInit fails: CUDA_ERROR_OF_A_TEST");
    }
    EXPECT_NE(obstacleWith(802).action.find("nvidia-fabricmanager"), std::string::npos);
    EXPECT_NE(obstacleWith(803).action.find("another version of the driver"), std::string::npos);
}

TEST_F(FakeDeviceTest, ADeviceThatTheModuleHasNoKernelsForIsUnsupported)
{
    for (const cuda::Status status : { 209, 200 }) {
        bool isFound = false;
        for (std::uint64_t call = 1; !isFound; ++call) {
            test::FakeDriverPlan plan;
            plan.failAtCall = call;
            plan.failWith = status;
            test::plan(plan);
            const Error obstacle = test::deviceBackend()->obstacle().value_or(Error());
            ASSERT_NE(test::counts().failed, "");
            isFound = test::counts().failed == "cuModuleLoadData";
            if (!isFound)
                continue;
            EXPECT_EQ(obstacle.code, status == 209 ? Code::Unsupported : Code::Io) << obstacle.text;
            EXPECT_EQ(obstacle.text,
                      status == 209 ? "the module has no kernels for a device of compute capability 9.0: it has those "
                                      "for 8.0, 9.0 and newer ones"
                                    : "cuModuleLoadData fails: CUDA_ERROR_OF_A_TEST");
        }
    }
    expectNothingLeaked();
}

TEST_F(FakeDeviceTest, FullMemoryIsThatOfTheDeviceOrOfTheMachine)
{
    OpenModule module;
    const auto faultOf = [](auto&& call) {
        test::FakeDriverPlan plan;
        plan.failAtCall = 2; // behind the context
        plan.failWith = cuda::OutOfMemory;
        test::plan(plan);
        DeviceFault fault {};
        EXPECT_NE(call(&fault), 0);
        test::plan({});
        EXPECT_EQ(fault.code, static_cast<std::int32_t>(Code::NoSpace));
        return fault;
    };
    void* host = nullptr;
    std::uint64_t address = 0;
    const auto queue = module.queue();
    const DeviceFault pinned =
        faultOf([&](DeviceFault* fault) { return module->allocateHost(queue, 4096, &host, fault); });
    EXPECT_EQ(std::string(pinned.action).find("Free memory of this machine"), 0U) << pinned.action;
    const DeviceFault full =
        faultOf([&](DeviceFault* fault) { return module->allocate(queue, 4096, &address, fault); });
    EXPECT_EQ(std::string(full.action), "Free memory of the device.");
}

TEST_F(FakeDeviceTest, AllDevicesAreListedAndNoneIsOpened)
{
    test::FakeDriverPlan plan;
    plan.devices = 3;
    test::plan(plan);
    const auto backend = test::deviceBackend();
    const auto devices = backend->devices();
    ASSERT_TRUE(devices) << devices.error().text;
    ASSERT_EQ(devices->size(), 3U);
    EXPECT_STREQ((*devices)[2].name, "a device of a test");
    EXPECT_GT((*devices)[2].totalBytes, 0U);
    EXPECT_EQ((*devices)[2].freeBytes, 0U);
    expectNothingLeaked();
    EXPECT_FALSE(backend->share()) << "it was not opened";
    plan.devices = 0;
    test::plan(plan);
    EXPECT_EQ(test::deviceBackend()->devices().error().code, Code::Unsupported);
}

TEST_F(FakeDeviceTest, ADeviceThatIsFullIsDescribedAndNotUsed)
{
    test::FakeDriverPlan plan;
    plan.freeBytes = std::uint64_t { 300 } << 20;
    test::plan(plan);
    const auto backend = test::deviceBackend();
    EXPECT_FALSE(backend->isSupportedHere());
    EXPECT_NE(backend->obstacle()->text.find("30 MiB of the memory of a device of a test may be taken"),
              std::string::npos);
    const auto info = backend->describe();
    ASSERT_TRUE(info) << info.error().text;
    EXPECT_EQ(info->freeBytes, plan.freeBytes);
    EXPECT_TRUE(test::deviceBackend(std::uint64_t { 32 } << 20)->isSupportedHere());
}

TEST_F(FakeDeviceTest, ThreadsHaveQueuesOfTheirOwn)
{
    const Work expected(*Backends::builtin().all().front());
    {
        const auto backend = test::deviceBackend();
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&] {
                for (int round = 0; round < 5; ++round)
                    EXPECT_EQ(Work(*backend), expected);
            });
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_TRUE(backend->notices().empty());
        EXPECT_LE(test::counts().streams, 12U);
    }
    expectNothingLeaked();
}

TEST(DeviceModuleFile, ThatIsNoneOrOfAnotherBuildIsRefused)
{
    const auto refusal = [](const std::string& path) {
        const Result<const DeviceModule*> loaded = loadDeviceModule(path);
        EXPECT_FALSE(loaded);
        EXPECT_EQ(loaded.error().code, Code::Unsupported);
        EXPECT_EQ(loaded.error().where, path);
        return loaded ? std::string() : loaded.error().text;
    };
    EXPECT_NE(refusal("/no/such/module.so").find("not installed"), std::string::npos);
    EXPECT_NE(refusal("/proc/self/cmdline").find("cannot be loaded"), std::string::npos);
    EXPECT_NE(refusal("/lib/x86_64-linux-gnu/libm.so.6").find("no module"), std::string::npos);
    const test::TempDir folder;
    EXPECT_NE(refusal(folder.path()).find("is no file"), std::string::npos);
    ASSERT_EQ(mkfifo(folder.path("pipe").c_str(), 0600), 0);
    EXPECT_NE(refusal(folder.path("pipe")).find("is no file"), std::string::npos) << "and nothing waits for a writer";
}

TEST(DeviceModuleFile, ThatIsRelativeIsOfTheCurrentFolderAlone)
{
    const test::TempDir folder;
    folder.write("libm.so.6", "no library");
    const std::filesystem::path before = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    const Result<const DeviceModule*> here = loadDeviceModule("libm.so.6");
    const Result<const DeviceModule*> elsewhere = loadDeviceModule("libdl.so.2");
    std::filesystem::current_path(before);
    ASSERT_FALSE(here);
    EXPECT_NE(here.error().text.find("cannot be loaded"), std::string::npos) << here.error().text;
    EXPECT_EQ(here.error().where, folder.path("libm.so.6"));
    ASSERT_FALSE(elsewhere);
    EXPECT_NE(elsewhere.error().text.find("not installed"), std::string::npos) << elsewhere.error().text;
}

} // namespace
} // namespace deltascope::device_module_test

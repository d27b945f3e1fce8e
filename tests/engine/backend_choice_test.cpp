#include "deltascope/engine/operations.h"

#include "session.h"
#include "tiny_run.h"

#include <atomic>

// Which Backend operations use: the one that the workbench chooses, and none where it can choose none.

namespace deltascope {
namespace {

using namespace layout_test;

/// Does what the scalar one does, and counts the pieces that it applies.
class CountingBackend final : public Backend {
public:
    explicit CountingBackend(bool isSupported)
        : m_isSupported(isSupported)
    {
    }
    std::uint64_t applied() const noexcept { return m_applied; }

    std::string_view name() const noexcept override { return "counting"; }
    bool isSupportedHere() const noexcept override { return m_isSupported; }
    std::uint64_t count(ByteSpan before, ByteSpan after, unsigned elementBytes) const noexcept override
    {
        return m_scalar->count(before, after, elementBytes);
    }
    std::size_t extract(ByteSpan before, ByteSpan after, unsigned elementBytes, std::uint32_t* positions,
                        std::byte* values) const noexcept override
    {
        return m_scalar->extract(before, after, elementBytes, positions, values);
    }
    std::uint64_t xorInto(ByteSpan before, ByteSpan after, unsigned elementBytes,
                          MutableByteSpan out) const noexcept override
    {
        return m_scalar->xorInto(before, after, elementBytes, out);
    }
    DiffMoments moments(ByteSpan before, ByteSpan after, Dtype dtype) const noexcept override
    {
        return m_scalar->moments(before, after, dtype);
    }
    PatchCounts apply(const PatchPiece& piece, MutableByteSpan block, Dtype dtype) const noexcept override
    {
        ++m_applied;
        return m_scalar->apply(piece, block, dtype);
    }

private:
    std::shared_ptr<const Backend> m_scalar = Backends::builtin().all().front();
    bool m_isSupported;
    mutable std::atomic<std::uint64_t> m_applied = 0;
};

/// A run whose step 4 stands on three deltas, and a backend beside the scalar one.
struct Choice : Session {
    explicit Choice(bool isSupported = true)
        : counting(std::make_shared<CountingBackend>(isSupported))
    {
        openDisk();
        bench.backends = Backends({ Backends::builtin().all().front(), counting });
    }

    std::shared_ptr<CountingBackend> counting;
    const TinyRun tiny = TinyRun::sound();
};

TEST(BackendChoice, OffersWhatThisMachineRuns)
{
    const Error error = errorOf(Choice(false).bench.backends.choose("counting"));
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_EQ(error.action, "choose another one: scalar");
}

Result<CheckpointDigest> digestOfStep(Choice& choice, std::int64_t step)
{
    DS_TRY(const deltascope::Run run, choice.open(choice.tiny.store));
    DS_TRY(const Plan plan, planFor(run, *run.find(step)));
    DS_TRY(const PathPtr path, openPath(run, plan, {}, choice.task));
    return digestState(choice.bench, *path, choice.task);
}

Result<MaterializeReport> materializeStep(Choice& choice, std::int64_t step, const std::string& destination)
{
    DS_TRY(const deltascope::Run run, choice.open(choice.tiny.store));
    DS_TRY(const Plan plan, planFor(run, *run.find(step)));
    MaterializeOptions options;
    options.destination = destination;
    return materialize(choice.bench, run, *run.find(step), plan, options, choice.task);
}

TEST(BackendChoice, TheChosenOneAppliesDeltas)
{
    Choice choice;
    const auto digest = digestOfStep(choice, 4);
    ASSERT_TRUE(digest) << digest.error().text;
    EXPECT_EQ(choice.counting->applied(), 3U); // one for each delta of "w"
    ASSERT_TRUE(materializeStep(choice, 4, choice.folder.path("out")));
    EXPECT_GT(choice.counting->applied(), 3U);
    const std::uint64_t before = choice.counting->applied();
    choice.analyzed(choice.tiny.store);
    EXPECT_GT(choice.counting->applied(), before);
}

TEST(BackendChoice, TheForcedOneAppliesDeltasInstead)
{
    Choice choice;
    const auto fast = digestOfStep(choice, 4);
    const std::uint64_t before = choice.counting->applied();
    choice.bench.forcedBackend = "scalar";
    const auto scalar = digestOfStep(choice, 4);
    ASSERT_TRUE(fast && scalar);
    EXPECT_EQ(scalar->root.fast, fast->root.fast);
    EXPECT_EQ(choice.counting->applied(), before);
}

TEST(BackendChoice, WithoutOneNothingIsWrittenAndNoVersionIsToBlame)
{
    const std::pair<const char*, Code> cases[] = { { "abacus", Code::Usage }, { "counting", Code::Unsupported } };
    for (const auto& [name, code] : cases) {
        Choice choice(false);
        choice.bench.forcedBackend = name;
        EXPECT_EQ(errorOf(digestOfStep(choice, 4)).code, code);
        EXPECT_EQ(errorOf(materializeStep(choice, 4, choice.folder.path("out"))).code, code);
        EXPECT_FALSE(choice.disk->exists(choice.folder.path("out")));
        auto run = choice.open(choice.tiny.store);
        ASSERT_TRUE(run) << run.error().text;
        EXPECT_EQ(errorOf(analyzeRun(choice.bench, *run, {}, choice.task)).code, code);
        for (const Version& version : run->versions) {
            EXPECT_FALSE(version.facts) << version.step();
            EXPECT_FALSE(version.obstacle) << version.step();
        }
    }
}

} // namespace
} // namespace deltascope

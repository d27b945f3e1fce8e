#include "publish/head_check.h"

#include "deltascope/engine/backend.h"
#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/walk.h"
#include "format/common/quote_name.h"
#include "ops/touched_links.h"

#include <algorithm>
#include <fmt/format.h>
#include <variant>

namespace deltascope {

namespace {

/// The newest form on the way to a state.
class NewestForm {
public:
    NewestForm(const PathState& path, const WalkMeans& means)
        : m_path(path)
        , m_newest(*path.links().back())
        , m_means(means)
    {
    }

    /// That it leads to `from`, as far as its tensors tell.
    Result<void> expectLeadsTo(const State& from, TaskContext& task) const
    {
        std::vector<TensorSlice> slices;
        std::uint64_t bytes = 0;
        for (const TensorEntry& entry : m_newest.index.tensors) {
            const std::optional<std::size_t> tensor = from.indexOf(entry.name());
            if (!tensor)
                return fail(unlike(entry, "the state to publish from lacks it"));
            bytes += from.tensors()[*tensor].bytes();
            slices.push_back({ *tensor });
        }
        task.beginPhase("newest step", bytes);
        DS_TRY(const std::unique_ptr<StateWalk> walk, from.walk(std::move(slices), { m_means }));
        const auto compare = [&](std::size_t slice, SliceReader& reader) {
            return expectTensor(*m_newest.index.find(walk->tensor(slice).name), walk->tensor(slice), reader, task);
        };
        DS_CHECK(walkTensors(*walk, m_means.threads, task, compare));
        return {};
    }

    /// That its patches can be decoded. Full tensors have nothing to decode.
    Result<void> expectDecodes(TaskContext& task) const
    {
        if (m_newest.index.full)
            return {};
        for (const TensorEntry& entry : m_newest.index.tensors) {
            const TensorInfo& tensor = *m_path.find(entry.name());
            DS_TRY(const std::unique_ptr<PatchStream> stream, open(entry, tensor, task));
            for (std::uint64_t at = 0; at < tensor.bytes();) {
                DS_CHECK(task.checkpoint());
                const std::uint64_t end = std::min(tensor.bytes(), at + blockBytesOf(tensor.dtype));
                DS_CHECK(located(stream->next(at, end)));
                at = end;
            }
            DS_CHECK(located(stream->finish()));
        }
        return {};
    }

private:
    template <class T> Result<T> located(Result<T> outcome) const
    {
        if (outcome)
            return outcome;
        Error error = std::move(outcome.error());
        if (error.where.empty())
            error.where = m_newest.objects.name;
        return fail(error.code == Code::Canceled ? std::move(error) : atStep(std::move(error), m_newest.objects.step));
    }

    Result<std::unique_ptr<PatchStream>> open(const TensorEntry& entry, const TensorInfo& tensor,
                                              TaskContext& task) const
    {
        StreamOptions options;
        options.task = &task;
        options.scratchFolder = m_means.scratchFolder;
        return located(
            m_newest.layout->open(*m_newest.store, m_newest.objects, m_newest.index, entry, tensor, options));
    }

    Error unlike(const TensorEntry& entry, std::string_view why) const
    {
        return { Code::Digest,
                 fmt::format("its bytes do not lead to the state that it records: {}: {}", quoteName(entry.name()),
                             why),
                 m_newest.objects.name, m_newest.objects.step, "verify the run" };
    }

    /// The last digest that the run records of a tensor before the newest form; empty if there is none.
    std::pair<DigestAlgorithm, std::string> digestBefore(const TensorEntry& entry) const
    {
        const std::size_t last = m_path.links().size() - 1;
        const std::optional<std::size_t> at =
            last > 0 ? touchedAt(m_path, entry.name(), last - 1) : std::optional<std::size_t>();
        if (!at)
            return { DigestAlgorithm::None, {} };
        const VersionIndex& index = m_path.links()[*at]->index;
        return { index.digests, std::string(index.find(entry.name())->digest.view()) };
    }

    Result<void> expectTensor(const TensorEntry& entry, const TensorInfo& tensor, SliceReader& reader,
                              TaskContext& task) const
    {
        DS_TRY(const std::unique_ptr<PatchStream> stream, open(entry, tensor, task));
        const auto [algorithm, recorded] = digestBefore(entry);
        const std::unique_ptr<StreamingDigest> before = recorded.empty() ? nullptr : makeDigest(algorithm);
        const std::unique_ptr<StreamingDigest> behind =
            entry.digest.view().empty() ? nullptr : makeDigest(m_newest.index.digests);
        std::vector<std::byte> state;
        std::uint64_t at = 0;
        std::uint64_t different = 0;
        bool isXored = false;
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) -> Result<void> {
            DS_TRY(const PatchPiece piece, located(stream->next(at, at + block.size())));
            at += block.size();
            state.assign(block.begin(), block.end());
            const PatchCounts counts = m_means.backend->apply(piece, state, tensor.dtype);
            if (std::holds_alternative<XorBlock>(piece) || std::holds_alternative<XorElements>(piece))
                isXored = true;
            else
                different += counts.changed;
            if (behind)
                behind->update(block);
            if (before)
                before->update(state);
            return {};
        }));
        DS_CHECK(located(stream->finish()));
        if (different > 0)
            return fail(unlike(entry, fmt::format("{} elements differ", different)));
        if (behind && behind->hex() != entry.digest.view())
            return fail(unlike(entry, "its digest is another one"));
        if (isXored && before && before->hex() != recorded)
            return fail(unlike(entry, "it was made from another tensor than the step before records"));
        return {};
    }

    const PathState& m_path;
    const OpenVersion& m_newest;
    const WalkMeans& m_means;
};

} // namespace

Result<void> expectSoundHead(Workbench& bench, const Run& run, const Version& newest, const State* from,
                             bool acceptRewritten, TaskContext& task)
{
    DS_TRY(const WalkMeans means, bench.means());
    DS_TRY(FallbackPlans plans, FallbackPlans::of(run, newest));
    return tryPlans(plans, [&](const Plan& plan) -> Result<void> {
        DS_TRY(const PathPtr path, openChecked(bench, run, plan, acceptRewritten, task));
        const auto check = [&]() -> Result<bool> {
            DS_CHECK(path->expectKnownObjects(task));
            const NewestForm form(*path, means);
            DS_CHECK(from ? form.expectLeadsTo(*from, task) : form.expectDecodes(task));
            return true;
        };
        DS_CHECK(ifSound(check(), { path.get() }, task));
        return {};
    });
}

} // namespace deltascope

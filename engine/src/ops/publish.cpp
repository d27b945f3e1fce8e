#include "deltascope/engine/publish.h"

#include "deltascope/engine/diff_backend.h"
#include "deltascope/engine/version_writer.h"

#include <algorithm>
#include <atomic>
#include <fmt/format.h>

namespace deltascope {

namespace {

    /// Which writers a layout word and its options mean.
    class WriterChoice {
    public:
        static Result<WriterChoice> of(const PublishOptions& options, const std::string& spoolFolder)
        {
            WriterChoice choice;
            choice.m_spoolFolder = spoolFolder;
            if (options.layout == "trl-v2") {
                if (options.encoding == "raw")
                    choice.m_trlEncoding = TrlV2Encoding::Raw;
                else if (!options.encoding.empty() && options.encoding != "gap_delta")
                    return unknown("encoding", options.encoding, "gap_delta and raw");
                if (!options.checksum.empty())
                    return fail(Code::Usage, "trl-v2 records no checksums");
                return choice;
            }
            if (options.layout != "slime-v2")
                return fail(Code::Usage, fmt::format("{} cannot be written; this build writes trl-v2 and slime-v2", options.layout));
            choice.m_slime = true;
            if (options.encoding == "overwrite")
                choice.m_slimeEncoding = SlimeV2Encoding::Overwrite;
            else if (!options.encoding.empty() && options.encoding != "xor")
                return unknown("encoding", options.encoding, "xor and overwrite");
            for (const DigestAlgorithm algorithm : { DigestAlgorithm::Xxh3_128, DigestAlgorithm::Blake3, DigestAlgorithm::Adler32 }) {
                if (options.checksum == word(algorithm))
                    choice.m_checksum = algorithm;
            }
            if (!options.checksum.empty() && options.checksum != word(choice.m_checksum))
                return unknown("checksum", options.checksum, "xxh3-128, blake3 and adler32");
            return choice;
        }

        bool startsWithAnchor() const noexcept { return !m_slime; }
        std::int64_t firstDelta() const noexcept { return m_slime ? 1 : 2; }

        Result<std::unique_ptr<VersionWriter>> anchor(std::int64_t step, const std::vector<TensorInfo>& tensors) const
        {
            return makeTrlV2AnchorWriter(trlOptions(step), tensors);
        }

        Result<std::unique_ptr<VersionWriter>> delta(std::int64_t step) const
        {
            if (!m_slime)
                return makeTrlV2DeltaWriter(trlOptions(step));
            SlimeV2WriterOptions options;
            options.spoolFolder = m_spoolFolder;
            options.version = step;
            options.baseVersion = step - 1;
            options.encoding = m_slimeEncoding;
            options.checksum = m_checksum;
            return makeSlimeV2DeltaWriter(options);
        }

    private:
        static tl::unexpected<Error> unknown(std::string_view what, std::string_view given, std::string_view known)
        {
            return fail(Code::Usage, fmt::format("{} is no {}; there are {}", given, what, known));
        }

        TrlV2WriterOptions trlOptions(std::int64_t step) const
        {
            TrlV2WriterOptions options;
            options.spoolFolder = m_spoolFolder;
            options.facts["ds.v"] = "1";
            options.step = step;
            options.encoding = m_trlEncoding;
            return options;
        }

        bool m_slime = false;
        TrlV2Encoding m_trlEncoding = TrlV2Encoding::GapDelta;
        SlimeV2Encoding m_slimeEncoding = SlimeV2Encoding::Xor;
        DigestAlgorithm m_checksum = DigestAlgorithm::Xxh3_128;
        std::string m_spoolFolder;
    };

    /// Walks states tensor by tensor and block by block into a writer.
    class Publication {
    public:
        Publication(Workbench& bench, std::shared_ptr<const DiffBackend> backend)
            : m_bench(bench)
            , m_backend(std::move(backend))
        {
        }

        Result<PublishedVersion> anchor(ObjectStore& into, std::int64_t step, VersionWriter& writer, const Chain& state,
                                        TaskContext& task)
        {
            task.beginPhase("anchor", state.stateBytes());
            DS_CHECK(eachTensor(state, task, [&](const TensorInfo& tensor) { return copyTensor(writer, state, tensor, task); }));
            PublishedVersion version { step, 0, {} };
            for (const TensorInfo& tensor : state.tensors())
                version.changedElements += tensor.elements();
            DS_TRY(version.objects, writer.finish(into, task));
            return version;
        }

        Result<PublishedVersion> delta(ObjectStore& into, std::int64_t step, VersionWriter& writer, const Chain& from,
                                       const Chain& to, TaskContext& task)
        {
            task.beginPhase("diff", to.stateBytes());
            std::atomic<std::uint64_t> changed = 0;
            DS_CHECK(eachTensor(to, task, [&](const TensorInfo& tensor) -> Result<void> {
                DS_TRY(const std::uint64_t count, diffTensor(writer, from, to, tensor, task));
                changed += count;
                return {};
            }));
            PublishedVersion version { step, changed, {} };
            DS_TRY(version.objects, writer.finish(into, task));
            return version;
        }

    private:
        template <class Work>
        Result<void> eachTensor(const Chain& state, TaskContext& task, const Work& work)
        {
            std::vector<const TensorInfo*> tensors;
            for (const TensorInfo& tensor : state.tensors())
                tensors.push_back(&tensor);
            std::stable_sort(tensors.begin(), tensors.end(),
                             [](const TensorInfo* a, const TensorInfo* b) { return a->bytes() > b->bytes(); });
            return forEachParallel(m_bench.threads, tensors.size(), task, [&](std::size_t i) { return work(*tensors[i]); });
        }

        Result<TensorReplay> replay(const Chain& chain, const TensorInfo& tensor, TaskContext& task) const
        {
            ReplayOptions options;
            options.scratchFolder = m_bench.scratchFolder;
            return TensorReplay::open(chain, tensor, std::move(options), task);
        }

        Result<void> copyTensor(VersionWriter& writer, const Chain& state, const TensorInfo& tensor, TaskContext& task)
        {
            DS_TRY(const std::unique_ptr<TensorWriter> out, writer.begin(tensor));
            DS_TRY(TensorReplay blocks, replay(state, tensor, task));
            for (;;) {
                DS_TRY(const ByteSpan block, blocks.next(task));
                if (block.empty())
                    return out->end(task);
                DS_CHECK(out->add(TensorBlock { {}, block, {} }));
                task.addDone(block.size());
            }
        }

        /// Returns how many elements changed.
        Result<std::uint64_t> diffTensor(VersionWriter& writer, const Chain& from, const Chain& to, const TensorInfo& tensor,
                                         TaskContext& task)
        {
            const unsigned elementBytes = std::max(1U, bitsOf(tensor.dtype) % 8 == 0 ? bitsOf(tensor.dtype) / 8 : 1U);
            const std::size_t room = std::min(blockBytesOf(tensor.dtype), tensor.bytes()) / elementBytes + DiffBackend::SlackElements;
            std::vector<std::uint32_t> positions(room);
            std::vector<std::byte> values(room * elementBytes);
            DS_TRY(const std::unique_ptr<TensorWriter> out, writer.begin(tensor));
            DS_TRY(TensorReplay before, replay(from, tensor, task));
            DS_TRY(TensorReplay after, replay(to, tensor, task));
            std::uint64_t changed = 0;
            for (std::uint64_t at = 0;;) {
                DS_TRY(const ByteSpan old, before.next(task));
                DS_TRY(const ByteSpan fresh, after.next(task));
                if (fresh.empty())
                    break;
                const std::size_t count = m_backend->extract(old, fresh, elementBytes, positions.data(), values.data());
                const ElementChanges changes { at / elementBytes, std::span(positions.data(), count),
                                               ByteSpan(values.data(), count * elementBytes) };
                DS_CHECK(out->add(TensorBlock { old, fresh, changes }));
                changed += count;
                at += fresh.size();
                task.addDone(fresh.size());
            }
            DS_CHECK(out->end(task));
            return changed;
        }

        Workbench& m_bench;
        std::shared_ptr<const DiffBackend> m_backend;
    };

    Result<void> checkSameTensors(const Chain& from, const Chain& to)
    {
        for (const TensorInfo& tensor : to.tensors()) {
            const TensorInfo* old = from.find(tensor.name);
            if (!old || old->dtype != tensor.dtype || old->shape != tensor.shape)
                return fail(Code::BaseMismatch, fmt::format("tensor {} is not the same in both states: a delta cannot say that", tensor.name));
        }
        if (from.tensors().size() != to.tensors().size())
            return fail(Code::BaseMismatch, "the second state lacks tensors of the first: a delta cannot say that");
        return {};
    }

    /// The step behind the newest one of the run; `from` must be its state.
    Result<std::int64_t> nextStep(Workbench& bench, std::shared_ptr<ObjectStore> into, OpenOptions options, const Chain& from,
                                  const std::string& layout, TaskContext& task)
    {
        DS_TRY(const Run run, openRun(bench, std::move(into), options, task));
        if (run.layout->word() != layout)
            return fail(Code::Usage, fmt::format("the source holds a run in {}, not in {}", run.layout->word(), layout), run.store->uri());
        const Version* newest = nullptr;
        for (const Version& version : run.versions)
            newest = version.epoch == run.epochs() - 1 ? &version : newest;
        if (!newest)
            return fail(Code::NotFound, "the source holds no version", run.store->uri());
        DS_TRY(const Plan plan, planFor(run, *newest));
        DS_TRY(const Chain state, Chain::open(run, plan, task));
        DS_TRY(const DiffReport difference, diffStates(bench, state, from, std::nullopt, task));
        if (!difference.equal())
            return fail(Error { Code::BaseMismatch,
                                fmt::format("the state to publish from is not step {}, the newest of the run: {} elements in {} tensors differ",
                                            newest->step(), difference.elementsDifferent(), difference.tensorsDifferent()),
                                run.store->uri(), newest->step(), "publish from the state that the run ends with" });
        return newest->step() + 1;
    }

}

Result<std::vector<PublishedVersion>> publishStep(Workbench& bench, std::shared_ptr<ObjectStore> into, const OpenOptions& base,
                                                  const Chain& from, const Chain& to, const PublishOptions& options,
                                                  TaskContext& task)
{
    DS_TRY(const WriterChoice choice, WriterChoice::of(options, bench.scratchFolder));
    DS_TRY(std::shared_ptr<const DiffBackend> backend, chooseDiffBackend(options.diffBackend));
    DS_CHECK(checkSameTensors(from, to));
    DS_TRY(std::vector<ObjectInfo> listing, listAll(*into, "", task));
    std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with(".deltascope/"); });

    Publication publication(bench, std::move(backend));
    std::vector<PublishedVersion> versions;
    std::int64_t step = choice.firstDelta();
    if (!listing.empty()) {
        DS_TRY(step, nextStep(bench, into, base, from, options.layout, task));
    } else if (choice.startsWithAnchor()) {
        DS_TRY(const std::unique_ptr<VersionWriter> writer, choice.anchor(step - 1, from.tensors()));
        DS_TRY(PublishedVersion anchor, publication.anchor(*into, step - 1, *writer, from, task));
        versions.push_back(std::move(anchor));
    }
    DS_TRY(const std::unique_ptr<VersionWriter> writer, choice.delta(step));
    DS_TRY(PublishedVersion delta, publication.delta(*into, step, *writer, from, to, task));
    versions.push_back(std::move(delta));
    return versions;
}

} // namespace deltascope

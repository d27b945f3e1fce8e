#include "deltascope/engine/operations.h"

#include "audit/first_state.h"
#include "deltascope/engine/parallel.h"
#include "deltascope/engine/walk.h"
#include "lineage/health.h"

#include "hash/hashers.h"
#include "provenance.h"
#include "rebuild_evidence.h"
#include "rebuild_folder.h"
#include "sidecars.h"
#include "step_evidence.h"
#include "tensor_sources.h"
#include "trainer_files.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope {

namespace {

constexpr std::string_view IndexName = "model.safetensors.index.json";

/// Larger tensors are cut so that several threads can work on one.
constexpr std::uint64_t SegmentBytes = 96U << 20;
constexpr std::uint64_t WritebackBytes = 8U << 20;

constexpr int MostRebuilds = 3; ///< where bytes of the source come wrong on their way

/// A stretch of one tensor of one shard.
struct WorkItem {
    std::uint32_t shard = 0;
    std::uint32_t tensor = 0; ///< within the shard
    std::uint64_t begin = 0;
    std::uint64_t end = 0;
};

/// By tensor, as State::tensors().
using FinishedTensors = std::vector<FinishedTensor>;

class Rebuild {
public:
    Rebuild(Workbench& bench, const WalkMeans& means, const PathState& chain, const OutputLayout& layout,
            RebuildFolder& folder, const MaterializeOptions& options)
        : m_bench(bench)
        , m_means(means)
        , m_chain(chain)
        , m_layout(layout)
        , m_folder(folder)
        , m_options(options)
    {
        if (options.parts == 1) // parts are bound to the objects by their plan
            m_sources.emplace(chain);
    }

    /// Writes all shards of this part and compares them with what was meant.
    Result<void> run(TaskContext& task)
    {
        DS_CHECK(openShards());
        DS_CHECK(planWork(task));
        DS_CHECK(writeAll(task));
        task.beginPhase("sync", 0);
        for (const auto& file : m_files) {
            if (file)
                DS_CHECK(file->sync());
        }
        return readBack(task);
    }

    /// Reads the files of all parts and compares them with what each part noted.
    Result<void> readParts(ClaimedTensors noted, TaskContext& task)
    {
        DS_CHECK(openParts(noted));
        for (auto& [name, claimed] : noted) {
            if (const std::optional<std::size_t> index = m_chain.indexOf(name))
                m_finished[*index] = std::move(claimed.tensor);
        }
        m_work = wholeTensors();
        return readBack(task);
    }

    FinishedTensors takeFinished() noexcept { return std::move(m_finished); }
    std::uint64_t resumedBytes() const noexcept { return m_resumedBytes; }
    /// Of what was written: tensors whose values no state could hold on purpose.
    std::vector<SuspectTensor> takeSuspects()
    {
        std::vector<SuspectTensor> suspects;
        for (auto& [name, suspect] : m_suspects)
            suspects.push_back(std::move(suspect));
        sortSuspects(suspects);
        return suspects;
    }

private:
    bool isOurs(std::size_t shard) const { return shard % m_options.parts == m_options.part; }

    Result<void> openShards()
    {
        std::uint64_t needed = 0;
        for (std::size_t i = 0; i < m_layout.shards.size(); ++i)
            needed += isOurs(i) ? m_layout.shards[i].sizeBytes : 0;
        if (!m_folder.adopted()) {
            DS_TRY(const std::uint64_t available, m_bench.disk->freeBytes(m_folder.path()));
            if (available < needed)
                return fail(Code::NoSpace, fmt::format("the checkpoint needs {} bytes, {} are free", needed, available),
                            m_options.destination);
        }
        if (m_folder.adopted() && m_options.parts == 1)
            DS_CHECK(m_folder.keepOnly(m_layout));
        m_files.resize(m_layout.shards.size());
        for (std::size_t i = 0; i < m_layout.shards.size(); ++i) {
            if (!isOurs(i))
                continue;
            DS_TRY(m_files[i], m_folder.openShard(m_layout.shards[i]));
            DS_CHECK(m_files[i]->write(0, asBytes(m_layout.shards[i].header())));
        }
        return {};
    }

    /// Every tensor must be noted and every file must have its size.
    Result<void> openParts(const ClaimedTensors& noted)
    {
        for (std::size_t i = 0; i < m_layout.shards.size(); ++i) {
            const OutputShard& shard = m_layout.shards[i];
            DS_TRY(const std::uint64_t size, m_bench.disk->sizeOf(pathOf(i)));
            if (size != shard.sizeBytes)
                return fail(Code::Unfinished, fmt::format("{} has {} of {} bytes", shard.name, size, shard.sizeBytes),
                            pathOf(i), m_folder.howToRepeat(i));
            for (const TensorInfo* tensor : shard.tensors) {
                if (!noted.contains(tensor->name))
                    return fail(Code::Unfinished, fmt::format("no part has finished {}", tensor->name), pathOf(i));
            }
            m_files.emplace_back();
            DS_TRY(m_files.back(), m_bench.disk->openExisting(pathOf(i)));
        }
        return {};
    }

    /// Of the shards of this part, largest first.
    std::vector<WorkItem> wholeTensors() const
    {
        std::vector<WorkItem> whole;
        for (std::size_t shard = 0; shard < m_layout.shards.size(); ++shard) {
            for (std::size_t i = 0; isOurs(shard) && i < m_layout.shards[shard].tensors.size(); ++i)
                whole.push_back(WorkItem { static_cast<std::uint32_t>(shard), static_cast<std::uint32_t>(i), 0,
                                           m_layout.shards[shard].tensors[i]->bytes() });
        }
        std::stable_sort(whole.begin(), whole.end(),
                         [](const WorkItem& a, const WorkItem& b) { return a.end > b.end; });
        return whole;
    }

    /// Cuts the work into items, largest tensors first, and verifies what an earlier attempt left.
    Result<void> planWork(TaskContext& task)
    {
        const std::vector<WorkItem> whole = wholeTensors();
        std::vector<char> done(whole.size(), 0);
        task.beginPhase("resume", 0);
        DS_CHECK(forEachParallel(m_means.threads, whole.size(), task, [&](std::size_t n) -> Result<void> {
            const auto claim = m_folder.claimed().find(tensorOf(whole[n]).name);
            if (claim == m_folder.claimed().end() || claim->second.sources != sourcesOf(claim->first))
                return {};
            DS_TRY(const std::vector<Digest128> leaves, hashWritten(whole[n], task));
            if (leaves != std::vector<Digest128>(claim->second.tensor.leaves))
                return {};
            done[n] = 1;
            const std::lock_guard lock(m_mutex);
            m_finished[*m_chain.indexOf(claim->first)] = claim->second.tensor;
            m_resumedBytes += whole[n].end;
            return {};
        }));
        const bool cut = !m_chain.hasDigests() && m_means.threads > 1;
        for (std::size_t n = 0; n < whole.size(); ++n) {
            if (done[n])
                continue;
            const std::size_t first = m_work.size();
            std::uint64_t at = 0;
            do {
                WorkItem item = whole[n];
                item.begin = at;
                if (cut && item.end - at > SegmentBytes + SegmentBytes / 2)
                    item.end = at + SegmentBytes;
                at = item.end;
                m_work.push_back(item);
            } while (at < whole[n].end);
            if (m_work.size() - first > 1)
                m_left[tensorOf(whole[n]).name] = m_work.size() - first;
        }
        return {};
    }

    Result<void> writeAll(TaskContext& task)
    {
        std::uint64_t bytes = 0;
        for (const WorkItem& item : m_work)
            bytes += item.end - item.begin;
        task.beginPhase("rebuild", bytes);
        DS_TRY(const std::unique_ptr<StateWalk> walk, m_chain.walk(slicesOfWork(), { m_means }));
        const auto write = [&](std::size_t n, SliceReader& reader) { return writeItem(m_work[n], reader, task); };
        DS_CHECK(walkTensors(*walk, m_means.threads, task, write));
        return {};
    }

    std::vector<TensorSlice> slicesOfWork() const
    {
        std::vector<TensorSlice> slices;
        slices.reserve(m_work.size());
        for (const WorkItem& item : m_work) {
            const TensorInfo& tensor = tensorOf(item);
            const unsigned bits = bitsOf(tensor.dtype);
            slices.push_back({ *m_chain.indexOf(tensor.name), item.begin * 8 / bits, item.end * 8 / bits });
        }
        return slices;
    }

    Result<void> writeItem(const WorkItem& item, SliceReader& reader, TaskContext& task)
    {
        LeafHasher leaves(LeafHasher::Strength::Fast);
        OutputFile& file = *m_files[item.shard];
        std::uint64_t at = fileOffset(item);
        std::uint64_t pending = 0;
        DS_CHECK(forEachBlock(reader, task, [&](ByteSpan block) -> Result<void> {
            leaves.update(block);
            DS_CHECK(file.write(at, block));
            at += block.size();
            pending += block.size();
            if (pending >= WritebackBytes) {
                file.startWriteback(at - pending, pending);
                pending = 0;
            }
            return {};
        }));
        leaves.finish();
        return finishItem(item, leaves.fast(), reader.evidence());
    }

    /// Puts the leaves of the segments of a tensor together; the last one makes it finished.
    Result<void> finishItem(const WorkItem& item, const std::vector<Digest128>& leaves, const SliceEvidence& evidence)
    {
        const TensorInfo& tensor = tensorOf(item);
        FinishedTensor complete;
        {
            const std::lock_guard lock(m_mutex);
            FinishedTensor& finished = m_finished[*m_chain.indexOf(tensor.name)];
            if (finished.leaves.empty())
                finished.leaves = std::vector<Digest128>((tensor.bytes() + LeafBytes - 1) / LeafBytes);
            std::copy(leaves.begin(), leaves.end(),
                      finished.leaves.begin() + static_cast<std::ptrdiff_t>(item.begin / LeafBytes));
            finished.noopsSeen = finished.noopsSeen || evidence.noopsSeen;
            finished.digestsChecked += evidence.digestsChecked;
            finished.compared = evidence.compared;
            const auto left = m_left.find(tensor.name);
            if ((left != m_left.end() && --left->second > 0) || !evidence.digestsMatch)
                return {};
            complete = finished;
        }
        return m_folder.note(tensor.name, complete, sourcesOf(tensor.name));
    }

    /// What counts is what stands in the file, not what was meant to be written.
    Result<void> readBack(TaskContext& task)
    {
        std::erase_if(m_work, [](const WorkItem& item) { return item.begin != 0; }); // whole tensors from now on
        std::uint64_t bytes = 0;
        for (WorkItem& item : m_work) {
            item.end = tensorOf(item).bytes();
            bytes += item.end;
        }
        task.beginPhase("read back", bytes);
        if (m_options.readBackFromDisk) {
            for (const auto& file : m_files) {
                if (file)
                    file->dropCache();
            }
        }
        DS_CHECK(forEachParallel(m_means.threads, m_files.size(), task, [&](std::size_t i) -> Result<void> {
            if (!m_files[i])
                return {};
            const std::string meant = m_layout.shards[i].header();
            std::vector<std::byte> header(meant.size());
            DS_CHECK(m_files[i]->read(0, header));
            return std::ranges::equal(header, asBytes(meant)) ? Result<void>() : changedAfterwards(i, "the header");
        }));
        return forEachParallel(m_means.threads, m_work.size(), task, [&](std::size_t n) -> Result<void> {
            DS_TRY(const std::vector<Digest128> leaves, hashWritten(m_work[n], task));
            const TensorInfo& tensor = tensorOf(m_work[n]);
            const ShortList<Digest128, 1>& meant = m_finished[*m_chain.indexOf(tensor.name)].leaves;
            const auto wrong = std::mismatch(leaves.begin(), leaves.end(), meant.begin(), meant.end());
            if (wrong.first == leaves.end() && wrong.second == meant.end())
                return {};
            return changedAfterwards(m_work[n].shard,
                                     fmt::format("leaf {} (1 MiB) of {}", wrong.first - leaves.begin(), tensor.name));
        });
    }

    Result<void> changedAfterwards(std::size_t shard, const std::string& what) const
    {
        if (m_options.commit)
            return fail(Code::Digest,
                        fmt::format("{} reads back otherwise than its part wrote it: the file was changed since, or "
                                    "the disk is faulty",
                                    what),
                        pathOf(shard), m_folder.howToRepeat(shard));
        return fail(Code::Digest,
                    fmt::format("{} reads back otherwise than it was written: memory or disk is faulty", what),
                    m_options.destination, "check the machine's memory and disk before you try again");
    }

    Result<std::vector<Digest128>> hashWritten(const WorkItem& item, TaskContext& task)
    {
        const TensorInfo& tensor = tensorOf(item);
        const bool floating = isFloating(tensor.dtype);
        ValueKinds kinds;
        LeafHasher leaves(LeafHasher::Strength::Fast);
        std::vector<std::byte> chunk(std::min<std::uint64_t>(LeafBytes, item.end));
        for (std::uint64_t at = 0; at < item.end; at += chunk.size()) {
            DS_CHECK(task.checkpoint());
            chunk.resize(std::min<std::uint64_t>(LeafBytes, item.end - at));
            DS_CHECK(m_files[item.shard]->read(m_layout.shards[item.shard].begins[item.tensor] + at, chunk));
            leaves.update(chunk);
            if (floating)
                countKinds(chunk, tensor.dtype, kinds);
            task.addDone(chunk.size());
        }
        leaves.finish();
        if (floating)
            addSuspect(tensor, kinds);
        return leaves.fast();
    }

    void addSuspect(const TensorInfo& tensor, const ValueKinds& kinds)
    {
        std::optional<SuspectTensor> suspect = judgeFirst(kinds, tensor.elements());
        const std::lock_guard lock(m_mutex);
        m_suspects.erase(tensor.name); // of an attempt that left something else
        if (!suspect)
            return;
        suspect->name = tensor.name;
        m_suspects.emplace(tensor.name, std::move(*suspect));
    }

    std::vector<std::uint64_t> sourcesOf(const std::string& tensor) const
    {
        return m_sources ? m_sources->of(tensor) : std::vector<std::uint64_t>();
    }
    std::string pathOf(std::size_t shard) const { return m_folder.path() + "/" + m_layout.shards[shard].name; }
    const TensorInfo& tensorOf(const WorkItem& item) const { return *m_layout.shards[item.shard].tensors[item.tensor]; }
    std::uint64_t fileOffset(const WorkItem& item) const
    {
        return m_layout.shards[item.shard].begins[item.tensor] + item.begin;
    }

    Workbench& m_bench;
    const WalkMeans& m_means;
    const PathState& m_chain;
    const OutputLayout& m_layout;
    RebuildFolder& m_folder;
    const MaterializeOptions& m_options;
    std::optional<TensorSources> m_sources;
    std::vector<std::unique_ptr<OutputFile>> m_files; ///< by shard; null where another part writes it
    std::vector<WorkItem> m_work;
    std::mutex m_mutex;
    FinishedTensors m_finished { m_chain.tensors().size() };
    std::map<std::string, std::size_t> m_left; ///< segments that are still to be written, of tensors with several
    std::uint64_t m_resumedBytes = 0;
    std::map<std::string, SuspectTensor> m_suspects; ///< by name
};

std::string rootOf(const PathState& chain, const FinishedTensors& finished)
{
    std::vector<TensorNode> nodes;
    nodes.reserve(finished.size());
    for (std::size_t i = 0; i < finished.size(); ++i)
        nodes.push_back(tensorNode(chain.tensors()[i], finished[i].leaves, {}));
    return toHex(checkpointRoot(nodes, false).fast);
}

/// Whether the objects of a plan stand on record with the bytes that were seen first, as far as their identities tell.
Evidence evidenceOfObjects(const Workbench& bench, const Run& run, const Plan& plan)
{
    if (!bench.records)
        return Evidence::None;
    for (const PlanLink& link : plan.links) {
        for (const ObjectInfo& object : run.versions[link.version].objectsOf(link.form).objects) {
            const Result<std::vector<Records::Sight>> sights = bench.records->sights(run.store->uri(), object.key);
            if (!sights || std::none_of(sights->begin(), sights->end(), [&](const Records::Sight& sight) {
                    return sight.trusted && sight.identity == object.identity;
                }))
                return Evidence::None;
        }
    }
    return Evidence::FirstSight;
}

/// What vouches for each tensor that was rebuilt.
Coverage coverageOfRebuild(const Workbench& bench, const Run& run, const Version& version, const Plan& plan,
                           const PathState& chain, const FinishedTensors& finished)
{
    ComparedTensors compared;
    for (std::size_t i = 0; i < finished.size(); ++i)
        compared.add(finished[i].compared, chain.tensors()[i].name);
    const Evidence ofObjects = evidenceOfObjects(bench, run, plan);
    EvidenceAround around { ofObjects, ofObjects };
    if (plan.links.empty() || plan.links.back().form == 0) // else its own replay vouches for nothing of it
        around = evidenceAround(run, static_cast<std::size_t>(&version - run.versions.data()), ofObjects,
                                Evidence::Base, chain.rewritten().empty());
    return coverageOf(compared, around);
}

/// Fills in what no-ops on the way say. Errors: the obstacle (ChainGap), unless a gap may be crossed.
Result<void> judgeNoops(Workbench& bench, const Run& run, const Version& version, const Plan& plan,
                        const FinishedTensors& finished, bool acrossGap, MaterializeReport& report, TaskContext& task)
{
    report.lossProven = plan.lossProven;
    report.proven = version.proven;
    const bool noops =
        std::any_of(finished.begin(), finished.end(), [](const FinishedTensor& tensor) { return tensor.noopsSeen; });
    if (plan.lossProven || !noops || version.facts)
        return {};
    const Result<bool> proven = judgeChain(bench, run, version, task);
    if (!proven && !(acrossGap && proven.error().code == Code::ChainGap))
        return fail(proven.error());
    report.lossProven = !proven;
    report.proven = proven && *proven;
    return {};
}

/// Sorted, each once: a config is also an object of its version.
std::vector<std::string> mergedNames(std::vector<std::string> names, const std::vector<std::string>& more)
{
    names.insert(names.end(), more.begin(), more.end());
    std::sort(names.begin(), names.end());
    names.erase(std::unique(names.begin(), names.end()), names.end());
    return names;
}

/// What was read must be what is on record. What an earlier process read for this result was never compared.
Result<void> expectSoundReads(const PathState& chain, const MaterializeOptions& options,
                              const MaterializeReport& report, TaskContext& task)
{
    const bool readByOthers = report.resumedBytes > 0 || (options.commit && options.acceptRewritten);
    return readByOthers ? chain.expectSoundObjects(task) : chain.expectSoundReads(task);
}

Result<MaterializeReport> rebuildFrom(Workbench& bench, const WalkMeans& means, const Run& run, const Version& version,
                                      const Plan& plan, const PathState& chain, const MaterializeOptions& options,
                                      RebuildFolder& folder, TaskContext& task)
{
    if (chain.tensors().empty())
        return fail(Error { Code::Malformed, "the state holds no tensor: there is nothing to write",
                            version.objects.name, version.step(), "Choose another step; verify shows what it holds" });
    DS_CHECK(chain.checkWhole(task));
    const OutputLayout layout = makeOutputLayout(chain, options.shardBytes);
    MaterializeReport report;
    report.path = options.destination;
    report.bytes = layout.sizeBytes;
    report.tensors = chain.tensors().size();
    report.lossy = plan.lossy;
    report.fromFullForm = !plan.links.empty() && version.fullForm() == plan.links.back().form;

    Rebuild rebuild(bench, means, chain, layout, folder, options);
    if (options.commit) {
        DS_TRY(ClaimedTensors noted, folder.collectParts());
        DS_CHECK(rebuild.readParts(std::move(noted), task));
    } else {
        DS_CHECK(rebuild.run(task));
        report.resumedBytes = rebuild.resumedBytes();
        if (options.parts > 1) {
            DS_CHECK(expectSoundReads(chain, options, report, task));
            DS_CHECK(folder.notePartEnd());
            return report;
        }
    }
    const FinishedTensors finished = rebuild.takeFinished();
    std::vector<SuspectTensor> suspects;
    if (!(version.facts && version.facts->replayed)) // else its values are judged, beside those before it
        suspects = rebuild.takeSuspects();
    DS_CHECK(judgeNoops(bench, run, version, plan, finished, options.acrossGap, report, task));
    for (const FinishedTensor& tensor : finished)
        report.digestsChecked += tensor.digestsChecked;
    report.coverage = coverageOfRebuild(bench, run, version, plan, chain, finished);
    report.proven = report.proven && suspects.empty() && isVouchedFor(run, version, plan, report.coverage);
    report.notices = noticesOf(run, plan);
    if (!suspects.empty())
        report.notices.push_back(
            Error { Code::SuspectValues,
                    fmt::format("values of step {} are suspect: {}", version.step(), textOf(suspects)),
                    version.objects.name,
                    version.step(),
                    {} });
    report.notices.insert(report.notices.begin(), options.replaced.begin(), options.replaced.end());
    report.root = rootOf(chain, finished);
    DS_CHECK(chain.expectRecorded(report.root, means, task));
    task.beginPhase("finish", 0);
    if (!layout.indexJson.empty())
        DS_CHECK(folder.writeText(IndexName, layout.indexJson));
    CheckedFiles files(bench, options.acceptRewritten);
    DS_TRY(Sidecars sidecars, copySidecars(*bench.disk, files, run, plan, folder.path(), options.sidecars, task));
    report.sidecars = std::move(sidecars.names);
    std::move(sidecars.leftOut.begin(), sidecars.leftOut.end(), std::back_inserter(report.notices));
    if (options.forTraining) {
        DS_TRY(TrainerState trainer, copyTrainerState(*bench.disk, files, run, version, plan, folder.path(), task));
        report.trainerFiles = std::move(trainer.names);
        report.missing = std::move(trainer.missing);
    }
    if (report.trainerFiles.empty()) {
        DS_TRY(report.leftOut, trainerFilesOf(run, plan, task));
    }
    DS_CHECK(expectSoundReads(chain, options, report, task));
    report.rewritten = mergedNames(chain.rewritten(), files.rewritten());
    std::copy_if(version.problems.begin(), version.problems.end(), std::back_inserter(report.notices),
                 [](const Error& problem) { return problem.code == Code::TwoModels; });
    for (Error& notice : chain.readNotices())
        report.notices.push_back(std::move(notice));
    for (Error& notice : task.notices())
        report.notices.push_back(std::move(notice));
    report.committed = true;
    DS_CHECK(folder.writeText(ProvenanceName,
                              provenanceText(run, version, plan, report, options.toolVersion, bench.nowUs())));
    DS_CHECK(folder.publish());
    return report;
}

/// A folder that several processes share is never left: it belongs to others as well.
Result<MaterializeReport> rebuildIn(Workbench& bench, const WalkMeans& means, const Run& run, const Version& version,
                                    const Plan& plan, const MaterializeOptions& options, RebuildFolder& folder,
                                    TaskContext& task)
{
    const bool shared = options.parts > 1 || options.commit;
    Result<PathPtr> opened = openChecked(bench, run, plan, options.acceptRewritten, task);
    if (!opened) {
        if (!shared)
            folder.leave(opened.error(), std::nullopt);
        return fail(std::move(opened.error()));
    }
    const PathState& path = **opened;
    Result<MaterializeReport> report = rebuildFrom(bench, means, run, version, plan, path, options, folder, task);
    if (report)
        return report;
    Error error = path.reasonOf(std::move(report.error()), task);
    if (!shared)
        folder.leave(error, TensorSources(path).named(error.where));
    return fail(std::move(error));
}

}

Result<MaterializeReport> materialize(Workbench& bench, const Run& run, const Version& version, const Plan& plan,
                                      const MaterializeOptions& options, TaskContext& task)
{
    const TaskContext::Patience patience(task);
    if (options.parts == 0 || options.part >= options.parts)
        return fail(Code::Usage, fmt::format("there is no part {} of {}", options.part, options.parts));
    DS_TRY(const WalkMeans means, bench.means());
    RebuildFolder::Request request;
    request.destination = options.destination;
    const bool shared = options.parts > 1 || options.commit;
    request.plan = (shared ? sharedPlanText : rebuildPlanText)(run, version, plan, options.shardBytes);
    request.part = options.part;
    request.parts = options.parts;
    request.commit = options.commit;
    for (int attempt = 1;; ++attempt) {
        const std::size_t mended = task.noticeCount();
        DS_TRY(RebuildFolder folder, RebuildFolder::open(*bench.disk, request));
        Result<MaterializeReport> report = rebuildIn(bench, means, run, version, plan, options, folder, task);
        // What came wrong from the store was used before that was seen, and comes right now.
        const bool cameWrong = !report && report.error().code == Code::Digest && task.noticeCount() > mended;
        if (!cameWrong || shared || attempt == MostRebuilds)
            return report;
    }
}

} // namespace deltascope

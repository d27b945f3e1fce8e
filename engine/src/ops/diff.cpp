#include "deltascope/engine/operations.h"

#include "adapter_settings.h"
#include "element_compare.h"
#include "replay_audit.h"

#include <algorithm>
#include <cstring>
#include <mutex>

namespace deltascope {

namespace {

/// Counts elements that links behind A changed, also those that came back to their old bits.
class TouchCounter final : public ReplayObserver {
public:
    TouchCounter(ReplayObserver& next, std::size_t aLink, Dtype dtype)
        : m_next(next)
        , m_aLink(aLink)
        , m_elementBytes(std::max<std::size_t>(1, bitsOf(dtype) / 8))
        , m_exact(bitsOf(dtype) >= 8)
    {
    }

    void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts& counts) override
    {
        m_next.onBlock(link, begin, state, counts);
        if (begin < m_begin)
            m_exact = false; // a chain of several stretches passes each block more than once
        if (begin != m_begin)
            flush();
        m_begin = begin;
        if (link > m_aLink && m_before.size() == state.size())
            mark(state);
        m_before.assign(state.begin(), state.end());
    }

    std::optional<std::uint64_t> finish()
    {
        flush();
        return m_exact ? std::optional(m_touched) : std::nullopt;
    }

private:
    void mark(ByteSpan state)
    {
        m_marks.resize(state.size() / m_elementBytes, 0);
        for (std::size_t i = 0; i < m_marks.size(); ++i) {
            const std::size_t at = i * m_elementBytes;
            m_marks[i] |= static_cast<char>(std::memcmp(&state[at], &m_before[at], m_elementBytes) != 0);
        }
    }

    void flush()
    {
        m_touched += static_cast<std::uint64_t>(std::count(m_marks.begin(), m_marks.end(), 1));
        m_marks.clear();
        m_before.clear();
    }

    ReplayObserver& m_next;
    std::size_t m_aLink;
    std::size_t m_elementBytes;
    bool m_exact;
    std::uint64_t m_begin = 0;
    std::vector<std::byte> m_before;
    std::vector<char> m_marks;
    std::uint64_t m_touched = 0;
};

Result<TensorReplay> openReplay(Workbench& bench, const Chain& chain, const TensorInfo& tensor,
                                ReplayObserver& observer, TaskContext& task)
{
    ReplayOptions options;
    options.scratchFolder = bench.scratchFolder;
    options.observer = &observer;
    return TensorReplay::open(chain, tensor, std::move(options), task);
}

}

std::uint64_t DiffReport::tensorsDifferent() const noexcept
{
    return static_cast<std::uint64_t>(
        std::count_if(tensors.begin(), tensors.end(), [](const TensorDiff& tensor) { return tensor.different > 0; }));
}

std::uint64_t DiffReport::elementsDifferent() const noexcept
{
    std::uint64_t elements = 0;
    for (const TensorDiff& tensor : tensors)
        elements += tensor.different;
    return elements;
}

namespace {

/// Names of both sides, each once.
std::vector<std::string_view> namesOf(const Chain& a, const Chain& b)
{
    std::vector<std::string_view> names;
    for (const TensorInfo& tensor : a.tensors())
        names.push_back(tensor.name);
    for (const TensorInfo& tensor : b.tensors()) {
        if (!a.find(tensor.name))
            names.push_back(tensor.name);
    }
    return names;
}

Result<DiffReport> compareStates(Workbench& bench, const Chain& a, const Chain& b, std::optional<std::size_t> aLinkInB,
                                 const TensorGlobs& meant, TaskContext& task)
{
    const std::vector<std::string_view> names = namesOf(a, b);
    DS_CHECK(meant.expectEachFits(names, "neither A nor B has a", {}));
    DiffReport report;
    DS_TRY(report.settings, compareAdapterSettings(a, b, task));
    report.touchedKnown = aLinkInB.has_value();
    ReplayAudit auditA(a);
    ReplayAudit auditB(b);
    std::vector<std::pair<const TensorInfo*, const TensorInfo*>> common;
    for (const TensorInfo& tensor : a.tensors()) {
        if (!meant.mean(tensor.name))
            continue;
        const TensorInfo* other = b.find(tensor.name);
        if (!other)
            report.onlyInA.push_back(tensor.name);
        else if (other->dtype != tensor.dtype || other->shape != tensor.shape)
            report.reshaped.push_back({ tensor, *other });
        else
            common.emplace_back(&tensor, other);
    }
    for (const TensorInfo& tensor : b.tensors()) {
        if (!a.find(tensor.name) && meant.mean(tensor.name))
            report.onlyInB.push_back(tensor.name);
    }
    report.tensorsLeftOut =
        names.size() - common.size() - report.reshaped.size() - report.onlyInA.size() - report.onlyInB.size();
    std::uint64_t bytes = 0;
    for (const auto& [tensor, other] : common) {
        bytes += tensor->bytes();
        report.elementsCompared += tensor->elements();
    }
    report.tensorsCompared = common.size();
    report.bytesCompared = bytes;
    std::stable_sort(common.begin(), common.end(),
                     [](const auto& x, const auto& y) { return x.first->bytes() > y.first->bytes(); });

    std::mutex mutex;
    report.tensors.reserve(common.size()); // of a million tensors, growing would hold them twice
    std::vector<Squares> squares(common.size()); // added up in one order, whichever thread is first
    task.beginPhase("compare", bytes);
    DS_CHECK(forEachParallel(bench.threads, common.size(), task, [&](std::size_t n) -> Result<void> {
        const TensorInfo& tensor = *common[n].first;
        TensorDiff diff;
        diff.tensor = tensor;
        ReplayAudit::Tensor watchA(auditA, tensor, true);
        ReplayAudit::Tensor watchB(auditB, tensor, true);
        std::optional<TouchCounter> touched;
        if (aLinkInB)
            touched.emplace(watchB, *aLinkInB, tensor.dtype);
        DS_TRY(TensorReplay left, openReplay(bench, a, tensor, watchA, task));
        DS_TRY(TensorReplay right,
               openReplay(bench, b, tensor, touched ? static_cast<ReplayObserver&>(*touched) : watchB, task));
        for (;;) {
            DS_TRY(const ByteSpan x, left.next(task));
            DS_TRY(const ByteSpan y, right.next(task));
            if (x.empty())
                break;
            compareBlocks(x, y, tensor.dtype, diff, squares[n]);
            task.addDone(x.size());
        }
        watchA.finish();
        watchB.finish();
        if (touched)
            diff.touched = touched->finish();
        diff.relativeNorm = squares[n].relativeNorm();
        const std::lock_guard lock(mutex);
        report.touchedKnown = report.touchedKnown && diff.touched.has_value();
        if (diff.different > 0 || diff.touched.value_or(0) > 0)
            report.tensors.push_back(std::move(diff));
        return {};
    }));
    DS_CHECK(auditA.checkDigests(a.onExternalBase()));
    DS_CHECK(auditB.checkDigests(b.onExternalBase()));
    Squares all;
    for (const Squares& one : squares)
        all.add(one);
    report.relativeNorm = all.relativeNorm();
    report.noopsSeen = auditA.noopsSeen() || auditB.noopsSeen();
    std::sort(report.tensors.begin(), report.tensors.end(),
              [](const TensorDiff& x, const TensorDiff& y) { return x.tensor.name < y.tensor.name; });
    DS_CHECK(a.expectSoundReads(task));
    DS_CHECK(b.expectSoundReads(task));
    return report;
}

}

Result<DiffReport> diffStates(Workbench& bench, const Chain& a, const Chain& b, std::optional<std::size_t> aLinkInB,
                              TaskContext& task, const TensorGlobs& tensors)
{
    Result<DiffReport> report = compareStates(bench, a, b, aLinkInB, tensors, task);
    if (!report)
        return fail(b.reasonOf(a.reasonOf(std::move(report.error()), task), task));
    return report;
}

} // namespace deltascope

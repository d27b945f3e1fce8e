#include "deltascope/engine/operations.h"

#include "adapter_settings.h"
#include "changed_elements.h"
#include "correspondence.h"
#include "element_compare.h"
#include "replay_audit.h"
#include "rounding.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>

namespace deltascope {

namespace {

/// Counts elements that links behind A changed, also those that came back to their old bits.
class TouchCounter final : public ReplayObserver {
public:
    TouchCounter(ReplayObserver& next, std::size_t aLink, Dtype dtype, std::shared_ptr<const DiffBackend> backend)
        : m_next(next)
        , m_changed(std::move(backend))
        , m_aLink(aLink)
        , m_elementBytes(std::max(1U, bitsOf(dtype) / 8))
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
        for (const std::uint32_t element : m_changed.find(m_before, state, m_elementBytes))
            m_marks[element] = 1;
    }

    void flush()
    {
        m_touched += static_cast<std::uint64_t>(std::count(m_marks.begin(), m_marks.end(), 1));
        m_marks.clear();
        m_before.clear();
    }

    ReplayObserver& m_next;
    ChangedElements m_changed;
    std::size_t m_aLink;
    unsigned m_elementBytes;
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

/// The blocks of a tensor in the dtype in which it is compared.
class ComparedBlocks {
public:
    ComparedBlocks(TensorReplay replay, Dtype stored, Dtype compared)
        : m_replay(std::move(replay))
        , m_stored(stored)
        , m_compared(compared)
    {
    }

    /// What is left of the present block, or the next one; empty behind the last one. Valid until the block is taken.
    Result<ByteSpan> block(TaskContext& task)
    {
        if (!m_rest.empty())
            return m_rest;
        DS_TRY(m_rest, m_replay.next(task));
        if (m_stored != m_compared && !m_rest.empty()) {
            m_rounded.resize(m_rest.size() * bitsOf(m_compared) / bitsOf(m_stored));
            roundElements(m_rest, m_stored, m_compared, m_rounded);
            m_rest = m_rounded;
        }
        return m_rest;
    }
    void take(std::size_t bytes) { m_rest = m_rest.subspan(bytes); }

private:
    TensorReplay m_replay;
    Dtype m_stored;
    Dtype m_compared;
    std::vector<std::byte> m_rounded;
    ByteSpan m_rest;
};

/// What is compared, and what a report says of the rest.
struct Selection {
    std::vector<std::pair<const TensorInfo*, const TensorInfo*>> pairs;
    std::uint64_t bytes = 0; ///< of A
};

/// Sorts tensors into those that are compared and those that are listed.
Result<Selection> select(const Chain& a, const Chain& b, const DiffOptions& options, DiffReport& report)
{
    Correspondence all = correspond(a, b, options.acrossForms, options.prefixes);
    if (options.prefixes && !all.names)
        return fail(Error { Code::NotFound,
                            fmt::format("no tensor of A whose name begins with \"{}\" is one of B under \"{}\"",
                                        options.prefixes->a, options.prefixes->b),
                            {},
                            std::nullopt,
                            "name prefixes of the tensors that are only in A and only in B, or let them be found" });
    const TensorGlobs& meant = options.tensors;
    std::vector<std::string_view> names;
    for (const auto& [left, right] : all.pairs) {
        names.push_back(left->name);
        if (right->name != left->name)
            names.push_back(right->name);
    }
    for (const std::vector<const TensorInfo*>* side : { &all.onlyInA, &all.onlyInB }) {
        for (const TensorInfo* tensor : *side)
            names.push_back(tensor->name);
    }
    DS_CHECK(meant.expectEachFits(names, "neither A nor B has a", {}));
    const auto list = [&](const std::vector<const TensorInfo*>& tensors, std::vector<std::string>& into) {
        for (const TensorInfo* tensor : tensors) {
            if (meant.mean(tensor->name))
                into.push_back(tensor->name);
            else
                ++report.tensorsLeftOut;
        }
    };
    list(all.onlyInA, report.onlyInA);
    list(all.onlyInB, report.onlyInB);
    Selection selection;
    std::map<std::pair<Dtype, Dtype>, std::uint64_t> rounded;
    for (const auto& [left, right] : all.pairs) {
        if (!meant.mean(left->name) && !meant.mean(right->name)) {
            ++report.tensorsLeftOut;
            continue;
        }
        const std::optional<Dtype> common =
            left->dtype == right->dtype || options.acrossForms ? commonDtype(left->dtype, right->dtype) : std::nullopt;
        if (!common || left->shape != right->shape) {
            report.reshaped.push_back({ *left, *right });
            continue;
        }
        if (left->dtype != right->dtype)
            ++rounded[{ left->dtype, right->dtype }];
        selection.pairs.emplace_back(left, right);
        selection.bytes += left->bytes();
        report.elementsCompared += left->elements();
    }
    if (all.names)
        report.forms.push_back(std::move(*all.names));
    for (const auto& [dtypes, count] : rounded)
        report.forms.push_back({ FormDifference::Kind::Dtypes, std::string(word(dtypes.first)),
                                 std::string(word(dtypes.second)), count, 0 });
    for (FormDifference& form : report.forms)
        form.ofTensors = selection.pairs.size();
    return selection;
}

Result<DiffReport> compareStates(Workbench& bench, const Chain& a, const Chain& b, std::optional<std::size_t> aLinkInB,
                                 const DiffOptions& options, TaskContext& task)
{
    DS_TRY(const std::shared_ptr<const DiffBackend> backend, bench.diff());
    DiffReport report;
    DS_TRY(report.settings, compareAdapterSettings(a, b, task));
    report.touchedKnown = aLinkInB.has_value();
    ReplayAudit auditA(a);
    ReplayAudit auditB(b);
    DS_TRY(Selection selection, select(a, b, options, report));
    auto& common = selection.pairs;
    report.tensorsCompared = common.size();
    report.bytesCompared = selection.bytes;
    std::stable_sort(common.begin(), common.end(),
                     [](const auto& x, const auto& y) { return x.first->bytes() > y.first->bytes(); });

    std::mutex mutex;
    report.tensors.reserve(common.size()); // of a million tensors, growing would hold them twice
    std::vector<Squares> squares(common.size()); // added up in one order, whichever thread is first
    task.beginPhase("compare", selection.bytes);
    DS_CHECK(forEachParallel(bench.threads, common.size(), task, [&](std::size_t n) -> Result<void> {
        const TensorInfo& tensor = *common[n].first;
        const TensorInfo& other = *common[n].second;
        TensorDiff diff;
        diff.tensor = tensor;
        diff.tensor.dtype = commonDtype(tensor.dtype, other.dtype).value_or(tensor.dtype);
        const Dtype dtype = diff.tensor.dtype;
        ReplayAudit::Tensor watchA(auditA, tensor, true);
        ReplayAudit::Tensor watchB(auditB, other, true);
        std::optional<TouchCounter> touched;
        if (aLinkInB)
            touched.emplace(watchB, *aLinkInB, tensor.dtype, backend);
        DS_TRY(TensorReplay replayA, openReplay(bench, a, tensor, watchA, task));
        DS_TRY(TensorReplay replayB,
               openReplay(bench, b, other, touched ? static_cast<ReplayObserver&>(*touched) : watchB, task));
        ComparedBlocks left(std::move(replayA), tensor.dtype, dtype);
        ComparedBlocks right(std::move(replayB), other.dtype, dtype);
        for (;;) {
            DS_TRY(const ByteSpan x, left.block(task));
            DS_TRY(const ByteSpan y, right.block(task));
            const std::size_t both = std::min(x.size(), y.size()); // a rounded block is a short one
            if (both == 0)
                break;
            compareBlocks(*backend, x.first(both), y.first(both), dtype, diff, squares[n]);
            left.take(both);
            right.take(both);
            task.addDone(both * bitsOf(tensor.dtype) / bitsOf(dtype));
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
                              TaskContext& task, const DiffOptions& options)
{
    Result<DiffReport> report = compareStates(bench, a, b, aLinkInB, options, task);
    if (!report)
        return fail(b.reasonOf(a.reasonOf(std::move(report.error()), task), task));
    return report;
}

} // namespace deltascope

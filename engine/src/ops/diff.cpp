#include "deltascope/engine/operations.h"
#include "deltascope/engine/walk.h"

#include "adapter_settings.h"
#include "backend/changed_elements.h"
#include "correspondence.h"
#include "element_compare.h"
#include "fused_projections.h"
#include "state/rounded_state.h"
#include "state/rounding.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <mutex>

namespace deltascope {

namespace {

/// Counts elements that links behind A changed, also those that came back to their old bits.
class TouchCounter final : public ReplayObserver {
public:
    TouchCounter(std::size_t aLink, Dtype dtype, const Backend& backend)
        : m_changed(backend)
        , m_aLink(aLink)
        , m_elementBytes(std::max(1U, bitsOf(dtype) / 8))
        , m_exact(bitsOf(dtype) >= 8)
    {
    }

    void onBlock(std::size_t link, std::uint64_t begin, ByteSpan state, const PatchCounts&) override
    {
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

    ChangedElements m_changed;
    std::size_t m_aLink;
    unsigned m_elementBytes;
    bool m_exact;
    std::uint64_t m_begin = 0;
    std::vector<std::byte> m_before;
    std::vector<char> m_marks;
    std::uint64_t m_touched = 0;
};

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

using TensorPair = std::pair<const TensorInfo*, const TensorInfo*>;

/// The dtype in which a pair is compared.
Dtype dtypeOf(const TensorPair& pair)
{
    return commonDtype(pair.first->dtype, pair.second->dtype).value_or(pair.first->dtype);
}

/// What is compared, and what a report says of the rest.
struct Selection {
    std::vector<TensorPair> pairs;
    std::uint64_t bytes = 0; ///< of A
};

/// Sorts tensors into those that are compared and those that are listed.
Result<Selection> select(const FusedSides& sides, const DiffOptions& options, DiffReport& report)
{
    Correspondence all = correspond(sides.a(), sides.b(), options.acrossForms, options.prefixes);
    const auto isBehindBoth = [&](const TensorPair& pair) {
        return pair.first->name == pair.second->name && pair.first->name.starts_with(options.prefixes->a);
    };
    const bool isOne = options.prefixes && options.prefixes->a == options.prefixes->b; // names stay as they are
    if (options.prefixes && !all.names && !(isOne && std::any_of(all.pairs.begin(), all.pairs.end(), isBehindBoth)))
        return fail(Error { Code::NotFound,
                            fmt::format("no tensor of A whose name begins with \"{}\" is one of B under \"{}\"",
                                        options.prefixes->a, options.prefixes->b),
                            {},
                            std::nullopt,
                            "name prefixes of the tensors that are only in A and only in B, or let them be found" });
    std::vector<std::string_view> names;
    const auto addNames = [&](const TensorInfo& tensor) {
        names.push_back(tensor.name);
        if (const std::vector<std::string>* const parts = sides.partsOf(tensor))
            names.insert(names.end(), parts->begin(), parts->end());
    };
    for (const auto& [left, right] : all.pairs) {
        addNames(*left);
        if (right->name != left->name)
            addNames(*right);
    }
    for (const std::vector<const TensorInfo*>* side : { &all.onlyInA, &all.onlyInB }) {
        for (const TensorInfo* tensor : *side)
            addNames(*tensor);
    }
    const TensorGlobs meant = options.tensors.among(names);
    const auto isMeant = [&](const TensorInfo& tensor) {
        const std::vector<std::string>* const parts = sides.partsOf(tensor);
        return meant.mean(tensor.name)
            || (parts && std::any_of(parts->begin(), parts->end(), [&](const auto& part) { return meant.mean(part); }));
    };
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
    selection.pairs.reserve(all.pairs.size());
    std::map<std::pair<Dtype, Dtype>, std::uint64_t> rounded;
    for (const auto& [left, right] : all.pairs) {
        if (!isMeant(*left) && !isMeant(*right)) {
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
    for (FormDifference& form : sides.forms()) {
        form.tensors = static_cast<std::uint64_t>(
            std::count_if(selection.pairs.begin(), selection.pairs.end(), [&](const TensorPair& pair) {
                return sides.areFusedBy(form, *pair.first) || sides.areFusedBy(form, *pair.second);
            }));
        if (form.tensors > 0)
            report.forms.push_back(std::move(form));
    }
    for (const auto& [dtypes, count] : rounded)
        report.forms.push_back({ FormDifference::Kind::Dtypes, std::string(word(dtypes.first)),
                                 std::string(word(dtypes.second)), count, 0 });
    countCompared(report.forms, selection.pairs.size());
    return selection;
}

/// One side of all pairs, in the dtypes in which they are compared.
class ComparedSide {
public:
    /// `state` outlives it. `tensorOf`: of a pair, that of this side.
    ComparedSide(const State& state, const std::vector<TensorPair>& pairs,
                 const TensorInfo* (*tensorOf)(const TensorPair&))
        : m_state(state)
    {
        std::map<std::size_t, Dtype> narrower;
        m_slices.reserve(pairs.size());
        for (const TensorPair& pair : pairs) {
            const TensorInfo& tensor = *tensorOf(pair);
            m_slices.push_back({ *state.indexOf(tensor.name) });
            const Dtype dtype = dtypeOf(pair);
            if (dtype != tensor.dtype)
                narrower[m_slices.back().tensor] = dtype;
        }
        if (!narrower.empty())
            m_rounded = rounded(state, narrower);
    }

    Result<std::unique_ptr<StateWalk>> walk(WalkOptions options) && // there may be a million slices
    {
        return compared().walk(std::move(m_slices), std::move(options));
    }
    std::uint64_t bytes() const
    {
        std::uint64_t bytes = 0;
        for (const TensorSlice& slice : m_slices)
            bytes += compared().tensors()[slice.tensor].bytes();
        return bytes;
    }

private:
    const State& compared() const { return m_rounded ? *m_rounded : m_state; }

    const State& m_state;
    std::unique_ptr<State> m_rounded; ///< null: nothing has to be rounded
    std::vector<TensorSlice> m_slices;
};

Result<DiffReport> compareStates(Workbench& bench, const State& a, const State& b, std::optional<std::size_t> aLinkInB,
                                 const DiffOptions& options, TaskContext& task)
{
    DS_TRY(const WalkMeans means, bench.means());
    DiffReport report;
    DS_TRY(AdapterComparison adapters, compareAdapters(a, b, task));
    report.settings = std::move(adapters.settings);
    report.adapters = std::move(adapters.note);
    const FusedSides sides(a, b, options.acrossForms, options.prefixes);
    if (sides.areFused())
        aLinkInB.reset(); // a tensor that is put together shows no links
    report.touchedKnown = aLinkInB.has_value();
    DS_TRY(Selection selection, select(sides, options, report));
    auto& common = selection.pairs;
    report.tensorsCompared = common.size();
    report.bytesCompared = selection.bytes;
    std::stable_sort(common.begin(), common.end(),
                     [](const auto& x, const auto& y) { return x.first->bytes() > y.first->bytes(); });
    ComparedSide left(sides.a(), common, [](const TensorPair& pair) { return pair.first; });
    ComparedSide right(sides.b(), common, [](const TensorPair& pair) { return pair.second; });
    std::vector<std::unique_ptr<TouchCounter>> touched(aLinkInB ? common.size() : 0);
    WalkOptions watched { means };
    if (aLinkInB)
        watched.observer = [&](std::size_t n) {
            touched[n] = std::make_unique<TouchCounter>(*aLinkInB, common[n].second->dtype, *means.backend);
            return touched[n].get();
        };
    task.beginPhase("compare", right.bytes());
    DS_TRY(const std::unique_ptr<StateWalk> walkA, std::move(left).walk({ means }));
    DS_TRY(const std::unique_ptr<StateWalk> walkB, std::move(right).walk(std::move(watched)));

    std::mutex mutex;
    report.tensors.reserve(common.size()); // of a million tensors, growing would hold them twice
    std::vector<Squares> squares(common.size()); // added up in one order, whichever thread is first
    if (!aLinkInB)
        common = {}; // the walks know their tensors: it makes room
    const auto compare = [&](std::size_t n, PairReader& reader) -> Result<void> {
        TensorDiff diff;
        diff.tensor = walkA->tensor(n);
        const std::unique_ptr<PairBatches> blocks = compareBlocks(*means.backend, diff, squares[n]);
        DS_CHECK(forEachPair(reader, task, [&](ByteSpan x, ByteSpan y) { return blocks->add(x, y); }));
        DS_CHECK(blocks->finish());
        if (aLinkInB) {
            diff.touched = touched[n]->finish();
            touched[n].reset();
        }
        diff.relativeNorm = squares[n].relativeNorm(diff.different, diff.notFinite);
        const std::lock_guard lock(mutex);
        report.notFinite += diff.notFinite;
        report.touchedKnown = report.touchedKnown && diff.touched.has_value();
        if (diff.different > 0 || diff.touched.value_or(0) > 0)
            report.tensors.push_back(std::move(diff));
        return {};
    };
    DS_TRY(const PairEvidence evidence, walkPairs(*walkA, *walkB, means.threads, task, compare));
    Squares all;
    for (const Squares& one : squares)
        all.add(one);
    report.relativeNorm = all.relativeNorm(report.elementsDifferent(), report.notFinite);
    report.noopsSeen = evidence.a.noopsSeen || evidence.b.noopsSeen;
    std::sort(report.tensors.begin(), report.tensors.end(),
              [](const TensorDiff& x, const TensorDiff& y) { return x.tensor.name < y.tensor.name; });
    DS_CHECK(a.expectSoundReads(task));
    DS_CHECK(b.expectSoundReads(task));
    return report;
}

}

Result<DiffReport> diffStates(Workbench& bench, const State& a, const State& b, std::optional<std::size_t> aLinkInB,
                              TaskContext& task, const DiffOptions& options)
{
    Result<DiffReport> report = compareStates(bench, a, b, aLinkInB, options, task);
    if (!report)
        return fail(b.reasonOf(a.reasonOf(std::move(report.error()), task), task));
    return report;
}

} // namespace deltascope

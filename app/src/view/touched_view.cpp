#include "deltascope/app/view/touched_view.h"

#include "deltascope/app/service.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>

namespace deltascope::app {

namespace {

constexpr std::size_t MostColumns = 2000;

/// Changed elements of each tensor, summed up over the columns from `first` to `last`, both included.
Result<std::map<std::string, std::uint64_t, std::less<>>> sumsOf(const Service& service, const HeatView& heat,
                                                                 std::size_t first, std::size_t last)
{
    std::map<std::string, std::uint64_t, std::less<>> sums;
    for (std::size_t column = first; column <= last; ++column) {
        const auto counts = service.countsOf(heat, column);
        if (!counts)
            return fail(
                Code::NotFound,
                fmt::format("what step {} changes is not known: it was not replayed yet, or stands on an object "
                            "that was rewritten or is damaged",
                            heat.columns[column].step),
                heat.columns[column].name, "look at that step; where it is sound, compare the two exactly");
        for (const auto& [name, count] : *counts)
            sums[name] += count;
    }
    return sums;
}

}

Result<TouchedView> makeTouchedView(const Service& service, const RunSnapshot& snapshot, const StepView& a,
                                    const StepView& b)
{
    if (!snapshot.heat)
        return fail(Code::Transient, "no step was replayed yet", snapshot.name, "try again in a moment");
    if (a.epoch != b.epoch)
        return fail(Code::Usage, "the steps are of two epochs, which share no chain", snapshot.name,
                    "compare them exactly");
    const HeatView& heat = *snapshot.heat;
    const StepView& older = a.step <= b.step ? a : b;
    const StepView& newer = a.step <= b.step ? b : a;
    const auto from = heat.columnOf(older.epoch, older.step);
    const auto to = heat.columnOf(newer.epoch, newer.step);
    if (!from || !to || *to - *from > MostColumns)
        return fail(Code::Unsupported, "touched elements are added up over at most 2,000 known steps", snapshot.name,
                    "compare them exactly");
    DS_TRY(const auto sums, sumsOf(service, heat, *from + 1, *to));
    TouchedView view;
    view.revision = heat.revision;
    view.epoch = older.epoch;
    view.a = older.step;
    view.b = newer.step;
    view.elementsTotal = newer.totalElements;
    for (const TensorRowView& tensor : heat.rows) {
        const auto sum = sums.find(tensor.name);
        if (sum == sums.end() || sum->second == 0)
            continue;
        const std::uint64_t atMost = std::min(sum->second, tensor.elements);
        view.tensors.push_back({ tensor.name, tensor.dtype, tensor.shape, tensor.elements, atMost });
        view.elementsAtMost += atMost;
    }
    std::stable_sort(view.tensors.begin(), view.tensors.end(),
                     [](const auto& x, const auto& y) { return x.atMost > y.atMost; });
    return view;
}

} // namespace deltascope::app

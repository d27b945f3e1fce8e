#include "deltascope/engine/lineage.h"

#include "lineage/twice.h"

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <string>
#include <utility>

namespace deltascope {

namespace {
/// A smaller step back in time means nothing by itself: objects that are copied together arrive in any order.
constexpr std::int64_t ToleranceUs = 2'000'000;
/// Object stores tell times apart by this. It is enough where both sides were published step after step.
constexpr std::int64_t ResolutionUs = 1'000'000;

/// Of a step that exists twice, the older object may be all that is left of an earlier run.
std::int64_t publishedLast(const VersionObjects& version)
{
    std::int64_t last = version.publishedUs();
    for (const VersionObjects& form : version.otherForms) {
        if (form.mirror.empty() && existsTwice(version))
            last = std::max(last, form.publishedUs());
    }
    return last;
}
}

std::vector<int> splitEpochs(const std::vector<VersionObjects>& versions)
{
    const std::size_t count = versions.size();
    std::vector<std::int64_t> times;
    std::transform(versions.begin(), versions.end(), std::back_inserter(times), publishedLast);
    std::vector<std::int64_t> newestBehind(count + 1, std::numeric_limits<std::int64_t>::min());
    for (std::size_t i = count; i-- > 0;)
        newestBehind[i] = std::max(newestBehind[i + 1], times[i]);

    // A break lies before i if all from i on is older than all below it. Segments then get older as steps grow.
    std::vector<int> segment(count, 0);
    std::int64_t oldestBelow = std::numeric_limits<std::int64_t>::max();
    std::size_t first = 0; ///< of the segment
    bool ascends = true; ///< the segment, up to i
    int breaks = 0;
    const auto follows = [&](std::size_t i) { return times[i - 1] < times[i]; };
    for (std::size_t i = 0; i < count; ++i) {
        const bool inOrder = ascends && i >= first + 2 && i + 1 < count && follows(i + 1);
        if (i > 0
            && (newestBehind[i] + ToleranceUs < oldestBelow
                || (inOrder && newestBehind[i] + ResolutionUs <= oldestBelow))) {
            ++breaks;
            oldestBelow = std::numeric_limits<std::int64_t>::max();
            first = i;
            ascends = true;
        }
        segment[i] = breaks;
        oldestBelow = std::min(oldestBelow, times[i]);
        ascends = ascends && (i == first || follows(i));
    }
    for (int& epoch : segment)
        epoch = breaks - epoch;
    return segment;
}

void splitEpochsByRun(const std::vector<IndexedObjects>& versions, std::vector<int>& epochs)
{
    std::map<std::pair<int, int>, int> order; ///< epoch by time, incarnation within it -> epoch
    std::vector<std::pair<int, int>> found(versions.size());
    struct Below {
        bool any = false; ///< versions that say who wrote them, be it by saying nothing
        std::string run; ///< the last one named; empty: none
        int incarnation = 0;
    };
    std::map<int, Below> byEpoch;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        Below& below = byEpoch[epochs[i]];
        const std::string own = versions[i].summary ? versions[i].summary->run : std::string();
        if (!own.empty() && own != below.run && versions[i].summary->full && below.any)
            ++below.incarnation;
        if (!own.empty() && !versions[i].summary->restores) // who rolls a run back does not go on with it
            below.run = own;
        below.any = below.any || versions[i].summary;
        found[i] = { epochs[i], below.incarnation };
        order[found[i]] = 0;
    }
    int next = 0;
    for (auto& [key, epoch] : order)
        epoch = next++;
    for (std::size_t i = 0; i < versions.size(); ++i)
        epochs[i] = order[found[i]];
}

} // namespace deltascope

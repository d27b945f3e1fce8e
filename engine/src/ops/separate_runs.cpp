#include "separate_runs.h"

#include "deltascope/engine/path_state.h"
#include "format/common/checkpoint_folders.h"
#include "kinship.h"
#include "sample_distance.h"
#include "trainer_history.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace deltascope {

namespace {

using Group = std::vector<std::size_t>; ///< indices of versions, ascending by step
using PlacePair = std::pair<std::size_t, std::size_t>; ///< of versions, the lower step first

constexpr std::int64_t CopyJitterUs = 2'000'000; ///< what is copied together arrives in any order
constexpr double FarAbove = 4; ///< times the usual distance: another run
constexpr double AsUsual = 2; ///< up to so many times the usual distance: one run
constexpr std::size_t MostUsualPairs = 2; ///< of each side
constexpr int MostDistances = 24; ///< that are measured for one opening

struct Answer {
    Kinship kinship = Kinship::Unknown;
    std::string why;
};

class RunSeparator {
public:
    RunSeparator(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                 const std::shared_ptr<const Layout>& layout, const std::vector<ObjectInfo>& listing,
                 const std::vector<IndexedObjects>& versions, EpochChoice choice, TaskContext& task)
        : m_bench(bench)
        , m_store(store)
        , m_layout(layout)
        , m_listing(listing)
        , m_versions(versions)
        , m_choice(choice)
        , m_task(task)
    {
    }

    Result<SeparatedRuns> separate()
    {
        SeparatedRuns out { std::vector<int>(m_versions.size(), 0), {} };
        if (m_choice == EpochChoice::One || !timesSuggestIt())
            return out;
        const std::vector<Group> segments = segmentsByTime();
        for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment)
            DS_CHECK(place(*segment));
        const auto newest = static_cast<int>(m_groups.size()) - 1;
        std::fill(out.epochs.begin(), out.epochs.end(), newest); // the final save, too
        for (std::size_t g = 0; g < m_groups.size(); ++g) {
            for (const std::size_t at : m_groups[g])
                out.epochs[at] = newest - static_cast<int>(g);
        }
        for (std::size_t g = 1; g < m_groups.size(); ++g)
            m_notices.push_back(passedOver(m_groups[g], m_reasons[g]));
        out.notices = std::move(m_notices);
        return out;
    }

private:
    std::int64_t stepOf(std::size_t at) const { return m_versions[at].objects.step; }
    std::int64_t timeOf(std::size_t at) const { return m_versions[at].objects.publishedUs(); }
    /// The model in the source itself is no step: it is the final save, or what training began from.
    bool takesPart(std::size_t at) const
    {
        const VersionObjects& objects = m_versions[at].objects;
        return objects.step != 0 || !stepFolderOf(objects.name, 0).empty();
    }

    /// Whether a version is newer than one with a higher step.
    bool timesSuggestIt() const
    {
        std::int64_t newest = std::numeric_limits<std::int64_t>::min();
        for (std::size_t i = 0; i < m_versions.size(); ++i) {
            if (!takesPart(i))
                continue;
            if (newest != std::numeric_limits<std::int64_t>::min() && timeOf(i) + CopyJitterUs < newest)
                return true;
            newest = std::max(newest, timeOf(i));
        }
        return false;
    }

    /// Versions in order of time, cut wherever one is newer than another one with a higher step. Oldest first.
    std::vector<Group> segmentsByTime() const
    {
        Group byTime;
        for (std::size_t i = 0; i < m_versions.size(); ++i) {
            if (takesPart(i))
                byTime.push_back(i);
        }
        std::stable_sort(byTime.begin(), byTime.end(),
                         [&](std::size_t a, std::size_t b) { return timeOf(a) < timeOf(b); });
        std::vector<Group> segments(1);
        for (const std::size_t at : byTime) {
            const Group& last = segments.back();
            const bool isBehind = std::any_of(last.begin(), last.end(), [&](std::size_t other) {
                return stepOf(other) > stepOf(at) && timeOf(other) + CopyJitterUs < timeOf(at);
            });
            if (isBehind)
                segments.emplace_back();
            segments.back().push_back(at);
        }
        for (Group& segment : segments)
            std::sort(segment.begin(), segment.end());
        return segments;
    }

    /// Adds a segment to the run that it belongs to; segments come newest first.
    Result<void> place(const Group& segment)
    {
        Group rest = segment;
        std::string why;
        for (Group& group : m_groups) {
            const auto middle =
                std::find_if(rest.begin(), rest.end(), [&](std::size_t at) { return at > group.front(); });
            const Group low(rest.begin(), middle);
            const Group high(middle, rest.end());
            Answer answer { Kinship::OneRun, {} };
            if (!high.empty()) {
                DS_TRY(answer, kinshipOf(group, high));
            }
            if (answer.kinship != Kinship::TwoRuns) {
                if (answer.kinship == Kinship::Unknown)
                    m_notices.push_back(undecided(high, group));
                join(group, rest);
                return {};
            }
            why = answer.why;
            if (!low.empty()) { // a run that was resumed goes on from some of them
                DS_TRY(const Answer ofLow, kinshipOf(low, group));
                if (ofLow.kinship == Kinship::OneRun) {
                    join(group, low);
                    rest = high;
                }
            }
        }
        m_groups.push_back(std::move(rest));
        m_reasons.push_back(std::move(why));
        return {};
    }

    static void join(Group& group, const Group& more)
    {
        group.insert(group.end(), more.begin(), more.end());
        std::sort(group.begin(), group.end());
    }

    /// The two versions with the nearest steps of which the one of `lower` has the lower step.
    static PlacePair nearest(const Group& lower, const Group& higher)
    {
        PlacePair best(lower.front(), higher.back());
        for (const std::size_t b : higher) {
            const auto behind = std::lower_bound(lower.begin(), lower.end(), b);
            if (behind != lower.begin() && b - *std::prev(behind) < best.second - best.first)
                best = { *std::prev(behind), b };
        }
        return best;
    }

    Result<Answer> kinshipOf(const Group& lower, const Group& higher)
    {
        if (m_choice == EpochChoice::Times)
            return Answer { Kinship::TwoRuns, "--epochs times was given" };
        const PlacePair pair = nearest(lower, higher);
        DS_TRY(const TrainerHistory before,
               trainerHistoryOf(*m_store, m_listing, m_versions[pair.first].objects, m_task));
        DS_TRY(const TrainerHistory behind,
               trainerHistoryOf(*m_store, m_listing, m_versions[pair.second].objects, m_task));
        const Kinship kinship = compareHistories(before, behind);
        if (kinship != Kinship::Unknown)
            return Answer { kinship,
                            fmt::format("trainer_state.json of step {} logs other values than that of step {}",
                                        stepOf(pair.second), stepOf(pair.first)) };
        return byDistance(pair, lower, higher);
    }

    Result<Answer> byDistance(const PlacePair& pair, const Group& lower, const Group& higher)
    {
        std::vector<PlacePair> usual;
        addUsual(lower, pair.first, usual);
        addUsual(higher, pair.second, usual);
        std::string question = "runs\n";
        for (const PlacePair& one : usual)
            question += nameOf(one) + '\n';
        question = toHex(xxh3(asBytes(question + nameOf(pair))));
        if (m_bench.records) { // asked again where they cannot be read
            if (const auto known = m_bench.records->continuity(m_store->uri(), question); known && *known)
                return Answer { (*known)->why.empty()     ? Kinship::Unknown
                                    : (*known)->continues ? Kinship::OneRun
                                                          : Kinship::TwoRuns,
                                (*known)->why };
        }
        DS_TRY(const std::optional<Answer> answer, measure(pair, usual));
        if (!answer)
            return Answer();
        if (m_bench.records)
            static_cast<void>(m_bench.records->addContinuity( // else asked again
                m_store->uri(), question,
                Records::Continuity { answer->kinship != Kinship::TwoRuns, answer->why, m_bench.nowUs() }));
        return *answer;
    }

    /// Nothing where a state cannot be read.
    Result<std::optional<Answer>> measure(const PlacePair& pair, const std::vector<PlacePair>& usual)
    {
        using Found = std::optional<Answer>;
        const auto gapOf = [&](const PlacePair& of) {
            return static_cast<double>(stepOf(of.second) - stepOf(of.first));
        };
        DS_TRY(const std::optional<SampleDistance> jump, distanceOf(pair));
        if (!jump)
            return Found();
        if (!jump->isOneModel)
            return Found(Answer { Kinship::TwoRuns, "most of their tensors have other names or shapes" });
        double most = 0;
        for (const PlacePair& one : usual) {
            DS_TRY(const std::optional<SampleDistance> step, distanceOf(one));
            if (step && step->isOneModel)
                most = std::max(most, step->norm * std::max(1.0, gapOf(pair) / gapOf(one)));
        }
        if (jump->norm == 0)
            return Found(Answer { Kinship::OneRun, "their weights are the same" });
        if (most == 0)
            return Found(Answer());
        const double times = jump->norm / most;
        if (times <= AsUsual)
            return Found(Answer { Kinship::OneRun, "the weights moved as usual" });
        if (times < FarAbove)
            return Found(Answer());
        return Found(Answer { Kinship::TwoRuns,
                              fmt::format("from step {} to step {} the weights move {:.0f} times as far as usual",
                                          stepOf(pair.first), stepOf(pair.second), times) });
    }

    /// Pairs of neighbors next to a version, in whose order times see nothing odd.
    static void addUsual(const Group& group, std::size_t next, std::vector<PlacePair>& usual)
    {
        const auto at = static_cast<std::size_t>(std::lower_bound(group.begin(), group.end(), next) - group.begin());
        const std::size_t end = std::min(group.size(), std::max<std::size_t>(at + 1, MostUsualPairs + 1));
        const std::size_t begin = end - std::min(end, MostUsualPairs + 1);
        for (std::size_t i = begin + 1; i < end; ++i)
            usual.emplace_back(group[i - 1], group[i]);
    }

    std::string nameOf(const PlacePair& pair) const
    {
        return m_versions[pair.first].objects.identity() + '\n' + m_versions[pair.second].objects.identity();
    }

    Result<std::optional<SampleDistance>> distanceOf(const PlacePair& pair)
    {
        const auto known = m_distances.find(pair);
        if (known != m_distances.end())
            return known->second;
        std::optional<SampleDistance>& found = m_distances[pair];
        if (m_distances.size() > MostDistances)
            return found;
        if (!m_run)
            m_run = buildLineage(m_store, m_layout, std::nullopt, m_versions, m_bench.nowUs(),
                                 std::vector<int>(m_versions.size(), 0));
        DS_TRY(const WalkMeans means, m_bench.means());
        const auto measured = [&]() -> Result<SampleDistance> {
            DS_TRY(const PathPtr a, open(pair.first));
            DS_TRY(const PathPtr b, open(pair.second));
            return ifSound(sampleDistance(*a, *b, means, m_task), { a.get(), b.get() }, m_task);
        };
        Result<SampleDistance> distance = measured();
        if (!distance && (distance.error().code == Code::Canceled || distance.error().code == Code::Transient))
            return fail(std::move(distance.error()));
        if (distance)
            found = *distance;
        return found;
    }

    Result<PathPtr> open(std::size_t at)
    {
        const std::string& name = m_versions[at].objects.name;
        const auto version = std::find_if(m_run->versions.begin(), m_run->versions.end(),
                                          [&](const Version& one) { return one.objects.name == name; });
        DS_TRY(const Plan plan, planFor(*m_run, *version));
        return openForFacts(m_bench, *m_run, plan, m_task);
    }

    /// "step 500", "steps 500 to 700".
    std::string stepsText(const Group& group) const
    {
        return group.size() == 1 ? fmt::format("step {}", stepOf(group.front()))
                                 : fmt::format("steps {} to {}", stepOf(group.front()), stepOf(group.back()));
    }
    Error passedOver(const Group& older, const std::string& why) const
    {
        const std::size_t last = m_groups.front().back();
        return Error { Code::Fork,
                       fmt::format("{} {} of an earlier run, older than step {}: {}. The newest run ends with step {}",
                                   stepsText(older), older.size() == 1 ? "is" : "are", stepOf(last), why, stepOf(last)),
                       m_versions[older.back()].objects.name, std::nullopt,
                       "Address the earlier run as SOURCE@EPOCH:STEP, or pass --epochs one if all are of one run." };
    }
    Error undecided(const Group& older, const Group& group) const
    {
        return Error { Code::Fork,
                       fmt::format("{} {} older than step {}, and nothing shows whether a new run began there: all are "
                                   "taken for one run",
                                   stepsText(older), older.size() == 1 ? "is" : "are", stepOf(group.front())),
                       m_versions[older.back()].objects.name, std::nullopt,
                       "Pass --epochs times if the older ones are of an earlier run." };
    }

    Workbench& m_bench;
    const std::shared_ptr<ObjectStore>& m_store;
    const std::shared_ptr<const Layout>& m_layout;
    const std::vector<ObjectInfo>& m_listing;
    const std::vector<IndexedObjects>& m_versions;
    const EpochChoice m_choice;
    TaskContext& m_task;
    std::optional<Run> m_run; ///< all versions as one
    std::vector<Group> m_groups; ///< the newest run first
    std::vector<std::string> m_reasons; ///< why each is not of a newer one
    std::vector<Error> m_notices;
    std::map<PlacePair, std::optional<SampleDistance>> m_distances;
};

}

Result<SeparatedRuns> separateRuns(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                                   const std::shared_ptr<const Layout>& layout, const std::vector<ObjectInfo>& listing,
                                   const std::vector<IndexedObjects>& versions, EpochChoice choice, TaskContext& task)
{
    return RunSeparator(bench, store, layout, listing, versions, choice, task).separate();
}

} // namespace deltascope

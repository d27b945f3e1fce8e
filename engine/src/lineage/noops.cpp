#include "lineage/noops.h"

#include <cstddef>
#include <fmt/format.h>
#include <numeric>

namespace deltascope {

namespace {

/// A delta whose assignments were compared with the state before it.
struct Counted {
    std::size_t version;
    NoopCounts counts;
    bool suspect; ///< no digest tells whether it was written against this state
};

/// The deltas between two complete anchors, in order.
struct Segment {
    std::vector<Counted> deltas;
    std::size_t sound = 0; ///< how many stand in front of the first proof

    NoopCounts habit(std::size_t count) const
    {
        return std::accumulate(deltas.begin(), deltas.begin() + static_cast<std::ptrdiff_t>(count), NoopCounts(),
                               [](NoopCounts sum, const Counted& delta) { return sum += delta.counts; });
    }
};

/// Versions that add rounded differences, or build on one: adding can change nothing on a sound chain, too.
std::vector<bool> lossyVersions(const Run& run)
{
    std::vector<bool> lossy(run.versions.size(), false);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        lossy[i] = version.kind == VersionKind::Delta
            && ((version.summary && version.summary->lossy) || (version.base && lossy[*version.base]));
    }
    return lossy;
}

std::vector<Segment> segmentsOf(const Run& run)
{
    using Check = VersionFacts::RootCheck;
    const std::vector<bool> lossy = lossyVersions(run);
    std::vector<Segment> segments(1);
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        const bool begins =
            version.kind == VersionKind::Anchor || (i > 0 && run.versions[i - 1].epoch != version.epoch);
        if (begins && !segments.back().deltas.empty())
            segments.emplace_back();
        if (version.kind == VersionKind::Anchor || !version.facts || lossy[i] || restoredVersion(run, i))
            continue;
        const VersionFacts& facts = *version.facts;
        const bool unsound = facts.damage || facts.digestsFailed > 0 || facts.rootCheck == Check::Differs
            || facts.rootCheck == Check::BaseDiffers;
        if (unsound || !facts.replayed || facts.assigned == 0)
            continue;
        segments.back().deltas.push_back(Counted {
            i, { facts.noops, facts.assigned }, facts.digestsChecked == 0 && facts.rootCheck == Check::None });
    }
    for (Segment& segment : segments)
        segment.sound = segment.deltas.size();
    return segments;
}

NoopCounts habitOf(const std::vector<Segment>& segments)
{
    NoopCounts habit;
    for (const Segment& segment : segments)
        habit += segment.habit(segment.sound);
    return habit;
}

/// Tests the deltas of one segment that are not behind a proof. `others`: the habit of all other segments.
void testSegment(Segment& segment, NoopCounts others, std::vector<NoopVerdict>& verdicts)
{
    NoopCounts front;
    for (std::size_t n = 0; n < segment.deltas.size(); ++n) {
        const Counted& delta = segment.deltas[n];
        NoopCounts habit = others;
        habit += front;
        verdicts[delta.version] = delta.suspect ? judgeNoops(delta.counts, habit) : NoopVerdict::Habit;
        if (n < segment.sound && verdicts[delta.version] == NoopVerdict::Loss)
            segment.sound = n;
        if (n < segment.sound)
            front += delta.counts;
    }
}

/// Of writers that never assign bits that are there: one no-op is a proof.
std::vector<NoopVerdict> judgeExact(const Run& run, const std::vector<Segment>& segments)
{
    std::vector<NoopVerdict> verdicts(run.versions.size(), NoopVerdict::Habit);
    for (const Segment& segment : segments) {
        for (const Counted& delta : segment.deltas) {
            if (delta.suspect && delta.counts.noops > 0)
                verdicts[delta.version] = NoopVerdict::Loss;
        }
    }
    return verdicts;
}

/// Tests again as long as a proof takes deltas out of the habit. `segments` end with what is sound.
std::vector<NoopVerdict> judgeByHabit(const Run& run, std::vector<Segment>& segments)
{
    std::vector<NoopVerdict> verdicts(run.versions.size(), NoopVerdict::Habit);
    NoopCounts habit = habitOf(segments);
    for (bool changed = true; changed;) {
        changed = false;
        for (Segment& segment : segments) {
            const std::size_t before = segment.sound;
            NoopCounts others = habit;
            others -= segment.habit(before);
            testSegment(segment, others, verdicts);
            habit = others;
            habit += segment.habit(segment.sound);
            changed = changed || segment.sound != before;
        }
    }
    return verdicts;
}

}

std::vector<NoopVerdict> judgeNoops(const Run& run)
{
    std::vector<Segment> segments = segmentsOf(run);
    return run.layout->writersAreExact() ? judgeExact(run, segments) : judgeByHabit(run, segments);
}

NoopCounts usualNoops(const Run& run)
{
    std::vector<Segment> segments = segmentsOf(run);
    if (run.layout->writersAreExact())
        return {};
    judgeByHabit(run, segments);
    return habitOf(segments);
}

void assessHabit(Run& run)
{
    NoopCounts habit;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const Version& version = run.versions[i];
        const VersionFacts* facts = version.facts ? &*version.facts : nullptr;
        if (facts && version.kind == VersionKind::Delta && !version.obstacle && !version.lossy
            && facts->digestsChecked == 0 && facts->rootCheck == VersionFacts::RootCheck::None
            && !restoredVersion(run, i))
            habit += { facts->noops, facts->assigned };
    }
    if (habit.noops > 0)
        run.problems.push_back(Error {
            Code::Noop,
            fmt::format(
                "the deltas assign {} of {} elements bits that they already have ({:.2f} %): the writer's change "
                "detection is approximate, so the served state (replay) can drift from the trained one (anchors)",
                habit.noops, habit.assigned, 100.0 * habit.share()),
            run.store->uri(), std::nullopt, "compare anchors with the replay: verify --level 4" });
}

} // namespace deltascope

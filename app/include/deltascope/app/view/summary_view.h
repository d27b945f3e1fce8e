#pragma once

#include "deltascope/app/view/health_view.h"
#include "deltascope/app/view/heat_view.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

/// A run that is followed, at one moment. Immutable.
struct RunSnapshot {
    std::string id; ///< unique among the followed runs, letters, digits, '-', '_', '.'
    std::string name;
    std::string source; ///< canonical URI
    std::string base; ///< empty: none
    std::uint64_t revision = 0; ///< grows with every change of anything in here
    std::string opening; ///< what is read before the run can be shown for the first time; empty: nothing, or not known
    std::string state; ///< opening live error, lost: no contact with the server that follows it, recorded: a bundle
    std::optional<ProblemView> error;
    std::int64_t contactUs = 0; ///< when the source was last looked at with success
    bool demo = false;
    std::shared_ptr<const RunView> run; ///< null while it is opened
    std::shared_ptr<const HeatView> heat; ///< null while nothing was replayed
    VerifiedSteps verified;
    bool oldVerdicts =
        false; ///< of an old bundle: weaker rules made them, so that those that it holds are only bad ones
    std::uint64_t alertsFiring = 0;
    std::string worstAlert; ///< info warn error; empty: none
};

/// The tiles of the page Live. Medians and shares are over the last 50 versions of the newest epoch.
struct KpiView {
    std::optional<std::int64_t> latest; ///< newest restorable step
    std::optional<int> latestEpoch;
    std::optional<std::int64_t> newest; ///< newest step, sound or not
    std::optional<std::int64_t> latestAtUs;
    std::optional<double> intervalSeconds; ///< median between publications
    std::optional<std::int64_t> chainAnchor; ///< that the latest step is rebuilt from
    std::optional<std::uint64_t> chainDeltas;
    std::optional<double> changedFraction, changedFractionMedian; ///< of deltas
    std::optional<std::uint64_t> deltaBytes; ///< of the latest delta
    std::optional<std::uint64_t> fullBytes; ///< fullStepBytes
    std::optional<double> ratio; ///< full / delta
    std::optional<double> pauseMs; ///< of the latest step that has one
    std::optional<double> pauseP50Ms, pauseP95Ms;
    std::optional<double> pausedFraction; ///< of wall time
    std::uint64_t replicas = 0;
    std::uint64_t replicasInSync = 0;
    std::optional<std::string> worstReplica;
    std::optional<std::int64_t> worstLag;
    std::optional<std::int64_t> verifiedTo; ///< newest step whose chain was checked up to it and found sound
    std::optional<int> verifiedLevel; ///< the lowest of these
    std::string verifiedResult; ///< the weakest of these: verified consistent first_sight; empty: none
};

struct RunSummaryView {
    std::shared_ptr<const RunSnapshot> snapshot;
    KpiView kpi;
    HealthView health;
    std::uint64_t steps = 0, anchors = 0, deltas = 0, gaps = 0;
    std::uint64_t attention = 0; ///< 0: all is well; the higher, the earlier it is shown
    std::vector<std::optional<double>> spark; ///< changed fraction of the last 60 versions
};

/// A replica with its past, as far as spans tell it.
struct ReplicaHistoryView {
    ReplicaView replica;
    std::optional<double> lagSeconds; ///< since the first version that it does not serve was published
    std::optional<double> lastPauseMs;
    std::optional<double> pausedFraction; ///< of the last hour
    std::vector<std::uint64_t>
        lagHistory; ///< versions behind when each of the last versions was published, as far as spans tell, and now
    std::vector<std::int64_t> lagSteps; ///< which version that was, for each of lagHistory
};

struct FeedItemView {
    std::int64_t tUs = 0;
    std::string kind; ///< published applied note problem event notice
    std::optional<std::int64_t> step;
    std::string text;
};

RunSummaryView makeRunSummary(std::shared_ptr<const RunSnapshot> snapshot);
/// `versions`: how far lagHistory reaches back.
std::vector<ReplicaHistoryView> makeReplicaHistory(const RunView& run, std::int64_t nowUs, std::size_t versions = 60);
/// What happened, newest first.
std::vector<FeedItemView> makeFeed(const RunView& run, std::size_t limit);

} // namespace deltascope::app

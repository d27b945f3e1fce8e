#include "alerts/rules.h"

#include <algorithm>
#include <array>

namespace deltascope::app {

namespace {

constexpr auto Info = AlertLevel::Info;
constexpr auto Warn = AlertLevel::Warn;
constexpr auto Error = AlertLevel::Error;

constexpr std::array<Rule, 16> Rules = { {
    { "publish-stalled", Warn, "No new step for several usual intervals, and for at least a minute.", 3,
      "× median interval",
      "Is the trainer dead, the bucket full, or have credentials expired? Look at the end of the trainer's log.",
      publishStalled },
    { "chain-gap", Error, "A step that others build on is missing.", 30, "s",
      "Do not start new replicas past the gap; materialize from the next anchor.", chainGap },
    { "digest-mismatch",
      Error,
      "The content of a step is damaged.",
      {},
      {},
      "Keep replicas away from this step; look for another copy of its objects, or go back to a step before it.",
      digestMismatch },
    { "phantom-version", Error, "A version was counted, but its object is not in the run.", 30, "s",
      "The trainer has counted a transfer that failed: publish an anchor before replicas wait for the step for good.",
      phantomVersion },
    { "drift",
      Error,
      "An anchor differs from the replayed state before it by more than a step of training.",
      {},
      {},
      "The change detector has missed elements, or the anchor is incomplete: verify at level 4 and materialize the "
      "state that is meant.",
      drift },
    { "suspect-values",
      Error,
      "The newest step has values that the deltas of the run do not explain.",
      {},
      {},
      "Stop the fleet from taking the step, look at the tensor with stats and at the trainer's log, and roll back to a "
      "step before it.",
      suspectValues },
    { "density-shift", Warn, "The share of changed weights has left its usual range.", 6, "× MAD",
      "Have learning rate, precision or optimizer changed?", densityShift },
    { "density-high", Warn, "Five deltas in a row are so large that they save little against full steps.", 50, "%",
      "Check learning rate, dtype and the encoding of the deltas; full checkpoints may be cheaper.", densityHigh },
    { "pause-long", Warn, "A sync has stopped generation for much longer than usual, and for at least two seconds.", 3,
      "× median pause", "See the timeline; move decoding and verification before the pause.", pauseLong },
    { "replica-lag", Warn, "A replica has been several versions behind for a minute.", 3, "versions",
      "Is its network slow, or does the apply hang?", replicaLag },
    { "replica-foreign",
      Error,
      "A replica serves a version that is not in this run.",
      {},
      {},
      "Is it subscribed to another run, or has it missed a rollback?",
      replicaForeign },
    { "replica-poisoned",
      Error,
      "An apply has failed after it had written a part of the weights.",
      {},
      {},
      "Reload full weights; never replay an XOR delta on top.",
      replicaPoisoned },
    { "anchor-overdue", Warn, "Many more deltas than usual since the last anchor.", 2, "× usual distance",
      "Late joiners must replay a long chain: have the trainer publish an anchor.", anchorOverdue },
    { "storage",
      Warn,
      "The run is larger than its limit, or will be within a day.",
      {},
      "GB",
      "Prune steps that no chain in use needs.",
      storage },
    { "clock-skew", Info, "The clocks of the actors and of the store are apart.", 30, "s",
      "Times on the timeline are shifted against each other: synchronize the clocks.", clockSkew },
    { "verify-behind", Info, "Many steps since the last one that was verified.", 200, "steps",
      "Verify the newest range, or give verification more time.", verifyBehind },
} };

}

std::span<const Rule> alertRules() { return Rules; }

const Rule* alertRule(std::string_view id)
{
    const auto* const at = std::find_if(Rules.begin(), Rules.end(), [id](const Rule& rule) { return rule.id == id; });
    return at == Rules.end() ? nullptr : at;
}

} // namespace deltascope::app

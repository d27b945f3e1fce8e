#pragma once

#include "deltascope/app/view/trace_view.h"

namespace deltascope::app {

/// Whether a replica has said that it ends: it is no part of the fleet any more, and sends no heartbeats.
inline bool hasStopped(const ReplicaView& replica) { return replica.state == "stopped"; }

/// Whether a replica says that its weights are not those of the step that it names.
inline bool holdsOtherWeights(const ReplicaView& replica)
{
    return replica.state == "poisoned" || replica.state == "digest-mismatch";
}

} // namespace deltascope::app

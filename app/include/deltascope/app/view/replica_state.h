#pragma once

#include "deltascope/app/view/trace_view.h"

namespace deltascope::app {

/// Whether a replica has said that it ends: it is no part of the fleet any more, and sends no heartbeats.
inline bool hasStopped(const ReplicaView& replica) { return replica.state == "stopped"; }

/// Whether a replica says that an apply failed after it had written a part of the weights: it serves no step.
inline bool isPoisoned(const ReplicaView& replica) { return replica.state == "poisoned"; }

/// Whether a replica says that it refuses a step, whose digests do not agree.
inline bool refusesStep(const ReplicaView& replica) { return replica.state == "digest-mismatch"; }

} // namespace deltascope::app

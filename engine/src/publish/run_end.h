#pragma once

#include "deltascope/engine/publish.h"
#include "deltascope/engine/publish_step.h"
#include "publish/writer_choice.h"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// The end of a run, behind which the next version is put, and what the next one goes on with.
struct RunEnd {
    std::int64_t step = 0; ///< 0: nothing is published yet
    std::string root; ///< empty: not recorded
    std::string base; ///< root of the state that it was made from; empty: not recorded
    bool beginsEpoch = false; ///< behind an earlier one
    std::string origin; ///< of the newest version
    std::map<std::string, PublishedCheckpoint> origins; ///< of all versions of the epoch
    std::int64_t publishedUs = 0; ///< of the newest version, by its store
    std::uint32_t versionsSinceAnchor = 0; ///< the anchor counts as none
    std::uint64_t deltaBytes = 0; ///< since the anchor
    std::string runId;
    int epoch = 0; ///< of what is put next
    bool epochBegun = true; ///< false: that begins it
    std::string identity; ///< of the objects of the newest version
    bool isOwn = false; ///< the publisher that goes on behind the newest version put it
    std::vector<PlannedObject> stateReads; ///< what rebuilds its state, where no root tells which one that is
    std::vector<PlannedObject> newestReads; ///< what is read before a delta is put behind the newest version
    std::vector<ObjectInfo> leftovers; ///< of a version behind it that was never committed
};

/// `store`: null where the folder is not there yet. Replays the first delta of a run on its external base, unless the
/// catalog knows what that shows. Errors: as Publisher::open but for the lease.
Result<RunEnd> findRunEnd(Workbench& bench, const std::shared_ptr<ObjectStore>& store, const OpenOptions& base,
                          const PublishOptions& options, const WriterChoice& writers, TaskContext& task);

/// An obstacle on the way to the newest version, told with what a publisher does about it.
Error cannotGoOn(const Error& obstacle, const WriterChoice& writers);

/// The version that is put behind the end of a run. `stateBytes`: of the state that it leads to; asked only where that
/// matters. Errors: those of `stateBytes`.
Result<DueVersion> dueVersion(const RunEnd& end, const WriterChoice& writers, const PublishOptions& options,
                              const std::function<Result<std::uint64_t>()>& stateBytes);
/// The delta that is put behind the first anchor of a run.
DueVersion deltaBehindFirst(const WriterChoice& writers);

} // namespace deltascope

#pragma once

#include "deltascope/base/result.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope::app {

/// A hidden folder that a materialization left when it was stopped or killed.
struct LeftoverView {
    std::string path;
    std::string destination; ///< the folder that it would have become
    std::uint64_t bytes = 0; ///< of its files
    std::int64_t process = 0; ///< that made it, by the number where it ran; 0 where several share it
    bool shared = false; ///< of a rebuild in parts, which may be whole and wait for --commit
    bool atWork = false; ///< a process works in it, and nothing removes it
    bool removed = false;
};

/// What lies in one folder.
struct LeftoversView {
    std::string folder;
    std::vector<LeftoverView> leftovers; ///< in order of names
};

/// Which leftovers are removed.
enum class LeftoverChoice : std::uint8_t { None, OfOneProcess, AlsoShared };

/// Lists the leftovers in a folder, and removes those of `remove` in which no process is at work. Waits for the disk.
/// Errors: NotFound, Auth, Io; what was removed before stays removed.
Result<LeftoversView> tendLeftovers(const std::string& folder, LeftoverChoice remove);

/// {"folder", "leftovers": [{"path", "destination", "bytes", "process", "shared", "at_work", "removed"}]}
std::string toJson(const LeftoversView& view);

} // namespace deltascope::app

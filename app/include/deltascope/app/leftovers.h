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
};

/// What lies in one folder.
struct LeftoversView {
    std::string folder;
    std::vector<LeftoverView> leftovers; ///< in order of names
};

/// Lists the leftovers in a folder. Waits for the disk. Errors: NotFound, Auth, Io.
Result<LeftoversView> listLeftovers(const std::string& folder);

/// {"folder", "leftovers": [{"path", "destination", "bytes", "process", "shared", "at_work"}]}
std::string toJson(const LeftoversView& view);

} // namespace deltascope::app

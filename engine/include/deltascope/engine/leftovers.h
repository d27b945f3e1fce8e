#pragma once

#include "deltascope/engine/file_system.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope {

/// A hidden folder that a materialization left beside its destination when it was stopped or killed:
/// ".NAME.ds-<plan>-<pid>-<random>", or ".NAME.ds-<plan>-shared" of one that several processes share.
struct Leftover {
    std::string path;
    std::string destination; ///< what it would have become; the same command goes on from it
    std::uint64_t bytes = 0; ///< of its files
    std::int64_t process = 0; ///< that made it, by the number where it ran; 0 where it is shared
    bool shared = false; ///< its parts may be whole and wait for --commit
    bool atWork = false; ///< a process has it, or a part of it, locked
};

/// Those in a folder, in order of names. A folder that is called like one and does not hold what a materialization
/// writes is none. Errors: those of listing `folder`.
Result<std::vector<Leftover>> findLeftovers(FileSystem& disk, const std::string& folder);

/// Removes one, if it still is what it was. Errors: Exists (a process is at work in it), NotFound, those of the disk.
Result<void> removeLeftover(FileSystem& disk, const Leftover& leftover);

/// Removes what stopped materializations into `destination` left beside it, whichever version they were of; not what
/// several processes share. Errors: Exists (one is at work), those of the disk.
Result<void> removeLeftovers(FileSystem& disk, const std::string& destination);

} // namespace deltascope

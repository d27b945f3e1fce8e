#pragma once

#include "deltascope/engine/act_plan.h"
#include "deltascope/engine/file_system.h"

#include <cstdint>
#include <optional>
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
    /// The folder itself, whose key ends with a slash, and all below it. Their store is the folder that it lies in.
    std::vector<PlannedObject> objects;
};

/// Those in a folder, in order of names. A folder that is called like one and does not hold what a materialization
/// writes is none. Errors: those of listing `folder` and of looking at what is below.
Result<std::vector<Leftover>> findLeftovers(FileSystem& disk, const std::string& folder);

/// What a folder that is called like a leftover would have become: Leftover::destination. Nothing: it is called
/// otherwise.
std::optional<std::string> destinationOfLeftover(const std::string& path);
/// How leftovers name a destination: as it is, or a long name by its beginning and a digest.
std::string nameInLeftovers(const std::string& destination);

/// Removes one, if it still holds exactly `objects`. Errors: Exists (a process is at work in it, or it changed),
/// NotFound, those of the disk.
Result<void> removeLeftover(FileSystem& disk, const Leftover& leftover);

} // namespace deltascope

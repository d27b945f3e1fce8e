#pragma once

#include "deltascope/engine/lineage.h"
#include "format/common/found_folders.h"

#include <map>
#include <string>
#include <vector>

namespace deltascope {

/// A folder in which a trainer left something that cannot be published as a checkpoint.
using UnreadFolder = FoundFolder;

/// The folder of a step, as a person calls it: "checkpoint-120", "exports/global_step_10". ".": the watched folder
/// itself.
std::string checkpointLabel(const Version& version);

/// Folders of a listing that hold weights, or are called like checkpoints, and are no version of `understood`. The
/// folder itself only where nothing else is there.
std::vector<UnreadFolder> unreadFolders(const std::vector<ObjectInfo>& listing, const Run& understood);

/// Folders that one act did not understand. Reports each once, when nothing in it has changed between two looks.
class UnreadReport {
public:
    /// Those that are news, by reason.
    struct News {
        std::vector<std::string> names;
        std::string what; ///< "it holds a PEFT adapter (…)"
        std::string remedy;
    };
    /// `settled`: of the folders that are complete as far as that can be known.
    std::vector<News> take(const std::vector<UnreadFolder>& settled);
    /// Whether a folder still has to be looked at again.
    bool waits() const noexcept { return m_waits; }
    /// Errors: Layout, if a checkpoint was not understood; `nothingElse`: also if anything was not.
    Result<void> outcome(const std::string& where, bool nothingElse) const;

    /// Those in the place of a checkpoint.
    std::vector<std::string> namesOfCheckpoints() const;

private:
    std::map<std::string, std::string> m_states; ///< by name, at the last look
    std::vector<UnreadFolder> m_told;
    bool m_waits = false;
};

} // namespace deltascope

#pragma once

#include "deltascope/engine/lineage.h"

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// A folder in which a trainer left something that cannot be published as a checkpoint.
struct UnreadFolder {
    std::string name; ///< its first component; ".": the watched folder itself
    std::int64_t number = -1; ///< of "checkpoint-N" or "step_N"; -1: its name tells no place in the order
    std::string why; ///< what is there instead, as the end of a sentence: "holds a PEFT adapter (…)"
    std::string remedy;
    std::int64_t changedUs = 0; ///< the newest of its objects
    std::string state; ///< keys and identities: equal text, nothing has changed
    bool isEmpty = false; ///< no weights of any form lie there, so they may still come
};

/// Folders of a listing that hold weights, or are called like checkpoints, and are no version of `understood`. The
/// folder itself only where nothing else is there.
std::vector<UnreadFolder> unreadFolders(const std::vector<ObjectInfo>& listing, const Run& understood);

/// What one act has seen and not understood: each folder is told once, when nothing in it has changed between two
/// looks.
class UnreadReport {
public:
    /// Those that are news, by reason.
    struct News {
        std::vector<std::string> names;
        std::string why; ///< with the remedy
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

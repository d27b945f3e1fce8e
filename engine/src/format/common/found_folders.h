#pragma once

#include "deltascope/engine/object_store.h"

#include <cstdint>
#include <string>
#include <vector>

namespace deltascope {

/// A folder that holds weights or is called like a checkpoint, in the words of messages.
struct FoundFolder {
    std::string name; ///< up to its step ("exports/global_step_10"), else its first component; ".": the source itself
    std::int64_t number = -1; ///< of its name; -1: its name tells no place in the order
    std::string why; ///< what is there, as the end of a sentence: "holds a PEFT adapter (…)"
    std::string remedy; ///< empty: another name or form is all that it needs
    std::int64_t changedUs = 0; ///< the newest of its objects
    std::string state; ///< keys and identities: equal text, nothing has changed
    bool isEmpty = false; ///< no weights of any form lie there but those of an unfinished save, so they may still come
};

/// Folders of a listing, ascending by number. Empty folders, hidden ones and those without weights and number are left
/// out. Those that are called unfinished ("tmp_step_10") are named as such, and have no number.
std::vector<FoundFolder> foundFolders(const std::vector<ObjectInfo>& listing);

/// What was found, the newest by number among it: "checkpoint-10, checkpoint-20 hold a PEFT adapter …". Empty where
/// nothing was.
std::string describeFound(const std::vector<FoundFolder>& folders);

/// At most five names, and how many more there are.
std::string namesText(const std::vector<std::string>& names);

} // namespace deltascope

#pragma once

#include "deltascope/engine/operations.h"

namespace deltascope {

/// An object against what is on record of it.
enum class RecordedBytes : std::uint8_t {
    Unknown, ///< nothing is on record
    Same, ///< it has the identity or the bytes that are trusted
    Other,
};

/// Reads the object only where its identity is not the recorded one and its size is. `touched`: set where it has the
/// recorded bytes under another identity. Errors: Catalog (its record is damaged), those of the store.
Result<RecordedBytes> compareWithRecord(Workbench& bench, const ObjectStore& store, const ObjectInfo& object,
                                        TaskContext& task, bool* touched = nullptr);

} // namespace deltascope

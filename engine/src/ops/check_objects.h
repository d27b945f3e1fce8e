#pragma once

#include "deltascope/engine/operations.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

namespace deltascope {

void addTo(StoreDigests& sum, const StoreDigests& more);

/// What reading all bytes of a version's objects showed.
struct ObjectFindings {
    std::vector<Error> problems;
    std::vector<std::pair<std::string, Records::Sight>> sights; ///< by key; not on record yet
    std::vector<std::string> accepted; ///< keys of objects that were rewritten, and are trusted from now on
    bool isChanging = false; ///< another object stands there than the one that was read
    StoreDigests storeDigests;

    /// The same of another object of the version, without its sights.
    void add(ObjectFindings other)
    {
        std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
        std::move(other.accepted.begin(), other.accepted.end(), std::back_inserter(accepted));
        isChanging = isChanging || other.isChanging;
        addTo(storeDigests, other.storeDigests);
    }
    bool has(Code code) const
    {
        return std::any_of(problems.begin(), problems.end(),
                           [code](const Error& problem) { return problem.code == code; });
    }
};

/// How the objects of a version are compared with what was seen first.
enum class ObjectCheckup : std::uint8_t {
    None,
    /// By the record alone, if they were read before as they are now; else as Read.
    Known,
    Read, ///< all bytes are read and hashed
};

/// Compares the objects of versions with what was seen first; the findings of each version. What was read before an
/// interruption is on record all the same. `checkups`: by index in Run::versions. Errors: those of the store and of the
/// records.
Result<std::vector<ObjectFindings>> checkRun(Workbench& bench, const Run& run,
                                             const std::vector<ObjectCheckup>& checkups, bool acceptRewritten,
                                             TaskContext& task);

/// The same of the checkpoint outside of the source.
Result<ObjectFindings> checkBase(Workbench& bench, const ExternalBase& base, bool acceptRewritten, TaskContext& task);

} // namespace deltascope

#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

namespace deltascope {

/// One form of a version whose headers are wanted, and where what they say goes.
struct WantedForm {
    const VersionObjects* objects;
    std::optional<VersionSummary>* summary;
    std::optional<Error>* failure;
};

/// Errors that say nothing about the version itself.
bool concernsTheStore(Code code);

/// The object of this key if it is no file; null: it is one, or none of the version.
const ObjectInfo* oddObject(const VersionObjects& version, std::string_view key);

/// Layout::index; an object that a version needs and that is no file is the error (noFileError).
Result<VersionIndex> readIndex(const ObjectStore& store, const Layout& layout, const VersionObjects& version,
                               TaskContext& task);

/// How many of `threads` threads read versions like this one at once: what the headers of a million tensors say takes
/// hundreds of megabytes until it is summed up.
unsigned readersOf(const std::optional<VersionSummary>& version, unsigned threads);

/// Reads the headers of all these on the threads of the workbench, those of many at a time where reads are kept. What
/// is wrong with a version is its failure. Errors: those that concern the store.
Result<void> readHeaders(Workbench& bench, const std::shared_ptr<const ObjectStore>& store, const Layout& layout,
                         const std::vector<WantedForm>& forms, TaskContext& task);

} // namespace deltascope

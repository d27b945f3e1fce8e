#pragma once

#include "deltascope/engine/operations.h"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// What is known about versions of a source from an earlier look, by version name.
using KnownVersions = std::map<std::string, Catalog::KnownVersion>;

/// Key to identity of each object, from VersionObjects::identity(), which must live as long.
std::map<std::string_view, std::string_view> partsOf(std::string_view identity);

/// Events since then: objects with another identity under the same key (Rewritten if their bytes differ, Unproven if
/// the records do not know that), and a prefix that lost most of its versions with the newest among them, as a run that
/// begins again wipes it (ListSuspect). `records`: null where there are none. `now`: the versions
/// that are there, complete or not.
std::vector<Error> noticeChanges(Records* records, const ObjectStore& store, const KnownVersions& known,
                                 const std::vector<IndexedObjects>& now);

/// Says of changes in the journal what the records know by now: those that left the bytes as they were are taken out.
void settleChanges(Records& records, const ObjectStore& store, std::vector<Error>& events);

/// Whether steps were overwritten again and again, as two trainers with one prefix do it. `events`: of the journal.
std::optional<Error> twoWriters(const ObjectStore& store, const std::vector<Error>& events);

/// The event of a source in which none of the known versions is left.
Error everythingGone(const ObjectStore& store, const KnownVersions& known);

} // namespace deltascope

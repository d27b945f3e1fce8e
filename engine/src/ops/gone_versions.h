#pragma once

#include "deltascope/engine/operations.h"
#include "notice_changes.h"
#include "read_headers.h"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// What records and catalog know of the objects of a source, and the source does not list any more.
class MissingObjects {
public:
    /// `onRecord`, `known`: what records and catalog know of the source. `listing`: of the source alone, without its
    /// mirrors.
    static MissingObjects of(Workbench& bench, const ObjectStore& store,
                             const std::map<std::string, Records::KnownObject>& onRecord, const KnownVersions& known,
                             const std::vector<ObjectInfo>& listing);

    /// Nothing is missing but what a user has accepted.
    bool empty() const noexcept { return m_missing.empty(); }
    std::size_t size() const noexcept { return m_missing.size(); }
    /// Whether an object that is missing, or whose loss is accepted, was in this folder.
    bool wereIn(const std::string& folder) const;

    /// Fails the forms of which an object is gone that indexing would read, or without which they look unfinished,
    /// while their other objects are those that were recorded: such a form is not what it was, and its own files may
    /// not show it. Errors: those of the store.
    Result<void> failForms(Workbench& bench, const ObjectStore& store, const Layout& layout,
                           const std::vector<WantedForm>& forms, TaskContext& task) const;

    /// Fills Run::gone and Run::acceptedLosses with the versions of which nothing is left; the run has to be assessed
    /// again. A loss that matters is confirmed by the store: it is asked for the object and lists it a second time.
    /// Errors: those of the store.
    Result<void> addTo(Run& run, Workbench& bench, const ObjectStore& store, TaskContext& task) const;

    /// A user accepts all of it. Errors: those of the records.
    Result<void> accept(Workbench& bench, const ObjectStore& store);

private:
    /// The versions that the run with some of these names would have with `keys`, too.
    std::vector<VersionObjects> groupsWith(const Layout& layout, const std::set<std::string_view>& names,
                                           const std::map<std::string, std::int64_t, std::less<>>& keys) const;
    /// Whether each object of a version has the identity that it had.
    bool isAsKnown(const VersionObjects& version) const;
    Result<bool> isGone(const ObjectStore& store, const std::string& key, TaskContext& task) const;
    /// Takes out of Run::gone what the store still has, and marks what an earlier run left.
    Result<void> confirm(Run& run, Workbench& bench, const ObjectStore& store, TaskContext& task) const;

    std::vector<ObjectInfo> m_listing;
    std::map<std::string, std::int64_t, std::less<>> m_missing; ///< key, and when it was last recorded (0: never)
    std::map<std::string, std::int64_t, std::less<>> m_accepted; ///< the same, of those that a user has accepted
    std::map<std::string, std::string> m_identities; ///< by key: what the catalog knows, else the last one on record
};

/// Keeps the loss of what an earlier run left as accepted, once a new run is known to have begun in its place, in this
/// epoch. The run has to be assessed again. Errors: those of the records.
Result<void> acceptEarlierRun(Workbench& bench, Run& run, int epoch);

} // namespace deltascope

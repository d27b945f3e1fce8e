#pragma once

#include "deltascope/engine/forwarding_store.h"

#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// A store as a listing has shown it. Reads of listed objects that name no identity are of the one that was listed, so
/// that stores may keep what was read, and stat() costs no request; what has taken the place of a listed object is
/// noticed by reading, and is used from then on. Everything else passes. For reading. Any thread.
class ListedStore final : public ReadOnlyStore {
public:
    using ReadOnlyStore::ReadOnlyStore;
    /// Before the first read.
    void add(const std::vector<ObjectInfo>& objects);

    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override;

private:
    /// The listed object that is meant; null: another one, or none that still stands.
    const ObjectInfo* meant(const ObjectRef& object) const;
    void noteReplaced(std::string_view key) const;

    std::map<std::string, ObjectInfo, std::less<>> m_objects;
    mutable std::mutex m_mutex; ///< guards m_replaced
    mutable std::set<std::string, std::less<>> m_replaced; ///< listed, and another one by now
};

} // namespace deltascope

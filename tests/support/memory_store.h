#pragma once

#include "deltascope/engine/object_store.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::test {

/// A whole ObjectStore in memory. Its clock starts at 2025-01-01 and goes on by one second with each change, so that
/// runs are repeatable.
class MemoryStore final : public ObjectStore {
public:
    MemoryStore();
    ~MemoryStore() override;

    std::string uri() const override;
    StoreTraits traits() const noexcept override;
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    Result<std::unique_ptr<StoreWatch>> watch() const override;
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;

    Result<void> remove(std::string_view key);
    /// What the interface does not offer. NotFound if there is no such object.
    Result<void> setUnwrittenPart(std::string_view key, bool unwritten);
    Result<void> setModified(std::string_view key, std::int64_t modifiedUs);

private:
    struct State;
    std::shared_ptr<State> m_state; ///< shared with the watches
};

/// Puts a small object into any store.
Result<ObjectInfo> putText(ObjectStore& store, std::string_view key, std::string_view text,
                           PutMode mode = PutMode::Replace);

} // namespace deltascope::test

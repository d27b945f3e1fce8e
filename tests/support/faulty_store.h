#pragma once

#include "support/fault_plan.h"
#include "support/forwarding_store.h"

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::test {

enum class StoreOperation : std::uint8_t { List, Stat, Read, Put, Watch, Remove, Any };

/// A store in front of another one that fails on demand. A failing call does not reach the inner store. Any thread.
class FaultyStore final : public ForwardingStore {
public:
    explicit FaultyStore(std::shared_ptr<ObjectStore> inner);
    /// `inner` outlives this.
    explicit FaultyStore(ObjectStore& inner);

    /// The `nth` call from now on (1 = the next) fails; Forever: all later ones too.
    void failNth(StoreOperation operation, std::uint64_t nth, Error error, Repeat repeat = Repeat::Once);
    /// Reads of `key` that cover byte `offset` see one bit (0…7) of it turned.
    void flipBit(std::string_view key, std::uint64_t offset, unsigned bit = 0);
    /// A listing ends after the first `keys` of a page and says that this was all.
    void dropTailAfter(std::size_t keys);
    /// All of the above; the counters go on.
    void clearFaults();

    std::uint64_t calls(StoreOperation operation) const { return m_plan.calls(operation); }
    std::uint64_t faults() const { return m_plan.faults(); }
    std::uint64_t bytesRead() const;

    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    Result<std::unique_ptr<StoreWatch>> watch() const override;
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;

private:
    struct Flip {
        std::string key;
        std::uint64_t offset;
        unsigned bit;
    };

    mutable FaultPlan<StoreOperation> m_plan;
    mutable std::mutex m_mutex; ///< guards what follows
    std::vector<Flip> m_flips;
    std::optional<std::size_t> m_keptKeys;
    mutable std::uint64_t m_bytesRead = 0;
};

} // namespace deltascope::test

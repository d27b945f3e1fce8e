#pragma once

#include "deltascope/engine/forwarding_store.h"

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope {

/// A source and other stores that hold the same objects. Keys of the source are what they are; "ADDRESS/KEY" is the
/// object KEY of the mirror at ADDRESS (ObjectStore::uri()). No source has such a key, for it holds "//". What is said
/// of the store as a whole (address, listing, traits, watch), and everything that is written, is the source's.
/// Identities of a mirror's objects begin with its address, so that those of different stores never equal.
class MirroredStore final : public ForwardingStore {
public:
    MirroredStore(std::shared_ptr<ObjectStore> source, std::vector<std::shared_ptr<const ObjectStore>> mirrors);

    /// A prefix of the form "ADDRESS/…" lists a mirror.
    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;
    Result<ObjectInfo> stat(std::string_view key, TaskContext& task) const override;
    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                      TaskContext& task) const override;
    std::vector<Result<void>> readMany(const std::vector<RangeRead>& reads, TaskContext& task) const override;
    ReadsAhead readAhead(ComingReads reads, TaskContext& task) const override;
    ReadProof proofOf(const ObjectRef& object) const override;
    void forget(const ObjectRef& object) const override;
    Result<bool> hasEmptyFolder(std::string_view key, TaskContext& task) const override;
    Result<bool> leadsOutside(std::string_view key, TaskContext& task) const override;
    /// Errors: also Internal (into a mirror).
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override;
    /// Errors: also Internal (of a mirror).
    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override;
    /// An object of a mirror is read and put. Errors: also Internal (into a mirror).
    Result<ObjectInfo> copy(const ObjectRef& from, std::string_view to, PutMode mode, TaskContext& task) override;

private:
    struct Mirror {
        std::string prefix; ///< "ADDRESS/"
        std::shared_ptr<const ObjectStore> store;
    };
    const Mirror* mirrorOf(std::string_view key) const noexcept; ///< null: a key of the source
    /// An object of MirroredStore as the mirror itself knows it.
    static ObjectRef inside(const Mirror& mirror, const ObjectRef& object);

    std::vector<Mirror> m_mirrors;
};

/// An object of a mirror as MirroredStore shows it.
ObjectInfo inMirror(const std::string& address, ObjectInfo object);

} // namespace deltascope

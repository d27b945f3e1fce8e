#pragma once

#include "base/scratch.h"
#include "deltascope/engine/object_store.h"
#include "format/common/byte_range.h"

#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope {

/// An object that is one zstd frame around something that is read from anywhere. Its front is decompressed on demand;
/// for the rest it is unpacked once into a nameless file. Any thread. The store must outlive this.
class UnpackedObject final : public ByteRange {
public:
    /// Reads the frame's header. Errors: Hostile (no zstd frame), Unsupported (one that does not say its size), those
    /// of the store.
    static Result<std::shared_ptr<UnpackedObject>> open(const ObjectStore& store, const ObjectInfo& object,
                                                        TaskContext& task);
    /// Whether the object begins like a zstd frame.
    static Result<bool> isFrame(const ObjectStore& store, const ObjectInfo& object, TaskContext& task);

    const std::string& key() const noexcept override { return m_key; }
    /// Of the content, as the frame says; unpacking checks it.
    std::uint64_t sizeBytes() const noexcept { return m_contentBytes; }
    /// Decompresses the first `bytes`, at most sizeBytes(). Errors: Hostile, those of the store.
    Result<std::vector<std::byte>> front(std::uint64_t bytes, TaskContext& task) const;
    /// Makes read() possible. `scratchFolder` as in Scratch::create. Errors: Hostile, NoSpace, those of the store.
    Result<void> unpack(const std::string& scratchFolder, TaskContext& task);
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const override;

private:
    UnpackedObject(const ObjectStore& store, const ObjectInfo& object, std::uint64_t contentBytes)
        : m_store(&store)
        , m_key(object.key)
        , m_packedBytes(object.sizeBytes)
        , m_contentBytes(contentBytes)
    {
    }

    const ObjectStore* m_store;
    std::string m_key;
    std::uint64_t m_packedBytes;
    std::uint64_t m_contentBytes;
    std::mutex m_mutex; ///< one thread unpacks
    std::shared_ptr<Scratch> m_content; ///< null until then
};

} // namespace deltascope

#pragma once

#include "deltascope/engine/version_writer.h"
#include "format/common/spool_file.h"
#include "format/common/writer_rules.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

struct ZSTD_CCtx_s;

namespace deltascope {

/// Compresses one zstd frame of known size at a time, as slime's one-shot compressor makes them: content size in the
/// header, no checksum. Reusable.
class ZstdFrameWriter {
public:
    explicit ZstdFrameWriter(int level);
    ~ZstdFrameWriter();
    ZstdFrameWriter(const ZstdFrameWriter&) = delete;
    ZstdFrameWriter& operator=(const ZstdFrameWriter&) = delete;

    /// `contentBytes`: what add() will get until end(). `out` takes the frame.
    Result<void> begin(std::uint64_t contentBytes, SpooledBytes& out);
    Result<void> add(ByteSpan bytes) { return compress(bytes, false); }
    Result<void> addZeros(std::uint64_t bytes);
    Result<void> end() { return compress({}, true); }

private:
    Result<void> compress(ByteSpan bytes, bool last);

    struct Destroy {
        void operator()(ZSTD_CCtx_s* context) const noexcept;
    };
    int m_level;
    std::unique_ptr<ZSTD_CCtx_s, Destroy> m_context;
    std::vector<std::byte> m_buffer;
    SpooledBytes* m_out = nullptr;
};

/// Errors: Unsupported (a delta with this encoding carries no changes of such a tensor).
Result<void> expectSlimeV2Carries(const TensorInfo& tensor, SlimeV2Encoding encoding);

/// A delta folder: one file of zstd frames, then the index. The mirror of ZstdMaskStream and SlimeOverwriteStream.
class SlimeV2DeltaWriter final : public VersionWriter {
public:
    SlimeV2DeltaWriter(SlimeV2WriterOptions options, std::unique_ptr<SpoolFile> spool);

    Result<std::unique_ptr<TensorWriter>> begin(const TensorInfo& tensor) override;
    Result<void> addFact(std::string_view key, std::string_view value) override;
    Result<std::vector<ObjectInfo>> finish(ObjectStore& store, TaskContext& task) override;

    /// One changed tensor, encoded.
    struct Stored {
        std::uint64_t frameBytes = 0;
        std::vector<SpoolRange> frame;
        std::string digest;
    };
    const SlimeV2WriterOptions& options() const noexcept { return m_options; }
    SpoolFile& spool() noexcept { return *m_spool; }
    /// Errors: Usage (a change of this tensor is kept already).
    Result<void> keep(const std::string& name, Stored stored);
    /// Compressors are expensive to make, so tensors pass them on.
    std::unique_ptr<ZstdFrameWriter> lendCompressor();
    void giveBack(std::unique_ptr<ZstdFrameWriter> compressor);

private:
    static Result<void> expectNoData(const ObjectStore& store, const std::string& folder, TaskContext& task);
    // All of them with the mutex held.
    Result<ObjectInfo> putData(ObjectStore& store, const std::string& folder, TaskContext& task) const;
    Result<std::vector<ObjectInfo>> putVersion(ObjectStore& store, TaskContext& task) const;
    std::string indexText() const;

    SlimeV2WriterOptions m_options;
    std::unique_ptr<SpoolFile> m_spool;
    std::mutex m_mutex; ///< for what follows and the facts
    std::map<std::string, Stored, std::less<>> m_stored; ///< by name
    std::vector<std::unique_ptr<ZstdFrameWriter>> m_compressors; ///< not lent
};

} // namespace deltascope

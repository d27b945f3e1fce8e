#pragma once

#include "deltascope/engine/version_writer.h"
#include "format/common/spool_file.h"
#include "format/common/streamed_put.h"
#include "format/common/writer_rules.h"

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace deltascope {

/// What the metadata of a file say of all its tensors.
struct PatchTotals {
    bool sparse = false;
    std::uint64_t params = 0;
    std::uint64_t changed = 0;
    std::uint64_t elements = 0; ///< of the tensors in the file
};

/// Errors: Unsupported (a delta carries no changes of such a tensor).
Result<void> expectTrlV2Carries(const TensorInfo& tensor);

/// A sparse step: pairs X.idx and X.val. The mirror of PairStream.
class TrlV2DeltaWriter final : public VersionWriter {
public:
    TrlV2DeltaWriter(TrlV2WriterOptions options, std::unique_ptr<SpoolFile> spool);

    Result<std::unique_ptr<TensorWriter>> begin(const TensorInfo& tensor) override;
    Result<void> addFact(std::string_view key, std::string_view value) override;
    Result<std::vector<ObjectInfo>> finish(ObjectStore& store, TaskContext& task) override;

    /// One changed tensor, encoded. Gaps are spooled as u16 until one does not fit, then as u32; only the file has one
    /// type.
    struct Stored {
        std::uint64_t elements = 0; ///< of the tensor
        std::uint64_t count = 0; ///< of them, changed
        std::vector<SpoolRange> narrow; ///< u16 gaps in front
        std::vector<SpoolRange> wide; ///< u32 gaps behind them, or all positions
        std::vector<SpoolRange> values;
    };
    TrlV2Encoding encoding() const noexcept { return m_options.encoding; }
    SpoolFile& spool() noexcept { return *m_spool; }
    /// Errors: Usage (a change of this tensor is kept already).
    Result<void> keep(const std::string& name, Stored stored);

private:
    /// The file. Call with the mutex held.
    Result<SpoolPayload> source() const;

    TrlV2WriterOptions m_options;
    std::unique_ptr<SpoolFile> m_spool;
    std::mutex m_mutex; ///< for what follows and the facts
    std::map<std::string, Stored, std::less<>> m_stored; ///< by name
};

/// A full step. The place of every tensor is known before its bytes come.
class TrlV2AnchorWriter final : public VersionWriter {
public:
    /// `tensors`: in canonical order.
    TrlV2AnchorWriter(TrlV2WriterOptions options, std::vector<TensorInfo> tensors, std::unique_ptr<SpoolFile> spool);

    Result<std::unique_ptr<TensorWriter>> begin(const TensorInfo& tensor) override;
    bool putWhileAdding(ObjectStore& store, const VersionFactMap& late) override;
    Result<void> addFact(std::string_view key, std::string_view value) override;
    Result<std::vector<ObjectInfo>> finish(ObjectStore& store, TaskContext& task) override;

    /// Bytes of a tensor, at their place in the spool file.
    Result<void> write(std::uint64_t offset, ByteSpan bytes);
    void keep(std::size_t place);

private:
    PatchTotals totals() const;

    enum class Progress : std::uint8_t { Waits, Begun, Ended };
    struct Place {
        std::uint64_t offset = 0; ///< in the spool file
        Progress progress = Progress::Waits;
    };

    TrlV2WriterOptions m_options;
    std::vector<TensorInfo> m_tensors; ///< in canonical order
    std::vector<Place> m_places; ///< by index in m_tensors
    std::unique_ptr<SpoolFile> m_spool;
    SpoolRange m_data;
    std::mutex m_mutex; ///< for progress and facts
    std::unique_ptr<StreamedPut> m_streamed; ///< last: reads the spool file
};

} // namespace deltascope

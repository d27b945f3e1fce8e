#pragma once

#include "deltascope/engine/layout.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/buffered_extent.h"

#include <memory>

namespace deltascope {

/// A tensor that lies complete in one extent: FullBlock pieces.
class FullTensorStream final : public PatchStream {
public:
    explicit FullTensorStream(BufferedExtent data);

    Result<PatchPiece> next(std::uint64_t begin, std::uint64_t end) override;
    Result<void> finish() override;
    bool seekable() const noexcept override { return true; }

private:
    BufferedExtent m_data;
    std::uint64_t m_at = 0;
};

/// Whether a stream of the entry's tensor gives the bytes that `target` asks for. Errors: BaseMismatch (another dtype
/// or shape), with `key` as where.
Result<void> checkTarget(const TensorEntry& entry, const TensorInfo& target, const std::string& key);

/// Opens the only extent of a full tensor. Errors: BaseMismatch (dtype or shape of `target` differ from the entry's).
Result<std::unique_ptr<PatchStream>> openFullTensor(const ObjectStore& store, const VersionObjects& version,
                                                    const TensorEntry& entry, const TensorInfo& target,
                                                    const StreamOptions& options);

/// The entry of a complete tensor that lies in `version.objects[object]`.
TensorEntry fullTensorEntry(StoredTensor stored, std::uint32_t object);

/// Adds those of a whole file, `version.objects[object]`.
void addFullTensors(std::vector<StoredTensor> tensors, std::uint32_t object, std::vector<TensorEntry>& entries);

/// The index of a full version that is one file, `version.objects[object]`.
VersionIndex fullIndexOf(SafetensorsHeader header, std::uint32_t object);

/// "BF16 [2, 4]"
std::string describe(const TensorInfo& tensor);

} // namespace deltascope

#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/layout.h"
#include "deltascope/engine/object_store.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// The other direction of layout.h: states become versions in the layouts of the trainers. A publisher walks the tensors
// of a state block by block, finds what changed (backend.h) and hands it over. Encoded bytes wait in a nameless
// spool file until the version is whole. Memory: below 3 MiB for each open tensor (at zstd level 1), whatever its size,
// and the names and places of the tensors.

/// The elements of one block whose bits changed. For element types below a byte (F4, F6) the elements are the bytes.
struct ElementChanges {
    std::uint64_t firstElement = 0; ///< of the block, in the tensor
    std::span<const std::uint32_t> positions; ///< relative to firstElement, strictly ascending
    ByteSpan values; ///< their new bits, one after another
};

/// One block of a tensor before and after. Only used during the call.
struct TensorBlock {
    ByteSpan before; ///< as long as `after`; anchor writers and TRL's never look at it
    ByteSpan after; ///< whole elements; TRL's delta writer looks at its length only
    ElementChanges changes; ///< exactly the elements that differ; anchor writers never look at it
};

/// Takes one tensor from front to back. One thread at a time. What was taken from a tensor that was not ended (an
/// error, a cancellation) is no part of the version.
class TensorWriter {
public:
    virtual ~TensorWriter() = default;
    /// The next block: adjacent to the one before, the first at 0. Blocks without changes are not left out.
    /// Errors: Unsupported (the layout cannot carry the change; the text says why), NoSpace, Io, Internal (blocks out
    /// of order, positions that do not ascend).
    virtual Result<void> add(const TensorBlock& block) = 0;
    /// Behind the last block. A tensor without changes leaves nothing behind. Errors: as add, Canceled, Usage (another
    /// writer has added a change of a tensor of this name meanwhile).
    virtual Result<void> end(TaskContext& task) = 0;
};

/// Encodes one version and puts it. begin() and addFact() may be called from any thread and several tensors may be open
/// at once: the result depends on the tensors alone, not on their order.
class VersionWriter {
public:
    virtual ~VersionWriter() = default;

    /// The writer must outlive what it returns. Tensors known to be unchanged may be left out of a delta; an anchor
    /// needs all of its list. Errors: Usage (a tensor that is ended already, an unchanged one of a delta aside; a name
    /// that must not be written).
    virtual Result<std::unique_ptr<TensorWriter>> begin(const TensorInfo& tensor) = 0;

    /// Before the first tensor: begins to put what will be added while it is added, where layout and store can do that
    /// (StoreTraits::putsWhatComes); returns whether. Nothing can be seen of it before finish(), and without finish()
    /// it is given up. `late`: the facts that will be added, each with a value as long as its own. `store` must
    /// outlive the writer.
    virtual bool putWhileAdding(ObjectStore&, const VersionFactMap& /*late*/) { return false; }

    /// For facts that are known only after the last tensor. Errors: Usage (no "ds." key, not text).
    virtual Result<void> addFact(std::string_view key, std::string_view value) = 0;

    /// Puts the version, the object that commits it last, each with PutMode::IfAbsent; returns the objects in the order
    /// of their puts. Empty: nothing changed and the layout has no form for an empty version (TRL). No tensor may be
    /// open. May be called again after an error. An object below the commit that is there already with the very same
    /// bytes, left by an interrupted run, counts as put; the commit itself never does. Errors: Exists (somebody else
    /// published this version, or began to), Unsupported, those of the store; with the step.
    virtual Result<std::vector<ObjectInfo>> finish(ObjectStore& store, TaskContext& task) = 0;
};

/// What every writer needs to know.
struct VersionWriterOptions {
    std::string root; ///< folder of the run in the store; empty: the store is the run
    VersionFactMap facts;
    std::string spoolFolder; ///< for encoded bytes; empty: the system's folder for temporary files
};

enum class TrlV2Encoding : std::uint8_t { Raw, GapDelta };

struct TrlV2WriterOptions : VersionWriterOptions {
    std::int64_t step = 0;
    TrlV2Encoding encoding = TrlV2Encoding::GapDelta; ///< in an anchor it is only a word in the metadata
};

/// deltas/step_N.safetensors of docs/formats/trl-v2.md. Values are BF16 and positions below 2^31: changes elsewhere are
/// Unsupported. A delta without any change puts nothing. Errors: Usage, those of the spool folder.
Result<std::unique_ptr<VersionWriter>> makeTrlV2DeltaWriter(TrlV2WriterOptions options);

/// anchors/step_N.safetensors with exactly these tensors, of any element type. Errors: as above; Hostile (checkedSize).
Result<std::unique_ptr<VersionWriter>> makeTrlV2AnchorWriter(TrlV2WriterOptions options,
                                                             std::vector<TensorInfo> tensors);

enum class SlimeV2Encoding : std::uint8_t { Xor, Overwrite };
/// In the folder of a version, beside its index.
inline constexpr std::string_view SlimeV2DataFileName = "model-00000-of-00001.safetensors";

struct SlimeV2WriterOptions : VersionWriterOptions {
    std::int64_t version = 0; ///< 1 or more
    std::int64_t baseVersion = 0; ///< receivers want version - 1
    SlimeV2Encoding encoding = SlimeV2Encoding::Xor;
    DigestAlgorithm checksum = DigestAlgorithm::Xxh3_128;
    std::shared_ptr<const Backend> backend = Backends::builtin().all().front(); ///< makes masks; never null
    int zstdLevel = 1; ///< slime's own; up to 19, the windows of higher levels are more than readers take
    /// A data file of this version that an interrupted run left behind without index may be replaced. Only for the one
    /// who knows that nobody else publishes here.
    bool replaceUnfinished = false;
};

/// weight_vN/ of docs/formats/slime-v2.md: one data file, then the index, which commits it; without a change the index
/// alone. Scalars, and with `overwrite` tensors above 4 GiB, are Unsupported if they changed. Errors: Usage, those of
/// the spool folder.
Result<std::unique_ptr<VersionWriter>> makeSlimeV2DeltaWriter(SlimeV2WriterOptions options);

} // namespace deltascope

#pragma once

#include "deltascope/base/rare_text.h"
#include "deltascope/base/search_depth.h"
#include "deltascope/base/short_list.h"
#include "deltascope/engine/object_store.h"
#include "deltascope/engine/patch.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The objects of one version, grouped by their names alone.
struct VersionObjects {
    std::int64_t step = 0;
    std::string name; ///< the file or folder that stands for the version, relative to the source:
                      ///< "deltas/step_000007.safetensors"
    std::vector<ObjectInfo> objects; ///< in byte order of keys
    /// Objects of the same step that a newer one replaces, and the like; empty if there is nothing to say.
    std::vector<Error> notes;
    /// Other forms of the same state: complete tensors beside a delta, a second copy, a delta over several steps.
    /// Usually empty; they have none themselves.
    std::vector<VersionObjects> otherForms;
    /// Of a version without objects: the time by which it was published, that of the next one. 0: it has objects.
    std::int64_t publishedByUs = 0;
    /// Address of the mirror that holds the objects; empty: the source does. Name and keys begin with it, and a '/'.
    std::string mirror;
    /// Key of an object that a mirror holds of this form and its own store does not. Empty: nothing speaks of one.
    std::string lacks;
    /// Versions since the one before it of which nothing but an empty folder is there (Layout::emptyFolderOf),
    /// ascending; they change nothing. buildLineage gives them places of their own.
    std::vector<VersionObjects> emptyBefore {};

    /// What a name or key of a mirror is called in the source; others as they are.
    std::string_view inSource(std::string_view nameOrKey) const noexcept;
    std::uint64_t wireBytes() const noexcept; ///< without the other forms
    /// The newest of the objects, without the other forms; publishedByUs where there is none.
    std::int64_t publishedUs() const noexcept;
    std::string identity() const; ///< joins keys and identities, other forms included: equal text, equal version
};

enum class DigestAlgorithm : std::uint8_t { None, Xxh3_128, Blake3, Adler32, Sha256 };
std::string_view word(DigestAlgorithm algorithm) noexcept;
/// Lower-case hex digits of a digest; 0 for None.
std::size_t hexDigits(DigestAlgorithm algorithm) noexcept;

/// What a digest of a whole state runs over, tensor by tensor in byte order of names.
enum class StateDigestForm : std::uint8_t {
    Xxh3OfData, ///< the data bytes
    Sha256OfData,
    Sha256OfNameAndData, ///< the name in UTF-8, the data bytes
    Sha256OfNameTypeShapeAndData, ///< also "torch.bfloat16" and "(2, 4)" between them
};

/// A publisher's digest of all tensors of the state behind a version.
struct StateDigest {
    std::string hex; ///< lower-case; empty: none is recorded
    std::vector<StateDigestForm> forms; ///< those that it may have; one of them has to fit
};

/// A stretch of one object.
struct Extent {
    std::uint32_t object = 0; ///< index into VersionObjects::objects
    std::uint64_t begin = 0;
    std::uint64_t bytes = 0;
};

/// One tensor that a version holds or changes. A version can have a million of them: keep it small.
class TensorEntry {
public:
    TensorEntry() = default;
    explicit TensorEntry(TensorInfo info)
        : m_tensor(std::move(info))
        , m_isTyped(true)
    {
    }

    const std::string& name() const noexcept { return m_tensor.name; }
    /// Known in full versions; in a delta only where the layout says it. Null where it is not.
    const TensorInfo* info() const noexcept { return m_isTyped ? &m_tensor : nullptr; }
    void setName(std::string name) { m_tensor.name = std::move(name); }
    void setType(Dtype dtype, TensorShape shape)
    {
        m_tensor.dtype = dtype;
        m_tensor.shape = std::move(shape);
        m_isTyped = true;
    }
    /// Elements that the header says are stored (a full tensor: all). Nothing where the header does not carry it.
    std::optional<std::uint64_t> storedElements() const noexcept
    {
        return m_storedElements == Unknown ? std::nullopt : std::optional(m_storedElements);
    }
    void setStoredElements(std::uint64_t elements) { m_storedElements = elements; }

private:
    static constexpr std::uint64_t Unknown = UINT64_MAX;

    TensorInfo m_tensor; ///< of an entry without a type the name alone counts
    std::uint64_t m_storedElements = Unknown;

public:
    /// The publisher's digest of the tensor's complete new bytes; lower-case hex, empty if none.
    RareText digest;
    /// What a stream is made from; the meaning belongs to the layout (TRL: indices, values).
    ShortList<Extent, 1> extents;
    std::uint8_t encoding = 0; ///< the layout's own

private:
    bool m_isTyped = false;
};

/// Facts of ours that stand where foreign readers ignore them; keys start with "ds." (docs/formats/ds-facts.md).
using VersionFactMap = std::map<std::string, std::string, std::less<>>;

namespace fact {
inline constexpr std::string_view Form = "ds.v"; ///< "1"
inline constexpr std::string_view Run = "ds.run"; ///< incarnation of the publisher; another one starts another epoch
inline constexpr std::string_view Base = "ds.base"; ///< fast DSM1 root of the state that a delta was written against
inline constexpr std::string_view Root = "ds.root"; ///< fast DSM1 root of the state behind the version
inline constexpr std::string_view Origin = "ds.origin"; ///< checkpoint that the version was made from: "checkpoint-120"
/// "org/model@commit": the model of the Hugging Face Hub that a delta without a version below it builds on.
inline constexpr std::string_view BaseModel = "ds.base-model";
/// Step whose state a roll back published again, behind the head of that time: "12".
inline constexpr std::string_view Restores = "ds.restores";
/// "s3://bucket/run@12": the run and the step whose state the first version of another run begins with.
inline constexpr std::string_view Branch = "ds.branch";
/// "1": the store cannot put under a condition, and a user's word stood for there being no other publisher.
inline constexpr std::string_view SoleWriter = "ds.sole-writer";
}

/// What a layout found in the headers and needs again in open(). Only the layout that made it looks inside.
struct LayoutDetail {
    virtual ~LayoutDetail() = default;
};

/// What the headers of one version say. Entries are sorted by name, names unique.
struct VersionIndex {
    bool full = false; ///< holds complete tensors (perhaps not all of the model)
    std::optional<std::int64_t> declaredBase; ///< the version it was written against, where the layout says so
    /// What the publisher calls the version, and the one that it was written against, where links are ids
    /// (Layout::linksByIds). Empty: the version does not say it.
    std::string id;
    std::string baseId;
    std::string encoding; ///< "raw", "xor", …; empty for full versions
    /// Adds rounded differences: what it leads to is no proof of anything (AddElements).
    bool lossy = false;
    DigestAlgorithm digests = DigestAlgorithm::None; ///< of TensorEntry::digest
    StateDigest stateDigest;
    bool hasChecksums = false; ///< records others, of its files or payload (checkPayload)
    std::vector<TensorEntry> tensors;
    std::vector<Error> notes; ///< contradictions that do not make the version unusable
    VersionFactMap facts;
    bool packed = false; ///< extents lie in what an object unpacks to, not in the object
    std::shared_ptr<const LayoutDetail> detail; ///< null for layouts whose entries say all

    /// Empty if the version does not carry it.
    std::string_view fact(std::string_view key) const noexcept;
    const TensorEntry* find(std::string_view name) const noexcept;
    std::uint64_t storedElements() const noexcept; ///< sum over entries; 0 for unknown ones
    bool countsKnown() const noexcept;
};

struct StreamOptions {
    TaskContext* task = nullptr; ///< what the reads belong to; not null, and outlives the stream
    std::uint64_t bufferBytes = 64 * 1024; ///< for each input of the stream
    std::string scratchFolder; ///< for objects that have to be unpacked whole; empty: the system's own
};

/// A byte layout that some trainer writes: finds versions by name, reads their headers, turns payload into patches.
/// Foreign bytes end here. Immutable; all methods from any thread. Adding one: docs/architecture.md, "A new layout".
class Layout {
public:
    virtual ~Layout() = default;
    /// The stable word: "trl-v2".
    virtual std::string_view word() const noexcept = 0;

    /// Whether the source has this layout. Looks at names first and reads at most a few headers.
    /// Errors are those of the store; a broken object is no error here.
    virtual Result<bool> recognizes(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                    TaskContext& task) const = 0;

    /// Versions by name, ascending by step. Objects that belong to none are left out.
    virtual std::vector<VersionObjects> group(const std::vector<ObjectInfo>& listing) const = 0;

    /// Reads headers and small manifests, never payload.
    /// Errors: Truncated, Hostile, Digest, Unfinished (marker missing), DuplicateName, Unsupported, those of the store.
    virtual Result<VersionIndex> index(const ObjectStore& store, const VersionObjects& version,
                                       TaskContext& task) const = 0;

    /// Whether index() reads the begin of an object of a version, so that it is worth asking for beforehand.
    virtual bool indexReads(std::string_view key) const noexcept;

    /// Opens the patch of one entry. `target`: dtype and shape of the tensor in the state before (or in the entry
    /// itself for full tensors). Errors: BaseMismatch (entry does not fit the target), Unsupported, Hostile.
    virtual Result<std::unique_ptr<PatchStream>> open(const ObjectStore& store, const VersionObjects& version,
                                                      const VersionIndex& index, const TensorEntry& entry,
                                                      const TensorInfo& target, const StreamOptions& options) const = 0;

    /// Compares what a version records about its own payload (file hashes, folds) with the bytes. Reads all of them
    /// where it records something, else nothing. Errors: Digest, those of the store.
    virtual Result<void> checkPayload(const ObjectStore& store, const VersionObjects& version,
                                      const VersionIndex& index, TaskContext& task) const;
    /// How much checkPayload() reads.
    virtual std::uint64_t checkedBytes(const VersionObjects& version, const VersionIndex& index) const;

    /// Whether each version stands alone (plain checkpoints), so that a missing number is no gap.
    virtual bool standAlone() const noexcept { return false; }
    /// Whether a run of complete versions alone is one of versions that stand alone, though others may build on them.
    virtual bool fullVersionsStandAlone() const noexcept { return standAlone(); }
    /// Whether its versions are adapters in PEFT's files: tensors that mean something with their config alone.
    virtual bool holdsAdapters() const noexcept { return false; }
    /// Whether the chain starts at a checkpoint outside of the source, which is then version 0.
    virtual bool needsExternalBase() const noexcept { return false; }
    /// Whether its writers are known to leave unchanged tensors out of full versions.
    virtual bool anchorsMayBePartial() const noexcept { return false; }
    /// Whether its writers never assign an element the bits that it has (NaN left out): then one such assignment proves
    /// a lost delta or a wrong base. Otherwise the run's own habit is the measure.
    virtual bool writersAreExact() const noexcept { return false; }
    /// Whether some of its writers compare the low bytes of 16-bit elements alone, and so miss changes that keep them.
    virtual bool mayCompareLowBytes() const noexcept { return false; }
    /// How many elements of a tensor the positions of its deltas can tell apart. Its writers do not look: in a larger
    /// tensor positions wrap and name other elements.
    virtual std::uint64_t countableElements() const noexcept { return UINT64_MAX; }
    /// Whether something ends the publication of a version; else a newest one may still be growing.
    virtual bool marksTheEnd() const noexcept { return true; }
    /// The folder that its writers leave for a version without a change, beside that of `neighbor`; empty if they leave
    /// none.
    virtual std::string emptyFolderOf(const VersionObjects& neighbor, std::int64_t step) const;
    /// Whether versions are linked by ids, which may say nothing of their order: VersionIndex::id and baseId. The steps
    /// of group() then hold until the links are known.
    virtual bool linksByIds() const noexcept { return false; }
    /// How many components below the folder of a step group() looks for weights. Layouts with names of their own do not
    /// search.
    virtual std::size_t searchDepth() const noexcept { return DefaultSearchDepth; }
    /// Whether its writers skip numbers by habit, so that a missing one says nothing.
    virtual bool numbersMaySkip() const noexcept { return false; }
};

/// The layouts that this build reads, in the order of detection. A value; copying is cheap.
class LayoutRegistry {
public:
    void add(std::shared_ptr<const Layout> layout) { m_layouts.push_back(std::move(layout)); }
    const std::vector<std::shared_ptr<const Layout>>& all() const noexcept { return m_layouts; }
    std::shared_ptr<const Layout> find(std::string_view word) const noexcept;
    /// The first layout that recognizes the source. Errors: Layout (with what was looked for, and the depth at which
    /// weights would be found), those of the store.
    Result<std::shared_ptr<const Layout>> detect(const ObjectStore& store, const std::vector<ObjectInfo>& listing,
                                                 TaskContext& task) const;

private:
    std::vector<std::shared_ptr<const Layout>> m_layouts;
};

/// Every layout of the engine. `searchDepth`: Layout::searchDepth of those that search.
LayoutRegistry builtinLayouts(std::size_t searchDepth = DefaultSearchDepth);

} // namespace deltascope

#include "format/prime_rl/sparse_step.h"

#include "base/torch_dtype.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/index_json.h"
#include "format/common/object_names.h"
#include "format/common/packed_header.h"
#include "format/common/pair_stream.h"
#include "format/common/quote_name.h"
#include "format/common/strict_json.h"
#include "format/hf/checkpoint_index.h"

#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

/// The words in which the two branches differ.
struct Keys {
    const char* indices;
    const char* values;
    const char* changed;
};

/// Collects the tensors of one patch file.
class PatchFileReader {
public:
    PatchFileReader(const Keys& keys, const VersionObjects& version, std::uint32_t object,
                    const SafetensorsHeader& header, VersionIndex& out, PrimeRlDetail& detail)
        : m_keys(keys)
        , m_key(version.objects[object].key)
        , m_object(object)
        , m_header(header)
        , m_out(out)
        , m_detail(detail)
    {
    }

    Result<void> add(const nlohmann::json& record)
    {
        TensorEntry entry;
        entry.setName(memberText(record, "name"));
        const std::string dtypeWord = memberText(record, "dtype");
        const std::optional<Dtype> dtype = parseTorchDtype(dtypeWord);
        const auto shape = memberShape(record, "shape");
        if (!member(record, "name").is_string() || !shape)
            return fail(Code::Malformed, "its manifest has a tensor without name or shape", m_key);
        if (!dtype)
            return fail(Code::Unsupported,
                        fmt::format("{} has element type {}, which is not known", quoteName(entry.name()),
                                    quoteName(dtypeWord)),
                        m_key);
        entry.setType(*dtype, *shape);
        DS_CHECK(checkedSize(*entry.info()));
        const StoredTensor* positions = m_header.find(memberText(record, m_keys.indices));
        const StoredTensor* values = m_header.find(memberText(record, m_keys.values));
        if (!positions || !values || positions->info.shape.size() != 1 || values->info.shape.size() != 1
            || positions->info.elements() != values->info.elements())
            return fail(Code::Malformed,
                        fmt::format("does not hold as many positions as values for {}", quoteName(entry.name())),
                        m_key);
        const Dtype stored = positions->info.dtype;
        if (stored != Dtype::I32 && stored != Dtype::I64)
            return fail(Code::Malformed,
                        fmt::format("has positions of {} for {}", word(stored), quoteName(entry.name())), m_key);
        m_named.insert(positions->info.name);
        m_named.insert(values->info.name);
        const std::uint64_t count = values->info.elements();
        if (const auto claim = memberNumber(record, m_keys.changed); claim && *claim != count)
            m_out.notes.push_back(Error { Code::Claim,
                                          fmt::format("{} says {} for {}, but the file holds {}", m_keys.changed,
                                                      *claim, quoteName(entry.name()), count),
                                          m_key,
                                          {},
                                          {} });
        entry.setStoredElements(count);
        const PositionForm form = stored == Dtype::I32 ? PositionForm::I32 : PositionForm::I64;
        entry.encoding = PairEncoding { form, values->info.dtype }.packed();
        entry.extents = { Extent { m_object, positions->begin, positions->bytes },
                          Extent { m_object, values->begin, values->bytes } };
        const auto checksum = memberNumber(record, "checksum");
        m_detail.checksums[entry.name()] = checksum;
        m_out.hasChecksums = m_out.hasChecksums || checksum;
        if (!record.contains("checksum"))
            m_withoutChecksum.push_back(entry.name());
        m_out.tensors.push_back(std::move(entry));
        return {};
    }

    /// A record without the checksum that others have. One that is null says nothing.
    void noteAbsentChecksums()
    {
        if (m_out.hasChecksums && !m_withoutChecksum.empty())
            m_out.notes.push_back(Error {
                Code::Claim,
                fmt::format("the manifest has no checksum for {}{}, as it has for others: nothing vouches for "
                            "their changes",
                            quoteName(m_withoutChecksum.front()),
                            m_withoutChecksum.size() == 1 ? std::string()
                                                          : fmt::format(" and {} more", m_withoutChecksum.size() - 1)),
                m_key,
                {},
                {} });
    }

    /// What the file holds beyond the records that were added.
    void noteUnnamed()
    {
        for (const StoredTensor& stored : m_header.tensors()) {
            if (m_named.contains(stored.info.name))
                continue;
            m_out.notes.push_back(unread(fmt::format("holds {}, which", quoteName(stored.info.name)), m_key));
            return;
        }
    }

    static Error unread(const std::string& what, const std::string& key)
    {
        return Error { Code::MissingTensor,
                       what + " the manifest does not name: it is not read, and what is rebuilt lacks its changes",
                       key,
                       {},
                       {} };
    }

private:
    const Keys& m_keys;
    const std::string& m_key;
    std::uint32_t m_object;
    const SafetensorsHeader& m_header;
    VersionIndex& m_out;
    PrimeRlDetail& m_detail;
    std::set<std::string, std::less<>> m_named; ///< of the file's tensors
    std::vector<std::string> m_withoutChecksum; ///< whose records do not have the key
};

Result<std::uint32_t> objectOf(const VersionObjects& version, const std::string& file)
{
    if (!isSafeFileName(file))
        return fail(
            Code::Hostile,
            fmt::format("the manifest names the file {}, which is not a plain name in its folder", quoteName(file)),
            version.name);
    const std::optional<std::uint32_t> object = objectIndex(version, joinKey(version.name, file));
    if (!object)
        return fail(missingFile(version.name, file));
    return *object;
}

Result<void> checkStep(const nlohmann::json& manifest, const VersionObjects& version)
{
    const auto step = memberNumber(manifest, "step");
    if (step && *step != static_cast<std::uint64_t>(version.step))
        return fail(misplaced(fmt::format("step {}", *step), version.step, version.name));
    return {};
}

/// A list that must be there: without it a damaged manifest would read as one that changes nothing.
Result<const nlohmann::json*> listOf(const nlohmann::json& json, const char* key, const VersionObjects& version)
{
    const nlohmann::json& list = member(json, key);
    if (!list.is_array())
        return fail(Code::Malformed, fmt::format("the manifest has no list of {}", key), version.name);
    return &list;
}

/// Format and base of a sparse step's manifest.
Result<void> readNumbers(const nlohmann::json& manifest, std::string_view format, const VersionObjects& version,
                         VersionIndex& out)
{
    if (memberText(manifest, "format") != format)
        return fail(Code::Unsupported, fmt::format("unsupported format {}", quoteName(memberText(manifest, "format"))),
                    version.name);
    const auto base = memberNumber(manifest, "base_step");
    if (!base || *base >= static_cast<std::uint64_t>(version.step))
        return fail(Code::Malformed, "the manifest does not name an older step that it builds on", version.name);
    out.declaredBase = static_cast<std::int64_t>(*base);
    return {};
}

Result<void> finish(VersionIndex& out, std::shared_ptr<PrimeRlDetail> detail, const VersionObjects& version)
{
    out.encoding = "sparse";
    out.detail = std::move(detail);
    sortByName(out.tensors);
    if (const TensorEntry* twice = firstDuplicate(out.tensors))
        return fail(Code::DuplicateName, fmt::format("the manifest has {} twice", quoteName(twice->name())),
                    version.name);
    return {};
}

Result<nlohmann::json> readManifest(const ObjectStore& store, const VersionObjects& version, std::string_view name,
                                    TaskContext& task)
{
    const std::optional<std::uint32_t> object = objectIndex(version, joinKey(version.name, name));
    return readStrictJson(store, version.objects.at(object.value()), "the manifest", task);
}

}

Result<std::optional<VersionIndex>> readSparseManifest(const ObjectStore& store, const VersionObjects& version,
                                                       TaskContext& task)
{
    constexpr Keys Names { "indices_key", "values_key", "num_changed" };
    DS_TRY(const nlohmann::json manifest, readManifest(store, version, SparseManifestName, task));
    DS_CHECK(checkStep(manifest, version));
    if (memberText(manifest, "type") == "full")
        return std::optional<VersionIndex>();
    DS_TRY(const nlohmann::json* files, listOf(manifest, "patch_files", version));
    VersionIndex out;
    auto detail = std::make_shared<PrimeRlDetail>();
    DS_CHECK(readNumbers(manifest, "prime_rl_sparse_filesystem_v1", version, out));
    std::set<std::uint32_t> named; ///< patch files
    for (const nlohmann::json& file : *files) {
        DS_CHECK(task.checkpoint());
        DS_TRY(const std::uint32_t object, objectOf(version, memberText(file, "file")));
        DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(store, version.objects[object], task));
        PatchFileReader reader(Names, version, object, header, out, *detail);
        DS_TRY(const nlohmann::json* tensors, listOf(file, "tensors", version));
        for (const nlohmann::json& record : *tensors)
            DS_CHECK(reader.add(record));
        reader.noteAbsentChecksums();
        reader.noteUnnamed();
        named.insert(object);
    }
    for (std::uint32_t i = 0; i < version.objects.size(); ++i) {
        const std::string_view file = splitKey(version.objects[i].key).file;
        if (file.starts_with("delta-") && file.ends_with(".safetensors") && !named.contains(i))
            out.notes.push_back(PatchFileReader::unread("is a patch file that", version.objects[i].key));
    }
    DS_CHECK(finish(out, std::move(detail), version));
    return std::optional(std::move(out));
}

Result<VersionIndex> readSparseUpdateManifest(const ObjectStore& store, const VersionObjects& version,
                                              TaskContext& task)
{
    constexpr Keys Names { "indices", "values", "changed_numel" };
    DS_TRY(const nlohmann::json manifest, readManifest(store, version, SparseUpdateManifestName, task));
    VersionIndex out;
    auto detail = std::make_shared<PrimeRlDetail>();
    DS_CHECK(checkStep(manifest, version));
    DS_CHECK(readNumbers(manifest, "prime-rl-sparse-update", version, out));
    DS_CHECK(task.checkpoint());
    DS_TRY(const nlohmann::json* tensors, listOf(manifest, "tensors", version));
    if (member(manifest, "patch_file").is_string()) {
        DS_TRY(const std::uint32_t object, objectOf(version, memberText(manifest, "patch_file")));
        DS_TRY(const bool packed, UnpackedObject::isFrame(store, version.objects[object], task));
        if (packed) {
            DS_TRY(detail->packed, UnpackedObject::open(store, version.objects[object], task));
            out.packed = true;
        }
        DS_TRY(const SafetensorsHeader header,
               packed ? readPackedHeader(*detail->packed, task)
                      : SafetensorsHeader::read(store, version.objects[object], task));
        PatchFileReader reader(Names, version, object, header, out, *detail);
        for (const nlohmann::json& record : *tensors)
            DS_CHECK(reader.add(record));
        reader.noteAbsentChecksums();
        reader.noteUnnamed();
    } else if (!tensors->empty()) {
        return fail(Code::Malformed, "the manifest has changed tensors but no patch file", version.name);
    }
    DS_CHECK(finish(out, std::move(detail), version));
    return out;
}

} // namespace deltascope

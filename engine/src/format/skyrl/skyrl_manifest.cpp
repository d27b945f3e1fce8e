#include "format/skyrl/skyrl_manifest.h"

#include "base/torch_dtype.h"
#include "deltascope/engine/safetensors.h"
#include "format/common/index_json.h"
#include "format/common/object_names.h"
#include "format/common/plain_kind.h"
#include "format/common/quote_name.h"
#include "format/common/strict_json.h"
#include "format/hf/checkpoint_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace deltascope {

namespace {

class ManifestReader {
public:
    ManifestReader(const ObjectStore& store, const VersionObjects& version, std::string key, TaskContext& task)
        : m_store(store)
        , m_task(task)
        , m_version(version)
        , m_key(std::move(key))
    {
    }

    Result<VersionIndex> read(ByteSpan text)
    {
        m_out.encoding = "xor";
        const auto record = [&](const nlohmann::json& json) -> Result<void> {
            DS_CHECK(m_task.checkpoint());
            return addTensor(json);
        };
        DS_TRY(const nlohmann::json manifest, parseRecords(text, "the manifest", m_key, "tensors", record));
        DS_CHECK(readNumbers(manifest));
        if (!member(manifest, "tensors").is_array())
            return fail(refusal("has no list of tensors"));
        for (const nlohmann::json& file : member(manifest, "payload_files")) {
            if (!file.is_string() || !isSafeFileName(file.get<std::string>()))
                return fail(refusal("names a payload file that is not a plain name in its folder", Code::Hostile));
            DS_CHECK(payload(file.get<std::string>()));
        }
        noteUnnamed();
        sortByName(m_out.tensors);
        if (const TensorEntry* twice = firstDuplicate(m_out.tensors))
            return fail(Code::DuplicateName, fmt::format("the manifest has {} twice", quoteName(twice->name())), m_key);
        return std::move(m_out);
    }

private:
    /// `code`: Malformed, or Hostile for names that lead elsewhere.
    Error refusal(const std::string& text, Code code = Code::Malformed) const
    {
        return Error { code, "the manifest " + text, m_key, m_version.step, {} };
    }

    Result<void> readNumbers(const nlohmann::json& manifest)
    {
        const auto version = memberNumber(manifest, "version");
        const auto base = memberNumber(manifest, "base_version");
        if (!version || !base)
            return fail(refusal("does not say which version it is and on which one it builds"));
        if (*version != static_cast<std::uint64_t>(m_version.step))
            return fail(misplaced(fmt::format("version {}", *version), m_version.step, m_key));
        if (*base >= static_cast<std::uint64_t>(m_version.step))
            return fail(refusal(fmt::format("builds on version {}, which is not older than itself", *base)));
        m_out.declaredBase = static_cast<std::int64_t>(*base);
        return {};
    }

    /// The header of a payload file, read once.
    Result<std::pair<std::uint32_t, const SafetensorsHeader*>> payload(const std::string& file)
    {
        const std::optional<std::uint32_t> object = objectIndex(m_version, joinKey(m_version.name, file));
        if (!object)
            return fail(missingFile(m_version.name, file));
        auto at = m_headers.find(file);
        if (at == m_headers.end()) {
            DS_TRY(SafetensorsHeader header, SafetensorsHeader::read(m_store, m_version.objects[*object], m_task));
            at = m_headers.emplace(file, std::move(header)).first;
        }
        return std::pair(*object, &at->second);
    }

    Result<void> addTensor(const nlohmann::json& record)
    {
        TensorEntry entry;
        entry.setName(memberText(record, "name"));
        const std::string file = memberText(record, "payload_file");
        const std::string payloadKey = memberText(record, "payload_key");
        const std::optional<Dtype> dtype = parseTorchDtype(memberText(record, "dtype"));
        const auto shape = memberShape(record, "shape");
        if (!member(record, "name").is_string() || !member(record, "payload_key").is_string() || !shape)
            return fail(refusal("has a tensor without name, shape or payload"));
        if (!isSafeFileName(file))
            return fail(
                refusal(fmt::format("names the file {}, which is not a plain name in its folder", quoteName(file)),
                        Code::Hostile));
        if (!dtype)
            return fail(Code::Unsupported,
                        fmt::format("{} has element type {}, which is not known", quoteName(entry.name()),
                                    quoteName(memberText(record, "dtype"))),
                        m_key);
        entry.setType(*dtype, *shape);
        DS_TRY(const std::uint64_t bytes, checkedSize(*entry.info()));
        if (const auto claim = memberNumber(record, "uncompressed_num_bytes"); claim && *claim != bytes)
            return fail(refusal(
                fmt::format("gives {} {} bytes, but its shape has {}", quoteName(entry.name()), *claim, bytes)));
        DS_TRY(const auto from, payload(file));
        const StoredTensor* stored = from.second->find(payloadKey);
        if (!stored || stored->info.dtype != Dtype::U8 || stored->info.shape.size() != 1)
            return fail(
                Code::Malformed,
                fmt::format("does not hold the bytes of {} that the manifest promises", quoteName(entry.name())),
                m_version.objects[from.first].key);
        m_named[file].insert(payloadKey);
        entry.extents = { Extent { from.first, stored->begin, stored->bytes } };
        DS_CHECK(readDigest(record, entry));
        m_out.tensors.push_back(std::move(entry));
        return {};
    }

    /// Payload that no tensor of the manifest uses, and files of the folder that the manifest does not list.
    void noteUnnamed()
    {
        for (const auto& [file, header] : m_headers) {
            for (const StoredTensor& stored : header.tensors()) {
                if (m_named[file].contains(stored.info.name))
                    continue;
                m_out.notes.push_back(
                    Error { Code::MissingTensor,
                            fmt::format("holds {}, which the manifest does not name: it is not read, and what is "
                                        "rebuilt lacks its changes",
                                        quoteName(stored.info.name)),
                            joinKey(m_version.name, file),
                            m_version.step,
                            {} });
                break;
            }
        }
        for (const ObjectInfo& object : m_version.objects) {
            const std::string file(splitKey(object.key).file);
            if (file.ends_with(".safetensors") && !m_headers.contains(file))
                m_out.notes.push_back(Error { Code::MissingTensor,
                                              "is a payload file that the manifest does not name: it is not read, and "
                                              "what is rebuilt lacks its changes",
                                              object.key,
                                              m_version.step,
                                              {} });
        }
    }

    /// Older records have the key "sha256" and no word for the algorithm.
    Result<void> readDigest(const nlohmann::json& record, TensorEntry& entry)
    {
        const std::string word = memberText(record, "checksum_algorithm");
        const bool old = !member(record, "checksum").is_string() && member(record, "sha256").is_string();
        const DigestAlgorithm algorithm = old || word == "sha256" ? DigestAlgorithm::Sha256
            : word == "xxh3-128"                                  ? DigestAlgorithm::Xxh3_128
                                                                  : DigestAlgorithm::None;
        std::string digest = memberText(record, old ? "sha256" : "checksum");
        if (algorithm == DigestAlgorithm::None)
            return fail(Code::Unsupported, fmt::format("unsupported checksum {}", quoteName(word)), m_key);
        if (digest.size() != hexDigits(algorithm) || !isLowerHex(digest))
            return fail(refusal(fmt::format("has no proper checksum for {}", quoteName(entry.name()))));
        if (m_out.digests != DigestAlgorithm::None && m_out.digests != algorithm)
            return fail(Code::Unsupported, "the manifest mixes checksum algorithms", m_key);
        m_out.digests = algorithm;
        entry.digest = std::move(digest);
        return {};
    }

    const ObjectStore& m_store;
    TaskContext& m_task;
    const VersionObjects& m_version;
    std::string m_key;
    VersionIndex m_out;
    std::map<std::string, SafetensorsHeader> m_headers;
    std::map<std::string, std::set<std::string>> m_named; ///< payload keys that tensors use, by file
};

}

Result<VersionIndex> readSkyrlManifest(const ObjectStore& store, const VersionObjects& version, TaskContext& task)
{
    const std::string key = joinKey(version.name, SkyrlManifestName);
    const std::optional<std::uint32_t> object = objectIndex(version, key);
    if (!object)
        return fail(Code::Unfinished, fmt::format("has no {}: publication not finished", SkyrlManifestName),
                    version.name);
    constexpr std::uint64_t MaxBytes = 256U << 20; // of 140,000 tensors about 60 MiB
    DS_TRY(const std::vector<std::byte> text, readWhole(store, key, MaxBytes, task));
    Result<VersionIndex> index = ManifestReader(store, version, key, task).read(text);
    if (!index && index.error().where == key)
        return fail(orPlainKind(std::move(index.error()), Wanted::Json, store, version.objects[*object], task));
    return index;
}

} // namespace deltascope

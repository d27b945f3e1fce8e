#include "format/slime_v2/slime_v2_index.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/in_order.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/common/zstd_mask_stream.h"
#include "format/hf/checkpoint_index.h"
#include "format/slime_v2/slime_v2_stream.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

namespace deltascope {

namespace {

std::optional<DigestAlgorithm> parseDigest(std::string_view word)
{
    for (const DigestAlgorithm algorithm :
         { DigestAlgorithm::Xxh3_128, DigestAlgorithm::Blake3, DigestAlgorithm::Adler32 }) {
        if (word == deltascope::word(algorithm))
            return algorithm;
    }
    return std::nullopt;
}

/// Collects what the data files of one delta hold.
class DeltaReader {
public:
    DeltaReader(const VersionObjects& version, const IndexJson& index, VersionNumber numberOf)
        : m_version(version)
        , m_index(index)
        , m_numberOf(numberOf)
    {
    }

    Result<VersionIndex> read(const ObjectStore& store, TaskContext& task)
    {
        DS_CHECK(readMetadata());
        const std::set<std::string_view> files(m_index.files.begin(), m_index.files.end());
        for (const std::string_view file : files) {
            DS_CHECK(task.checkpoint());
            DS_CHECK(readFile(store, file, task));
        }
        DS_CHECK(checkComplete());
        noteStrayFiles(store, files, task);
        return std::move(m_out);
    }

private:
    std::string indexKey() const { return joinKey(m_version.name, CheckpointIndexName); }

    void note(Code code, std::string text, std::string where)
    {
        m_out.notes.push_back(Error { code, std::move(text), std::move(where), m_version.step, {} });
    }

    Result<void> readMetadata()
    {
        m_out.encoding = std::string(m_index.meta("delta_encoding"));
        if (m_out.encoding == "xor")
            m_encoding = SlimeEncoding::Xor;
        else if (m_out.encoding == "overwrite")
            m_encoding = SlimeEncoding::Overwrite;
        else
            return fail(Code::Unsupported, fmt::format("unsupported delta encoding {}", quoteName(m_out.encoding)),
                        indexKey());
        const std::string_view compression = m_index.meta("compression_format");
        if (compression != "zstd")
            return fail(Code::Unsupported, fmt::format("unsupported compression {}", quoteName(compression)),
                        indexKey());

        const std::string_view checksum = m_index.meta("checksum_format");
        if (const auto algorithm = parseDigest(checksum))
            m_out.digests = *algorithm;
        else if (checksum.empty())
            note(Code::Claim, "names no checksum: its tensors cannot be verified", indexKey());
        else
            return fail(Code::Unsupported, fmt::format("unsupported checksum {}", quoteName(checksum)), indexKey());

        return m_numberOf ? readNumbers() : readIds();
    }

    Result<void> readIds()
    {
        m_out.id = std::string(m_index.meta("version"));
        m_out.baseId = std::string(m_index.meta("base_version"));
        if (m_out.id.empty() || m_out.baseId.empty())
            return fail(Code::Malformed, "a delta that does not say which version it is, and which one it builds on",
                        indexKey());
        return {};
    }

    Result<void> readNumbers()
    {
        if (m_numberOf(m_index.meta("version")) != m_version.step) {
            return fail(
                misplaced(fmt::format("version {}", quoteName(m_index.meta("version"))), m_version.step, indexKey()));
        }
        m_out.declaredBase = m_numberOf(m_index.meta("base_version"));
        if (!m_out.declaredBase)
            note(Code::Claim, "does not say which version it builds on", indexKey());
        else if (*m_out.declaredBase >= m_version.step)
            return fail(Code::Malformed,
                        fmt::format("builds on version {}, which is not older than itself", *m_out.declaredBase),
                        indexKey());
        return {};
    }

    Result<void> readFile(const ObjectStore& store, std::string_view file, TaskContext& task)
    {
        const std::string key = joinKey(m_version.name, file);
        const std::optional<std::uint32_t> object = objectIndex(m_version, key);
        if (!object)
            return fail(missingFile(m_version.name, file));
        DS_TRY(const SafetensorsHeader header, SafetensorsHeader::read(store, m_version.objects[*object], task));
        InOrder files(m_index.weightMap);
        InOrder digests(header.metadata());
        for (const StoredTensor& stored : header.tensors()) {
            const auto* const mapped = files.find(stored.info.name);
            if (!mapped)
                return fail(Code::Malformed,
                            fmt::format("holds {}, which the index does not name", quoteName(stored.info.name)), key);
            const std::string& mappedFile = m_index.files[mapped->second];
            if (mappedFile != file) {
                note(
                    Code::DuplicateName,
                    fmt::format("{} is in two data files; it is read once, from {}, as the index says; a receiver that "
                                "applies every file applies it twice",
                                quoteName(stored.info.name), mappedFile),
                    key);
                continue;
            }
            const auto* const digest = digests.find(stored.info.name);
            DS_CHECK(addEntry(stored, *object, digest ? &digest->second : nullptr));
        }
        return {};
    }

    Result<void> addEntry(const StoredTensor& stored, std::uint32_t object, const std::string* digest)
    {
        const std::string& name = stored.info.name;
        const std::string& key = m_version.objects[object].key;
        if (stored.info.dtype != Dtype::U8 || stored.info.shape.size() != 1)
            return fail(Code::Malformed, fmt::format("holds {}, which is no list of bytes", quoteName(name)), key);
        TensorEntry& entry = m_out.tensors.emplace_back();
        entry.setName(name);
        entry.extents = { Extent { object, stored.begin, stored.bytes } };
        entry.encoding = static_cast<std::uint8_t>(m_encoding);
        if (m_out.digests != DigestAlgorithm::None) {
            if (!digest)
                note(Code::Claim, fmt::format("has no checksum for {}: it cannot be verified", quoteName(name)), key);
            else if (digest->size() != hexDigits(m_out.digests) || !isLowerHex(*digest))
                return fail(Code::Malformed,
                            fmt::format("has no proper {} checksum for {}", word(m_out.digests), quoteName(name)), key);
            else
                entry.digest = std::string(*digest);
        }
        return {};
    }

    Result<void> checkComplete()
    {
        sortByName(m_out.tensors);
        auto held = m_out.tensors.begin();
        for (const auto& [name, file] : m_index.weightMap) { // names them all, in the same order
            if (held == m_out.tensors.end() || held->name() != name) {
                return fail(Code::Malformed,
                            fmt::format("the index says that it holds {}, but it does not", quoteName(name)),
                            joinKey(m_version.name, m_index.files[file]));
            }
            ++held;
        }
        return {};
    }

    void noteStrayFiles(const ObjectStore& store, const std::set<std::string_view>& named, TaskContext& task)
    {
        for (const ObjectInfo& object : m_version.objects) {
            const std::string_view file = splitKey(object.key).file;
            if (isDataFile(file) && named.find(file) == named.end())
                m_out.notes.push_back(atStep(unmappedFile(store, object, m_index, task), m_version.step));
        }
    }

    const VersionObjects& m_version;
    const IndexJson& m_index;
    VersionNumber m_numberOf;
    SlimeEncoding m_encoding = SlimeEncoding::None;
    VersionIndex m_out;
};

} // namespace

Result<VersionIndex> readSlimeDelta(const ObjectStore& store, const VersionObjects& version, const IndexJson& index,
                                    VersionNumber numberOf, TaskContext& task)
{
    return DeltaReader(version, index, numberOf).read(store, task);
}

Result<std::unique_ptr<PatchStream>> openSlimeEntry(const ObjectStore& store, const VersionObjects& version,
                                                    const TensorEntry& entry, const TensorInfo& target,
                                                    const StreamOptions& options)
{
    const auto payload = [&] {
        const Extent& extent = entry.extents.at(0);
        return BufferedExtent(store, version.objects.at(extent.object).key, extent.begin, extent.bytes,
                              options.bufferBytes, *options.task);
    };
    switch (static_cast<SlimeEncoding>(entry.encoding)) {
    case SlimeEncoding::None:
        return openFullTensor(store, version, entry, target, options);
    case SlimeEncoding::Xor:
        return std::unique_ptr<PatchStream>(std::make_unique<ZstdMaskStream>(payload(), target));
    case SlimeEncoding::Overwrite:
        return std::unique_ptr<PatchStream>(std::make_unique<SlimeOverwriteStream>(payload(), payload(), target));
    }
    return fail(Code::Internal, "an entry with an encoding that this layout does not have", entry.name());
}

} // namespace deltascope

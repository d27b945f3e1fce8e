#include "format/slime_v2/slime_v2_writer.h"

#include "deltascope/engine/hash_tree.h"
#include "format/common/full_tensor_stream.h"
#include "format/common/object_names.h"
#include "format/common/quote_name.h"
#include "format/hf/checkpoint_index.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <new>
#include <nlohmann/json.hpp>
#include <zstd.h>

namespace deltascope {

namespace {

/// The highest level whose window (8 MiB) readers take.
constexpr int MaxZstdLevel = 19;
constexpr std::uint64_t PositionLimit = std::uint64_t(1) << 32;
constexpr std::size_t MaskBytes = 64 * 1024;
/// Changed bytes of `overwrite` that are collected at a time.
constexpr std::size_t BatchItems = 16 * 1024;

/// As Python's json.dumps writes it: ASCII only. `text` is UTF-8, names and facts were checked.
std::string pythonJson(std::string_view text) { return nlohmann::json(text).dump(-1, ' ', true); }

std::string_view word(SlimeV2Encoding encoding) noexcept
{
    return encoding == SlimeV2Encoding::Xor ? "xor" : "overwrite";
}

Result<void> checkOptions(const SlimeV2WriterOptions& options)
{
    if (options.version < 1)
        return fail(Code::Usage, fmt::format("a slime-v2 version has a number from 1 on, not {}", options.version));
    if (options.baseVersion < 0 || options.baseVersion >= options.version)
        return fail(Code::Usage,
                    fmt::format("version {} cannot build on version {}", options.version, options.baseVersion));
    if (options.checksum == DigestAlgorithm::None)
        return fail(Code::Usage, "a slime-v2 version has a checksum: xxh3-128, blake3 or adler32");
    if (options.zstdLevel < 1 || options.zstdLevel > MaxZstdLevel)
        return fail(Code::Usage,
                    fmt::format("a zstd level from 1 to {} is needed, not {}", MaxZstdLevel, options.zstdLevel));
    return checkFacts(options.facts);
}

/// What both encodings share: the digest, and a compressor once the tensor has changed.
class SlimeTensor : public TensorWriter {
public:
    SlimeTensor(SlimeV2DeltaWriter& writer, const TensorInfo& tensor)
        : m_writer(writer)
        , m_tensor(tensor)
        , m_cursor(tensor)
        , m_digest(makeDigest(writer.options().checksum))
        , m_frame(writer.spool())
    {
    }
    ~SlimeTensor() override
    {
        if (m_compressor)
            m_writer.giveBack(std::move(m_compressor));
    }

    Result<void> add(const TensorBlock& block) final
    {
        if (block.before.size() != block.after.size())
            return fail(Code::Internal, "blocks before and after have different sizes", m_tensor.name);
        const std::uint64_t begin = m_cursor.at();
        DS_CHECK(m_cursor.take(block.after.size(), &block.changes));
        m_digest->update(block.after);
        if (block.changes.positions.empty())
            return {};
        DS_CHECK(expectSlimeV2Carries(m_tensor, m_writer.options().encoding));
        return addChanged(begin, block);
    }

    Result<void> end(TaskContext& task) final
    {
        DS_CHECK(task.checkpoint());
        DS_CHECK(m_cursor.expectEnd());
        DS_TRY(const bool changed, endFrame(task));
        if (!changed)
            return {};
        SlimeV2DeltaWriter::Stored stored;
        stored.frameBytes = m_frame.size();
        DS_TRY(stored.frame, m_frame.finish());
        stored.digest = m_digest->hex();
        return m_writer.keep(m_tensor.name, std::move(stored));
    }

protected:
    virtual Result<void> addChanged(std::uint64_t begin, const TensorBlock& block) = 0;
    /// False if nothing changed.
    virtual Result<bool> endFrame(TaskContext& task) = 0;

    Result<void> beginFrame(std::uint64_t contentBytes)
    {
        m_compressor = m_writer.lendCompressor();
        return m_compressor->begin(contentBytes, m_frame);
    }

    SlimeV2DeltaWriter& m_writer;
    TensorInfo m_tensor;
    BlockCursor m_cursor;
    std::unique_ptr<StreamingDigest> m_digest;
    SpooledBytes m_frame;
    std::unique_ptr<ZstdFrameWriter> m_compressor;
};

/// The mask is compressed as it comes. Zeros in front of the first change are only counted, so an unchanged tensor
/// costs its digest and nothing else.
class XorTensor final : public SlimeTensor {
public:
    using SlimeTensor::SlimeTensor;

private:
    Result<void> addChanged(std::uint64_t begin, const TensorBlock& block) override
    {
        if (!m_compressor)
            DS_CHECK(beginFrame(m_tensor.bytes()));
        DS_CHECK(m_compressor->addZeros(begin - m_masked));
        m_mask.resize(std::min(MaskBytes, block.after.size()));
        for (std::size_t at = 0; at < block.after.size(); at += m_mask.size()) {
            const std::size_t bytes = std::min(m_mask.size(), block.after.size() - at);
            const MutableByteSpan mask = MutableByteSpan(m_mask).first(bytes);
            m_writer.options().backend->xorInto(block.before.subspan(at, bytes), block.after.subspan(at, bytes), 1,
                                                mask);
            DS_CHECK(m_compressor->add(mask));
        }
        m_masked = begin + block.after.size();
        return {};
    }

    Result<bool> endFrame(TaskContext&) override
    {
        if (!m_compressor)
            return false;
        DS_CHECK(m_compressor->addZeros(m_tensor.bytes() - m_masked));
        DS_CHECK(m_compressor->end());
        return true;
    }

    std::vector<std::byte> m_mask;
    std::uint64_t m_masked = 0; ///< bytes of the tensor that were compressed
};

/// The number of changed bytes stands in front, so they are spooled first and compressed at the end.
class OverwriteTensor final : public SlimeTensor {
public:
    OverwriteTensor(SlimeV2DeltaWriter& writer, const TensorInfo& tensor)
        : SlimeTensor(writer, tensor)
        , m_unit(changeUnitBytes(tensor.dtype))
        , m_positions(writer.spool())
        , m_values(writer.spool())
    {
    }

private:
    Result<void> addChanged(std::uint64_t begin, const TensorBlock& block) override
    {
        m_batchPositions.resize(BatchItems);
        m_batchValues.resize(BatchItems);
        for (const std::uint32_t element : block.changes.positions) {
            if (m_batched + m_unit > BatchItems)
                DS_CHECK(flushBatch());
            for (std::uint64_t at = element * m_unit; at < (element + std::uint64_t(1)) * m_unit; ++at) {
                m_batchPositions[m_batched] = static_cast<std::uint32_t>(begin + at);
                m_batchValues[m_batched] = block.after[at];
                m_batched += block.before[at] != block.after[at] ? 1 : 0;
            }
        }
        return flushBatch();
    }

    Result<void> flushBatch()
    {
        DS_CHECK(m_positions.append(std::as_bytes(std::span(m_batchPositions.data(), m_batched))));
        DS_CHECK(m_values.append(ByteSpan(m_batchValues).first(m_batched)));
        m_batched = 0;
        return {};
    }

    Result<bool> endFrame(TaskContext& task) override
    {
        const std::uint64_t count = m_values.size();
        if (count == 0)
            return false;
        if (count >= PositionLimit) {
            return fail(Code::Unsupported,
                        fmt::format("{} changed in {} bytes, more than overwrite counts; xor has no limit",
                                    quoteName(m_tensor.name), count),
                        {}, "Publish with --encoding xor.");
        }
        DS_CHECK(beginFrame(sizeof(std::uint32_t) + count * (sizeof(std::uint32_t) + 1)));
        std::array<std::byte, sizeof(std::uint32_t)> stored {};
        storeLe(MutableByteSpan(stored), 0, static_cast<std::uint32_t>(count));
        DS_CHECK(m_compressor->add(stored));
        const auto take = [&](ByteSpan bytes) -> Result<void> {
            DS_CHECK(task.checkpoint());
            return m_compressor->add(bytes);
        };
        DS_CHECK(m_positions.forEach(take));
        m_positions.drop();
        DS_CHECK(m_values.forEach(take));
        m_values.drop();
        DS_CHECK(m_compressor->end());
        return true;
    }

    std::uint64_t m_unit;
    SpooledBytes m_positions;
    SpooledBytes m_values;
    std::vector<std::uint32_t> m_batchPositions;
    std::vector<std::byte> m_batchValues;
    std::size_t m_batched = 0;
};

} // namespace

void ZstdFrameWriter::Destroy::operator()(ZSTD_CCtx_s* context) const noexcept { ZSTD_freeCCtx(context); }

ZstdFrameWriter::ZstdFrameWriter(int level)
    : m_level(level)
    , m_context(ZSTD_createCCtx())
    , m_buffer(ZSTD_CStreamOutSize())
{
    if (!m_context)
        throw std::bad_alloc();
}

ZstdFrameWriter::~ZstdFrameWriter() = default;

Result<void> ZstdFrameWriter::begin(std::uint64_t contentBytes, SpooledBytes& out)
{
    m_out = &out;
    for (const std::size_t outcome : { ZSTD_CCtx_reset(m_context.get(), ZSTD_reset_session_only),
                                       ZSTD_CCtx_setParameter(m_context.get(), ZSTD_c_compressionLevel, m_level),
                                       ZSTD_CCtx_setPledgedSrcSize(m_context.get(), contentBytes) }) {
        if (ZSTD_isError(outcome) != 0)
            return fail(Code::Internal, fmt::format("zstd: {}", ZSTD_getErrorName(outcome)));
    }
    return {};
}

Result<void> ZstdFrameWriter::addZeros(std::uint64_t bytes)
{
    static constexpr std::array<std::byte, MaskBytes> Zeros {};
    for (; bytes > 0; bytes -= std::min<std::uint64_t>(bytes, Zeros.size()))
        DS_CHECK(add(ByteSpan(Zeros).first(std::min<std::uint64_t>(bytes, Zeros.size()))));
    return {};
}

Result<void> ZstdFrameWriter::compress(ByteSpan bytes, bool last)
{
    ZSTD_inBuffer in { bytes.data(), bytes.size(), 0 };
    for (;;) {
        ZSTD_outBuffer out { m_buffer.data(), m_buffer.size(), 0 };
        const std::size_t left = ZSTD_compressStream2(m_context.get(), &out, &in, last ? ZSTD_e_end : ZSTD_e_continue);
        if (ZSTD_isError(left) != 0)
            return fail(Code::Internal, fmt::format("zstd: {}", ZSTD_getErrorName(left)));
        DS_CHECK(m_out->append(ByteSpan(m_buffer).first(out.pos)));
        if (last ? left == 0 : in.pos == in.size)
            return {};
    }
}

Result<void> expectSlimeV2Carries(const TensorInfo& tensor, SlimeV2Encoding encoding)
{
    if (tensor.shape.empty())
        return fail(Code::Unsupported,
                    fmt::format("{} changed and is {}, a scalar: slime-v2 cannot carry it (its readers and writers see "
                                "tensors as bytes, which needs a dimension)",
                                quoteName(tensor.name), describe(tensor)),
                    {},
                    tensor.dtype == Dtype::BF16
                        ? "Give the tensor the shape [1], or publish as trl-v2 if all that changes is BF16."
                        : "Give the tensor the shape [1]; trl-v2 carries changes of BF16 tensors only.");
    if (encoding == SlimeV2Encoding::Overwrite && tensor.bytes() > PositionLimit)
        return fail(Code::Unsupported,
                    fmt::format("{} changed and has {} bytes: overwrite reaches the first 4 GiB only; xor has no limit",
                                quoteName(tensor.name), tensor.bytes()),
                    {}, "Publish with --encoding xor.");
    return {};
}

SlimeV2DeltaWriter::SlimeV2DeltaWriter(SlimeV2WriterOptions options, std::unique_ptr<SpoolFile> spool)
    : m_options(std::move(options))
    , m_spool(std::move(spool))
{
}

Result<std::unique_ptr<TensorWriter>> SlimeV2DeltaWriter::begin(const TensorInfo& tensor)
{
    DS_CHECK(checkTensorName(tensor.name));
    DS_CHECK(checkedSize(tensor));
    const std::lock_guard lock(m_mutex);
    if (m_stored.contains(tensor.name))
        return occursTwice(tensor.name);
    if (m_options.encoding == SlimeV2Encoding::Xor)
        return std::unique_ptr<TensorWriter>(std::make_unique<XorTensor>(*this, tensor));
    return std::unique_ptr<TensorWriter>(std::make_unique<OverwriteTensor>(*this, tensor));
}

Result<void> SlimeV2DeltaWriter::addFact(std::string_view key, std::string_view value)
{
    DS_CHECK(checkFact(key, value));
    const std::lock_guard lock(m_mutex);
    m_options.facts.insert_or_assign(std::string(key), std::string(value));
    return {};
}

Result<void> SlimeV2DeltaWriter::keep(const std::string& name, Stored stored)
{
    const std::lock_guard lock(m_mutex);
    return m_stored.emplace(name, std::move(stored)).second ? Result<void>() : occursTwice(name);
}

std::unique_ptr<ZstdFrameWriter> SlimeV2DeltaWriter::lendCompressor()
{
    {
        const std::lock_guard lock(m_mutex);
        if (!m_compressors.empty()) {
            std::unique_ptr<ZstdFrameWriter> compressor = std::move(m_compressors.back());
            m_compressors.pop_back();
            return compressor;
        }
    }
    return std::make_unique<ZstdFrameWriter>(m_options.zstdLevel);
}

void SlimeV2DeltaWriter::giveBack(std::unique_ptr<ZstdFrameWriter> compressor)
{
    const std::lock_guard lock(m_mutex);
    m_compressors.push_back(std::move(compressor));
}

Result<std::vector<ObjectInfo>> SlimeV2DeltaWriter::finish(ObjectStore& store, TaskContext& task)
{
    const std::lock_guard lock(m_mutex);
    Result<std::vector<ObjectInfo>> objects = putVersion(store, task);
    if (!objects)
        return fail(atStep(std::move(objects.error()), m_options.version));
    return objects;
}

Result<std::vector<ObjectInfo>> SlimeV2DeltaWriter::putVersion(ObjectStore& store, TaskContext& task) const
{
    const std::string folder = joinKey(m_options.root, fmt::format("weight_v{:06}", m_options.version));
    const std::string indexKey = joinKey(folder, CheckpointIndexName);
    std::vector<ObjectInfo> objects;
    if (!m_stored.empty()) {
        DS_TRY(ObjectInfo data, putData(store, folder, task));
        objects.push_back(std::move(data));
    } else {
        DS_CHECK(expectNoData(store, folder, task));
    }
    const std::string index = indexText();
    const MemoryPayload source(asBytes(index));
    DS_TRY(ObjectInfo committed, store.put(indexKey, source, PutMode::IfAbsent, task));
    objects.push_back(std::move(committed));
    return objects;
}

Result<void> SlimeV2DeltaWriter::expectNoData(const ObjectStore& store, const std::string& folder, TaskContext& task)
{
    const std::string key = joinKey(folder, SlimeV2DataFileName);
    const Result<ObjectInfo> data = store.stat(key, task);
    if (data)
        return fail(Code::Exists, "an interrupted publication left a data file where an empty version has none", key,
                    "Remove the file: receivers that do not read the index would apply it.");
    return data.error().code == Code::NotFound ? Result<void>() : Result<void>(fail(data.error()));
}

Result<ObjectInfo> SlimeV2DeltaWriter::putData(ObjectStore& store, const std::string& folder, TaskContext& task) const
{
    std::vector<TensorInfo> infos;
    VersionFactMap digests;
    for (const auto& [name, stored] : m_stored) {
        infos.push_back({ name, Dtype::U8, { stored.frameBytes } });
        digests.emplace(name, stored.digest);
    }
    DS_TRY(std::string header, versionHeader(infos, digests));
    SpoolPayload source(*m_spool, std::move(header));
    for (const auto& [name, stored] : m_stored)
        source.add(stored.frame);

    const std::string key = joinKey(folder, SlimeV2DataFileName);
    Result<ObjectInfo> put = store.put(key, source, PutMode::IfAbsent, task);
    if (put || put.error().code != Code::Exists)
        return put;
    // An interrupted run left it, unless the version is committed.
    const Result<ObjectInfo> index = store.stat(joinKey(folder, CheckpointIndexName), task);
    if (index || index.error().code != Code::NotFound)
        return index ? put : Result<ObjectInfo>(fail(index.error()));
    DS_TRY(ObjectInfo there, store.stat(key, task));
    DS_TRY(const bool same, holdsSameBytes(store, there, source, task));
    if (same)
        return there;
    if (!m_options.replaceUnfinished)
        return put;
    return store.put(key, source, PutMode::Replace, task);
}

std::string SlimeV2DeltaWriter::indexText() const
{
    std::string text = fmt::format(R"({{"metadata": {{"version": "{:06}", "base_version": "{:06}", )"
                                   R"("delta_encoding": "{}", "compression_format": "zstd", "checksum_format": "{}")",
                                   m_options.version, m_options.baseVersion, word(m_options.encoding),
                                   deltascope::word(m_options.checksum));
    for (const auto& [key, value] : m_options.facts)
        text.append(", ").append(pythonJson(key)).append(": ").append(pythonJson(value));
    text += R"(}, "weight_map": {)";
    std::string_view separator = "";
    for (const auto& [name, stored] : m_stored) {
        text.append(separator).append(pythonJson(name)).append(": ").append(pythonJson(SlimeV2DataFileName));
        separator = ", ";
    }
    return text += "}}";
}

Result<std::unique_ptr<VersionWriter>> makeSlimeV2DeltaWriter(SlimeV2WriterOptions options)
{
    DS_CHECK(checkOptions(options));
    DS_TRY(std::unique_ptr<SpoolFile> spool, SpoolFile::create(options.spoolFolder));
    return std::unique_ptr<VersionWriter>(std::make_unique<SlimeV2DeltaWriter>(std::move(options), std::move(spool)));
}

} // namespace deltascope

#include "slime_writer.h"

#include "deltascope/engine/safetensors.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace deltascope::support {
namespace {

std::size_t checked(std::size_t code)
{
    if (ZSTD_isError(code))
        throw std::runtime_error(std::string("zstd: ") + ZSTD_getErrorName(code));
    return code;
}

std::string quoted(const std::string& text) { return nlohmann::json(text).dump(); }

} // namespace

SlimeWriter::SlimeWriter(const RunOptions& options, SyntheticModel& model)
    : m_options(options)
    , m_model(model)
    , m_xor(options.encoding == "xor")
    , m_elementBytes(model.tensors().empty() ? 2 : bitsOf(model.tensors().front().dtype) / 8)
    , m_zstd(ZSTD_createCCtx())
    , m_frames(options.spaceFolder)
    , m_positions(options.spaceFolder)
    , m_values(options.spaceFolder)
    , m_out(ZSTD_CStreamOutSize())
{
    if (options.encoding != "xor" && options.encoding != "overwrite")
        throw std::invalid_argument("slime-v2 has the encodings xor and overwrite");
    if (options.baseFolder.empty())
        throw std::invalid_argument("slime-v2 needs --base-out");
    for (const TensorInfo& tensor : model.tensors())
        if (!m_xor && tensor.bytes() > UINT32_MAX)
            throw std::invalid_argument("slime-v2 overwrite has positions of 32 bits");
    writeCheckpoint(options.baseFolder, model, options.shards, true, options.startSeconds);
}

SlimeWriter::~SlimeWriter() { ZSTD_freeCCtx(m_zstd); }

StepRecord SlimeWriter::write(std::uint64_t step)
{
    StepRecord record;
    record.step = step;
    record.anchor = m_options.anchorEvery > 0 && step % m_options.anchorEvery == 0;
    const std::int64_t seconds = m_options.startSeconds + static_cast<std::int64_t>(step) * m_options.secondsPerStep;
    const std::string folder = fmt::format("{}/weight_v{:06}", m_options.folder, step);
    m_collect = !record.anchor;
    m_stored.clear();
    m_frames.clear();
    record.changed = m_model.advance(step, *this);
    if (record.anchor) {
        record.wireBytes =
            writeCheckpoint(folder, m_model, std::max<std::uint64_t>(m_options.shards, 2), false, seconds);
    } else {
        record.baseStep = step - 1;
        record.wireBytes = writeDelta(folder, step, seconds);
    }
    return record;
}

void SlimeWriter::beginTensor(std::size_t tensor)
{
    if (!m_collect)
        return;
    m_changed = 0;
    m_stored.push_back({ tensor, m_frames.size(), 0 });
    m_positions.clear();
    m_values.clear();
    if (m_xor)
        beginFrame(m_model.tensors()[tensor].bytes());
}

void SlimeWriter::window(const ChangedWindow& window)
{
    if (!m_collect)
        return;
    m_changed += window.positions.size();
    if (m_xor)
        xorWindow(window);
    else
        overwriteWindow(window);
}

void SlimeWriter::endTensor(std::size_t)
{
    if (!m_collect)
        return;
    if (!m_xor)
        compressOverwrite();
    compress({}, ZSTD_e_end);
    if (m_changed == 0) {
        m_stored.pop_back(); // its frame stays in the spool and is never written
        return;
    }
    m_stored.back().bytes = m_frames.size() - m_stored.back().offset;
}

void SlimeWriter::beginFrame(std::uint64_t payloadBytes)
{
    checked(ZSTD_CCtx_reset(m_zstd, ZSTD_reset_session_and_parameters));
    checked(ZSTD_CCtx_setParameter(m_zstd, ZSTD_c_compressionLevel, 1));
    checked(ZSTD_CCtx_setPledgedSrcSize(m_zstd, payloadBytes));
}

void SlimeWriter::compress(ByteSpan bytes, ZSTD_EndDirective directive)
{
    ZSTD_inBuffer in { bytes.data(), bytes.size(), 0 };
    for (;;) {
        ZSTD_outBuffer out { m_out.data(), m_out.size(), 0 };
        const std::size_t left = checked(ZSTD_compressStream2(m_zstd, &out, &in, directive));
        m_frames.append({ m_out.data(), out.pos });
        if (in.pos == in.size && (directive == ZSTD_e_continue || left == 0))
            return;
    }
}

void SlimeWriter::xorWindow(const ChangedWindow& window)
{
    m_mask.assign((window.end - window.begin) * m_elementBytes, std::byte { 0 });
    for (std::size_t i = 0; i < window.positions.size(); ++i) {
        const std::uint32_t bits = window.before[i] ^ window.after[i];
        std::memcpy(m_mask.data() + window.positions[i] * m_elementBytes, &bits, m_elementBytes);
    }
    compress(m_mask, ZSTD_e_continue);
}

void SlimeWriter::overwriteWindow(const ChangedWindow& window)
{
    for (std::size_t i = 0; i < window.positions.size(); ++i) {
        for (std::uint64_t byte = 0; byte < m_elementBytes; ++byte) {
            const auto before = static_cast<std::uint8_t>(window.before[i] >> (8 * byte));
            const auto after = static_cast<std::uint8_t>(window.after[i] >> (8 * byte));
            if (before == after)
                continue;
            m_positions.appendLe(
                static_cast<std::uint32_t>((window.begin + window.positions[i]) * m_elementBytes + byte));
            m_values.appendLe(after);
        }
    }
}

void SlimeWriter::compressOverwrite()
{
    const auto count = static_cast<std::uint32_t>(m_values.size());
    beginFrame(4 + 5 * std::uint64_t { count });
    compress(std::as_bytes(std::span(&count, 1)), ZSTD_e_continue);
    std::vector<std::byte> chunk(1U << 20);
    for (const Spool* spool : { &m_positions, &m_values }) {
        for (std::uint64_t at = 0; at < spool->size(); at += chunk.size()) {
            const MutableByteSpan part(chunk.data(), std::min<std::uint64_t>(chunk.size(), spool->size() - at));
            spool->read(at, part);
            compress(part, ZSTD_e_continue);
        }
    }
}

std::uint64_t SlimeWriter::writeDelta(const std::string& folder, std::uint64_t step, std::int64_t seconds)
{
    const std::string name = "model-00000-of-00001.safetensors";
    std::uint64_t bytes = 0;
    std::string weightMap;
    if (!m_stored.empty()) {
        std::vector<TensorInfo> infos;
        Metadata digests;
        for (const Stored& stored : m_stored) {
            const std::string& tensor = m_model.tensors()[stored.tensor].name;
            infos.push_back({ tensor, Dtype::U8, { stored.bytes } });
            digests[tensor] = m_model.digestOf(stored.tensor);
            weightMap += fmt::format("{}{}: {}", weightMap.empty() ? "" : ", ", quoted(tensor), quoted(name));
        }
        SequentialFile file(folder + "/" + name);
        file.write(asBytes(writeSafetensorsHeader(infos, digests)));
        for (const Stored& stored : m_stored)
            m_frames.copyTo(file, stored.offset, stored.bytes);
        bytes += file.close(seconds);
    }
    SequentialFile index(folder + "/model.safetensors.index.json");
    index.write(asBytes(fmt::format(
        R"({{"metadata": {{"version": "{:06}", "base_version": "{:06}", "delta_encoding": "{}", "compression_format": "zstd", "checksum_format": "xxh3-128"}}, "weight_map": {{{}}}}})",
        step, step - 1, m_options.encoding, weightMap)));
    return bytes + index.close(seconds);
}

} // namespace deltascope::support

#include "trl_writer.h"

#include "deltascope/engine/safetensors.h"

#include <algorithm>
#include <fmt/format.h>
#include <stdexcept>

namespace deltascope::support {
namespace {

/// As Python prints a float.
std::string pythonFloat(double value)
{
    std::string text = fmt::format("{}", value);
    if (text.find_first_of(".en") == std::string::npos)
        text += ".0";
    return text;
}

Metadata patchMetadata(bool sparse, std::uint64_t step, std::uint64_t params, std::uint64_t changed,
                       std::uint64_t elements, const std::string& encoding)
{
    const double sparsity = sparse ? 1.0 - static_cast<double>(changed) / static_cast<double>(elements) : 0.0;
    return { { "format", "sparse_weight_patch" },
             { "version", "1" },
             { "sparse", sparse ? "True" : "False" },
             { "model_version", std::to_string(step) },
             { "num_changed_params", std::to_string(params) },
             { "total_changed_elements", std::to_string(changed) },
             { "total_elements", std::to_string(elements) },
             { "sparsity", pythonFloat(sparsity) },
             { "encoding", encoding } };
}

} // namespace

TrlWriter::TrlWriter(const RunOptions& options, SyntheticModel& model)
    : m_options(options)
    , m_model(model)
    , m_gaps(options.encoding == "gap_delta")
    , m_indices(options.spaceFolder)
    , m_values(options.spaceFolder)
{
    if (options.encoding != "gap_delta" && options.encoding != "raw")
        throw std::invalid_argument("trl-v2 has the encodings gap_delta and raw");
    for (const TensorInfo& tensor : model.tensors())
        if (tensor.dtype != Dtype::BF16 || tensor.elements() > INT32_MAX)
            throw std::invalid_argument("trl-v2 writes BF16 tensors of less than 2^31 elements");
}

StepRecord TrlWriter::write(std::uint64_t step)
{
    StepRecord record;
    record.step = step;
    record.anchor = step == 1 || (m_options.anchorEvery > 0 && step % m_options.anchorEvery == 0);
    const std::int64_t seconds = m_options.startSeconds + static_cast<std::int64_t>(step) * m_options.secondsPerStep;
    m_collect = !record.anchor;
    m_stored.clear();
    m_indices.clear();
    m_values.clear();
    if (step > 1)
        record.changed = m_model.advance(step, *this);
    const std::string path =
        fmt::format("{}/{}/step_{:06}.safetensors", m_options.folder, record.anchor ? "anchors" : "deltas", step);
    if (record.anchor) {
        const std::uint64_t params = m_model.tensors().size();
        record.wireBytes = writeTensorFile(
            path, m_model, 0, params,
            patchMetadata(false, step, params, m_model.elements(), m_model.elements(), m_options.encoding), seconds);
    } else {
        record.baseStep = step - 1;
        record.wireBytes = writeDelta(path, step, seconds);
    }
    return record;
}

void TrlWriter::beginTensor(std::size_t tensor)
{
    m_previous = 0;
    if (m_collect)
        m_stored.push_back({ tensor, 0, m_indices.size() / 4, 0 });
}

void TrlWriter::window(const ChangedWindow& window)
{
    if (!m_collect || window.positions.empty())
        return;
    Stored& stored = m_stored.back();
    m_indexBuffer.clear();
    m_valueBuffer.clear();
    for (std::size_t i = 0; i < window.positions.size(); ++i) {
        const std::uint64_t position = window.begin + window.positions[i];
        const std::uint64_t gap = position - m_previous; // m_previous lies one behind the last change
        stored.largestGap = std::max(stored.largestGap, gap);
        m_indexBuffer.push_back(static_cast<std::uint32_t>(m_gaps ? gap : position));
        m_valueBuffer.push_back(static_cast<std::uint16_t>(window.after[i]));
        m_previous = position + 1;
    }
    stored.count += window.positions.size();
    m_indices.append(std::as_bytes(std::span(m_indexBuffer)));
    m_values.append(std::as_bytes(std::span(m_valueBuffer)));
}

void TrlWriter::endTensor(std::size_t)
{
    if (m_collect && m_stored.back().count == 0)
        m_stored.pop_back();
}

std::uint64_t TrlWriter::writeDelta(const std::string& path, std::uint64_t step, std::int64_t seconds)
{
    struct Part {
        TensorInfo info;
        const Stored* stored;
        bool values;
    };
    std::vector<Part> parts;
    std::uint64_t changed = 0, elements = 0;
    for (const Stored& stored : m_stored) {
        const TensorInfo& tensor = m_model.tensors()[stored.tensor];
        Dtype type = Dtype::I32;
        if (m_gaps)
            type = stored.largestGap <= 0xFFFF ? Dtype::U16 : Dtype::U32;
        parts.push_back({ { tensor.name + ".idx", type, { stored.count } }, &stored, false });
        parts.push_back({ { tensor.name + ".val", Dtype::BF16, { stored.count } }, &stored, true });
        changed += stored.count;
        elements += tensor.elements();
    }
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return canonicalBefore(a.info, b.info); });
    std::vector<TensorInfo> infos;
    for (const Part& part : parts)
        infos.push_back(part.info);
    SequentialFile file(path);
    file.write(asBytes(writeSafetensorsHeader(
        infos, patchMetadata(true, step, m_stored.size(), changed, elements, m_options.encoding))));
    for (const Part& part : parts) {
        if (part.values)
            m_values.copyTo(file, part.stored->first * 2, part.stored->count * 2);
        else
            writeIndices(file, *part.stored, part.info.dtype);
    }
    return file.close(seconds);
}

void TrlWriter::writeIndices(SequentialFile& file, const Stored& stored, Dtype type) const
{
    if (type != Dtype::U16) {
        m_indices.copyTo(file, stored.first * 4, stored.count * 4);
        return;
    }
    std::vector<std::uint32_t> wide(std::min<std::uint64_t>(stored.count, 1U << 16));
    std::vector<std::uint16_t> narrow(wide.size());
    for (std::uint64_t at = 0; at < stored.count; at += wide.size()) {
        const std::size_t n = std::min<std::uint64_t>(wide.size(), stored.count - at);
        m_indices.read((stored.first + at) * 4, std::as_writable_bytes(std::span(wide.data(), n)));
        std::transform(wide.begin(), wide.begin() + static_cast<std::ptrdiff_t>(n), narrow.begin(),
                       [](std::uint32_t gap) { return static_cast<std::uint16_t>(gap); });
        file.write(std::as_bytes(std::span(narrow.data(), n)));
    }
}

} // namespace deltascope::support

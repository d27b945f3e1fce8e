#include "demo/demo_model.h"

#include "deltascope/engine/safetensors.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <fmt/format.h>

namespace deltascope::app {

namespace {

constexpr std::uint64_t Vocabulary = 4096;
constexpr std::uint64_t Width = 128;
constexpr std::uint64_t Inner = 512;
constexpr unsigned Layers = 12;
constexpr double HotShare = 0.3; ///< of a matrix's changes fall into its hot rows
constexpr std::size_t HotRows = 4;

std::uint16_t toBf16(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); }

}

DemoModel::DemoModel(std::uint64_t seed)
    : m_random(seed)
{
    addTensor("model.embed_tokens.weight", { Vocabulary, Width }, 0.6);
    for (unsigned layer = 0; layer < Layers; ++layer) {
        const double distance = (layer - (Layers - 1) / 2.0) / (Layers / 4.0);
        const double heat = 0.6 + 1.2 * std::exp(-distance * distance); // middle layers move most
        const std::string prefix = fmt::format("model.layers.{}.", layer);
        addTensor(prefix + "input_layernorm.weight", { Width }, 0.05);
        for (const char* name : { "q_proj", "k_proj", "v_proj", "o_proj" })
            addTensor(fmt::format("{}self_attn.{}.weight", prefix, name), { Width, Width }, heat);
        addTensor(prefix + "post_attention_layernorm.weight", { Width }, 0.05);
        addTensor(prefix + "mlp.gate_proj.weight", { Inner, Width }, 1.1 * heat);
        addTensor(prefix + "mlp.up_proj.weight", { Inner, Width }, 1.1 * heat);
        addTensor(prefix + "mlp.down_proj.weight", { Width, Inner }, heat);
    }
    addTensor("model.norm.weight", { Width }, 0.05);
    addTensor("lm_head.weight", { Vocabulary, Width }, 0.8);

    std::vector<TensorInfo> infos;
    std::size_t bytes = 0;
    double heat = 0;
    std::uint64_t elements = 0;
    for (Tensor& tensor : m_tensors) {
        tensor.begin = bytes;
        bytes += tensor.info.bytes();
        heat += tensor.heat * static_cast<double>(tensor.info.elements());
        elements += tensor.info.elements();
        infos.push_back(tensor.info);
    }
    const std::string header = writeSafetensorsHeader(infos, { { "format", "pt" } });
    m_file.resize(header.size() + bytes);
    std::copy_n(asBytes(header).data(), header.size(), m_file.data());
    for (Tensor& tensor : m_tensors) {
        tensor.begin += header.size();
        tensor.heat *= static_cast<double>(elements) / heat;
        initialize(tensor);
    }
}

void DemoModel::addTensor(std::string name, std::vector<std::uint64_t> shape, double heat)
{
    Tensor tensor;
    tensor.heat = heat;
    for (std::size_t i = 0; shape.size() > 1 && i < HotRows; ++i)
        tensor.hotRows.push_back(m_random() % shape.front());
    tensor.info.name = std::move(name);
    tensor.info.dtype = Dtype::BF16;
    tensor.info.shape = std::move(shape);
    m_tensors.push_back(std::move(tensor));
}

void DemoModel::initialize(const Tensor& tensor)
{
    const bool isNorm = tensor.info.shape.size() == 1;
    std::normal_distribution<float> weights(0.0F, 0.02F);
    for (std::uint64_t i = 0; i < tensor.info.elements(); ++i)
        storeLe<std::uint16_t>(m_file, tensor.begin + 2 * i, toBf16(isNorm ? 1.0F : weights(m_random)));
}

void DemoModel::train(double fraction)
{
    for (const Tensor& tensor : m_tensors) {
        const std::uint64_t elements = tensor.info.elements();
        const auto changes = static_cast<std::uint64_t>(static_cast<double>(elements) * fraction * tensor.heat);
        const std::uint64_t row = tensor.info.shape.back();
        for (std::uint64_t i = 0; i < changes; ++i) {
            const bool hot = !tensor.hotRows.empty() && static_cast<double>(m_random() % 1000) < 1000 * HotShare;
            nudge(tensor,
                  hot ? tensor.hotRows[m_random() % tensor.hotRows.size()] * row + m_random() % row
                      : m_random() % elements);
        }
    }
}

MutableByteSpan DemoModel::dataOf(std::string_view tensor) noexcept
{
    const auto found = std::find_if(m_tensors.begin(), m_tensors.end(),
                                    [&](const Tensor& candidate) { return candidate.info.name == tensor; });
    return found == m_tensors.end() ? MutableByteSpan()
                                    : MutableByteSpan(m_file).subspan(found->begin, found->info.bytes());
}

void DemoModel::nudge(const Tensor& tensor, std::uint64_t element)
{
    const std::size_t at = tensor.begin + 2 * element;
    const std::uint16_t bits = loadLe<std::uint16_t>(m_file, at);
    const bool down =
        (bits & 0x7fffU) != 0 && m_random() % 2 == 0; // magnitudes stay far from infinity in any run that one watches
    storeLe<std::uint16_t>(m_file, at, static_cast<std::uint16_t>(down ? bits - 1 : bits + 1));
}

} // namespace deltascope::app

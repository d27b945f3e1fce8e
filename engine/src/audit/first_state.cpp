#include "audit/first_state.h"

#include <algorithm>
#include <iterator>
#include <string_view>

namespace deltascope {

namespace {

/// "model.layers.3." of "model.layers.3.mlp.up_proj.weight"; nothing for tensors outside of layers.
std::optional<std::string_view> layerOf(std::string_view name)
{
    for (std::size_t begin = 0; begin < name.size();) {
        const std::size_t dot = name.find('.', begin);
        if (dot == std::string_view::npos)
            return std::nullopt;
        const std::string_view part = name.substr(begin, dot - begin);
        if (!part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos)
            return name.substr(0, dot + 1);
        begin = dot + 1;
    }
    return std::nullopt;
}

/// "input_layernorm.weight", "ln_1.weight".
bool isNorm(std::string_view name)
{
    return name.find("norm") != std::string_view::npos || name.find(".ln_") != std::string_view::npos;
}

}

std::optional<SuspectTensor> judgeFirst(const ValueKinds& values, std::uint64_t elements)
{
    const bool isMask = 2 * values.infinite > elements || !values.finiteDiffer;
    const std::uint64_t noAlarm = isMask ? values.infinite : 0;
    const std::uint64_t all = values.nan + values.infinite;
    if (all == noAlarm)
        return std::nullopt;
    return SuspectTensor { {}, Suspicion::NotFinite, static_cast<double>(all), static_cast<double>(noAlarm) };
}

bool holdsMask(const ValueKinds& values, std::uint64_t elements)
{
    return values.infinite > 0 && !judgeFirst(values, elements);
}

void sortSuspects(std::vector<SuspectTensor>& suspects)
{
    std::sort(suspects.begin(), suspects.end(), [](const SuspectTensor& a, const SuspectTensor& b) {
        return a.suspicion != b.suspicion ? a.suspicion < b.suspicion : a.name < b.name;
    });
}

void ZeroLayers::add(const TensorInfo& tensor, FirstTensor first)
{
    const std::optional<std::string_view> name = layerOf(tensor.name);
    if (!name)
        return;
    auto at = m_layers.find(*name);
    if (at == m_layers.end())
        at = m_layers.emplace(*name, Layer()).first;
    Layer& layer = at->second;
    if (layer.hasValues)
        return;
    if (!first.isZero) {
        layer = { true, 0, {} };
        return;
    }
    layer.elements += tensor.elements();
    layer.tensors.push_back({ tensor.name, std::move(first.stillZeroAt) });
}

std::vector<ZeroTensor> ZeroLayers::take()
{
    constexpr std::uint64_t FewestElements = 64;
    std::vector<ZeroTensor> zero;
    for (auto& [name, layer] : m_layers) {
        const bool anyNorm = std::any_of(layer.tensors.begin(), layer.tensors.end(),
                                         [](const ZeroTensor& tensor) { return isNorm(tensor.name); });
        if (anyNorm && layer.tensors.size() >= 2 && layer.elements >= FewestElements)
            std::move(layer.tensors.begin(), layer.tensors.end(), std::back_inserter(zero));
    }
    m_layers.clear();
    return zero;
}

} // namespace deltascope

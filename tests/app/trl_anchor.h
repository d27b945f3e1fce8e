#pragma once

#include "engine/layout_fixture.h"

#include <numeric>

namespace deltascope::app {

/// An anchor as TRL writes it (docs/formats/trl-v2.md), all zero.
inline std::string trlAnchor(std::int64_t step, const std::vector<TensorInfo>& tensors)
{
    const auto elements =
        std::accumulate(tensors.begin(), tensors.end(), std::uint64_t { 0 },
                        [](std::uint64_t sum, const TensorInfo& tensor) { return sum + tensor.elements(); });
    std::vector<layout_test::FileTensor> files;
    for (const TensorInfo& tensor : tensors)
        files.push_back({ tensor, std::string(tensor.bytes(), '\0') });
    return layout_test::safetensorsFile(files,
                                        { { "format", "sparse_weight_patch" },
                                          { "version", "1" },
                                          { "sparse", "False" },
                                          { "model_version", std::to_string(step) },
                                          { "num_changed_params", std::to_string(tensors.size()) },
                                          { "total_changed_elements", std::to_string(elements) },
                                          { "total_elements", std::to_string(elements) },
                                          { "sparsity", "0.0" },
                                          { "encoding", "gap_delta" } });
}

} // namespace deltascope::app

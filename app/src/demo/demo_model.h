#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::app {

/// A small transformer whose weights move as reinforcement learning moves them: 4.2 million bf16 elements in 111
/// tensors (vocabulary 4,096, width 128, 12 layers). Equal seeds give equal bits at every step.
class DemoModel {
public:
    explicit DemoModel(std::uint64_t seed);

    /// One optimizer step: about `fraction` of all elements move by a unit in the last place, middle layers and a few
    /// hot rows more than the rest.
    void train(double fraction);

    /// Where the data of a tensor stands in file(), to load another state. Empty: there is no such tensor.
    MutableByteSpan dataOf(std::string_view tensor) noexcept;

    /// The whole checkpoint as a safetensors file.
    ByteSpan file() const noexcept { return m_file; }

private:
    struct Tensor {
        TensorInfo info;
        std::size_t begin = 0; ///< of its data in m_file
        double heat = 1; ///< of its elements against the mean
        std::vector<std::uint64_t> hotRows;
    };

    void addTensor(std::string name, std::vector<std::uint64_t> shape, double heat);
    void initialize(const Tensor& tensor);
    void nudge(const Tensor& tensor, std::uint64_t element);

    std::mt19937_64 m_random;
    std::vector<Tensor> m_tensors;
    std::vector<std::byte> m_file;
};

} // namespace deltascope::app

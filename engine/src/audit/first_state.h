#pragma once

#include "backend/value_kinds.h"
#include "deltascope/engine/health.h"
#include "deltascope/engine/tensor.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace deltascope {

// What the values of a state show that nothing can be compared with. docs/damage.md, section 4, says what passes.

/// NaN, and infinities unless most elements are infinite or the others have one value, as in masks and in the ranges of
/// observers. Without a name.
std::optional<SuspectTensor> judgeFirst(const ValueKinds& values, std::uint64_t elements);

/// Whether it holds infinities that judgeFirst() lets pass.
bool holdsMask(const ValueKinds& values, std::uint64_t elements);

/// By kind, then by name.
void sortSuspects(std::vector<SuspectTensor>& suspects);

/// A tensor of a floating type in a first state.
struct FirstTensor {
    bool isZero = false;
    /// Of a tensor that is zero: complete links of its chain, ascending, up to the first that has values.
    std::vector<std::size_t> stillZeroAt;
};

struct ZeroTensor {
    std::string name;
    std::vector<std::size_t> stillZeroAt;
};

/// Finds the layers of a first state that are zero as a whole, norms included: a file that was allocated and never
/// written. What training begins with as zeros (LoRA B, biases, projections) stands beside other tensors of its layer.
class ZeroLayers {
public:
    void add(const TensorInfo& tensor, FirstTensor first);
    /// Their tensors, by layer.
    std::vector<ZeroTensor> take();

private:
    struct Layer {
        bool hasValues = false; ///< then nothing else of it is kept
        std::uint64_t elements = 0;
        std::vector<ZeroTensor> tensors;
    };
    std::map<std::string, Layer, std::less<>> m_layers;
};

} // namespace deltascope

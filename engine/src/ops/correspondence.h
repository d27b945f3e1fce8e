#pragma once

#include "deltascope/engine/operations.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

namespace deltascope {

/// Which tensors of two states are one and the same.
struct Correspondence {
    std::vector<std::pair<const TensorInfo*, const TensorInfo*>> pairs; ///< of A and B; those of other names come last
    std::vector<const TensorInfo*> onlyInA, onlyInB;
    std::optional<FormDifference> names; ///< what their names differ by, if tensors of other names are among the pairs
};

/// Tensors of one name belong together. With `acrossForms` those that are left over do, too, if the names of one side
/// differ from those of the other by one prefix as a whole or by parts that wrappers of modules put inside, or are
/// those of layers that adapters wrap. `given`: the prefixes that the user names; nothing: they are looked for.
Correspondence correspond(const State& a, const State& b, bool acrossForms, const std::optional<PrefixMap>& given);

/// Sets FormDifference::ofTensors where so many tensors are compared; that of names is known.
void countCompared(std::vector<FormDifference>& forms, std::uint64_t tensors);

/// Whether two states have tensors of the same names, dtypes and shapes.
bool haveSameTensors(const State& a, const State& b);

} // namespace deltascope

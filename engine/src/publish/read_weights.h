#pragma once

#include "deltascope/engine/operations.h"

#include <cstddef>
#include <map>
#include <string>

namespace deltascope {

/// The files of weights that checkpoints were published from, as they were then.
class ReadWeights {
public:
    void add(const Version& checkpoint);
    /// Whether one of them is another object by now. What is gone is no other one: trainers remove old checkpoints,
    /// piece by piece.
    bool differ(const Version& checkpoint) const;

private:
    using Files = std::map<std::string, std::size_t, std::less<>>; ///< hash of the identity, by key

    std::map<std::string, Files, std::less<>> m_files; ///< by name of the checkpoint
};

} // namespace deltascope

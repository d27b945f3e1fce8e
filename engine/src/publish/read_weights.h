#pragma once

#include "deltascope/engine/operations.h"

#include <cstddef>
#include <map>
#include <string>

namespace deltascope {

/// The files of weights that checkpoints were published from, as they were then.
class ReadWeights {
public:
    /// `root`: of what was published from it; empty: not recorded.
    void add(const Version& checkpoint, const std::string& root);
    /// Whether one of the files is another object by now. What is gone is no other one: trainers remove old
    /// checkpoints, piece by piece.
    bool differ(const Version& checkpoint) const;
    /// As given to add(); empty also of one that was not added.
    std::string rootOf(const Version& checkpoint) const;

private:
    struct Read {
        std::map<std::string, std::size_t, std::less<>> files; ///< hash of the identity, by key
        std::string root;
    };
    std::map<std::string, Read, std::less<>> m_read; ///< by name of the checkpoint
};

} // namespace deltascope

#pragma once

#include "deltascope/engine/patch.h"

#include <memory>
#include <string>

namespace deltascope {

/// A nameless file that holds one tensor between two stretches of a long chain. Vanishes with the object.
class Scratch {
public:
    /// `folder`: where; empty: the system's folder for temporary files. Errors: NoSpace, Io.
    static Result<std::unique_ptr<Scratch>> create(const std::string& folder);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    Result<void> write(std::uint64_t offset, ByteSpan bytes);
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const;

private:
    explicit Scratch(int descriptor)
        : m_descriptor(descriptor)
    {
    }
    int m_descriptor;
};

} // namespace deltascope

#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/base/result.h"

#include <cstdint>
#include <memory>
#include <string>

namespace deltascope {

/// A nameless file for what does not fit into memory: the state between two stretches of a long chain, the encoded
/// bytes of a version. Vanishes with the object. Different ranges may be used from different threads.
class Scratch {
public:
    /// `folder`: where; empty: the system's folder for temporary files. Errors: NoSpace, Io.
    static Result<std::unique_ptr<Scratch>> create(const std::string& folder);
    ~Scratch();
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;

    Result<void> write(std::uint64_t offset, ByteSpan bytes);
    Result<void> read(std::uint64_t offset, MutableByteSpan out) const;
    /// Gives the room of a range back; its bytes read as zero afterwards, or stay. Advice only.
    void release(std::uint64_t offset, std::uint64_t bytes) noexcept;

private:
    explicit Scratch(int descriptor)
        : m_descriptor(descriptor)
    {
    }
    int m_descriptor;
};

} // namespace deltascope

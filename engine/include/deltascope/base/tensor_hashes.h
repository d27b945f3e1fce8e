#pragma once

#include <cstdint>

namespace deltascope {

/// What is computed over all bytes of each tensor of a state. The roots of the state need a SHA-256 of their own over
/// the same bytes, of each leaf, so the one of whole tensors takes as long as all the rest.
enum class TensorHashes : std::uint8_t { Xxh3, Xxh3AndSha256 };

} // namespace deltascope

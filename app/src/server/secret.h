#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace deltascope::server {

/// SHA-256 of a secret. Secrets are kept and compared as digests only.
using SecretDigest = std::array<unsigned char, 32>;

SecretDigest digestOf(std::string_view secret);

/// In a time that does not depend on where they differ.
bool sameDigest(const SecretDigest& a, const SecretDigest& b) noexcept;

/// Random bytes of the operating system, in hexadecimal.
std::string randomHex(std::size_t bytes);

} // namespace deltascope::server

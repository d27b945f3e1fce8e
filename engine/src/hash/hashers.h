#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/hash_tree.h"

#include <memory>

namespace deltascope {

/// XXH3-128 with seed 0 over bytes that arrive in pieces; reusable.
class Xxh3Hasher {
public:
    Xxh3Hasher();
    ~Xxh3Hasher();
    Xxh3Hasher(Xxh3Hasher&&) noexcept;
    Xxh3Hasher& operator=(Xxh3Hasher&&) noexcept;

    void reset() noexcept;
    void update(ByteSpan bytes) noexcept;
    Digest128 digest() const noexcept;

private:
    struct State;
    struct Release {
        void operator()(State* state) const noexcept;
    };
    std::unique_ptr<State, Release> m_state;
};

/// SHA-256 over bytes that arrive in pieces; reusable. OpenSSL's failures here are defects of the machine or of its
/// installation, found by hashSelfTest(); later ones end the program rather than yield a wrong digest.
class Sha256Hasher {
public:
    Sha256Hasher();
    ~Sha256Hasher();
    Sha256Hasher(Sha256Hasher&&) noexcept;
    Sha256Hasher& operator=(Sha256Hasher&&) noexcept;

    /// Whether OpenSSL offers the algorithm at all.
    static bool available() noexcept;

    void reset() noexcept;
    void update(ByteSpan bytes) noexcept;
    /// Ends the message; only reset() may follow.
    Digest256 digest() noexcept;

private:
    struct State;
    struct Release {
        void operator()(State* state) const noexcept;
    };
    std::unique_ptr<State, Release> m_state;
};

std::unique_ptr<StreamingDigest> makeBlake3();

} // namespace deltascope

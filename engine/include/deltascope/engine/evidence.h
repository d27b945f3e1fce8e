#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// What vouches for the bytes of a state, tensor by tensor. A digest that covers one tensor says nothing of the others:
// a state is as good as the tensor with the least evidence (docs/formats/dsm1.md, section 9).

/// What vouches for the bytes of one tensor, from best to worst.
enum class Evidence : std::uint8_t {
    Digest, ///< the publisher recorded a strong digest of the tensor with its last change, and it matches
    Root, ///< unchanged since a state whose root, or whose digest, the publisher recorded, and that matches
    Anchor, ///< from a complete anchor that agrees with the replay, or replayed up to such an anchor
    Base, ///< as in the checkpoint that the user gave as the base; nothing vouches for that
    Weak, ///< a weak digest (Adler-32) of the tensor matches
    FirstSight, ///< the objects that it comes from have the bytes that were recorded when they were first read
    None,
};
inline constexpr std::size_t EvidenceKinds = 7;
std::string_view word(Evidence evidence) noexcept; ///< "digest", "root", …, "first_sight", "none"

/// Tensors that have one thing in common.
struct TensorGroup {
    static constexpr std::size_t MostNames = 10;

    std::uint32_t tensors = 0;
    std::vector<std::string> names; ///< the first of them by name

    void add(std::string_view name);
    bool operator==(const TensorGroup&) const = default;
};

/// What a replay compared, for each tensor of the state behind a version.
enum class Compared : std::uint8_t {
    Digest, ///< its last change with a strong digest
    Root, ///< since its last change, a whole state with a root or digest
    Weak, ///< its last change with a weak digest
    Start, ///< nothing; it has the bytes of the complete state that the replay began with
    Nothing, ///< nothing, and a delta or a partial anchor changed it
};
inline constexpr std::size_t ComparedKinds = 5;
struct ComparedTensors {
    std::uint32_t digest = 0;
    std::uint32_t root = 0;
    TensorGroup weak;
    TensorGroup start;
    TensorGroup nothing;

    void add(Compared compared, std::string_view name);
    bool operator==(const ComparedTensors&) const = default;
};

/// How much of a state has which evidence.
struct Coverage {
    std::array<std::uint32_t, EvidenceKinds> counts {}; ///< tensors, by Evidence
    /// At most ten tensors that have less than a digest or root, those with the least evidence first.
    std::vector<std::string> weakest;

    std::uint32_t of(Evidence evidence) const noexcept { return counts[static_cast<std::size_t>(evidence)]; }
    std::uint32_t tensors() const noexcept;
    /// Every tensor has a digest, a root or the base, and at least one more than the base.
    bool isVerified() const noexcept;
    /// The same, where an anchor or a weak digest is enough.
    bool isConsistent() const noexcept;
    bool operator==(const Coverage&) const = default;
};

/// What vouches for the tensors that the replay itself compared with nothing.
struct EvidenceAround {
    Evidence start = Evidence::None; ///< for those of the complete state that it began with
    Evidence replayed = Evidence::None; ///< for what it changed
};
Coverage coverageOf(const ComparedTensors& compared, const EvidenceAround& around);

} // namespace deltascope

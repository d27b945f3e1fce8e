#pragma once

#include "deltascope/base/bytes.h"
#include "deltascope/engine/tensor.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace deltascope::support {

/// A small, fast generator whose numbers are the same on every machine (Steele, Lea, Flood 2014).
class SplitMix64 {
public:
    explicit SplitMix64(std::uint64_t seed) noexcept
        : m_state(seed)
    {
    }
    std::uint64_t next() noexcept
    {
        std::uint64_t z = (m_state += 0x9E3779B97F4A7C15ULL);
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EBULL;
        return z ^ (z >> 31);
    }

private:
    std::uint64_t m_state;
};

/// Distances between elements that change independently of each other with a given probability: the geometric
/// distribution, by a table and exact arithmetic so that every machine draws the same positions.
class GapSampler {
public:
    explicit GapSampler(double density);
    /// Unchanged elements in front of the next changed one; `limit` ends a search that has no end (density 0).
    std::uint64_t next(SplitMix64& random, std::uint64_t limit) const noexcept;

private:
    std::vector<std::uint64_t> m_thresholds; ///< [k]: (1 - density)^(k + 1) in units of 2^-32, descending
    std::array<std::uint16_t, 256> m_guide {}; ///< first table entry worth looking at, by the top 8 bits of a draw
};

/// What happened to one stretch of a tensor in one step.
struct ChangedWindow {
    std::size_t tensor = 0;
    std::uint64_t begin = 0, end = 0; ///< elements of the tensor
    std::span<const std::uint32_t> positions; ///< of changed elements, relative to `begin`, ascending
    std::span<const std::uint32_t> before, after; ///< their bit patterns, always different
};

/// Told about a step while it is made: every tensor in order of names, every window of it from front to back.
class ChangeSink {
public:
    virtual ~ChangeSink() = default;
    virtual void beginTensor(std::size_t) { }
    virtual void window(const ChangedWindow&) { }
    virtual void endTensor(std::size_t) { }
};

struct ModelOptions {
    std::uint64_t tensors = 1;
    std::uint64_t elements = 1; ///< of each tensor
    Dtype dtype = Dtype::BF16; ///< BF16 or F32
    double density = 0.01;
    std::uint64_t seed = 1;
    bool digests = true; ///< compute XXH3-128 of every tensor at every step
    std::string spaceFolder; ///< where a state too large for memory is kept, in a file without a name
};

/// A model of random weights that moves by single ulps at random places. Only windows of it are touched at a time; the
/// state lies in memory (small models) or in a mapped file.
class SyntheticModel {
public:
    static constexpr std::uint64_t WindowBytes = 4U << 20;

    explicit SyntheticModel(const ModelOptions& options);
    ~SyntheticModel();
    SyntheticModel(const SyntheticModel&) = delete;
    SyntheticModel& operator=(const SyntheticModel&) = delete;

    const std::vector<TensorInfo>& tensors() const noexcept { return m_tensors; } ///< by name
    std::uint64_t elements() const noexcept { return m_tensors.size() * m_options.elements; }
    ByteSpan bytesOf(std::size_t tensor) const noexcept
    {
        return m_state.subspan(tensor * m_tensorBytes, m_tensorBytes);
    }
    /// Lower-case hex of XXH3-128 over the tensor's present bytes; only with ModelOptions::digests.
    const std::string& digestOf(std::size_t tensor) const noexcept { return m_digests[tensor]; }

    /// Makes the changes of `step`; at least one element of the model changes unless the density is 0. Returns how many
    /// did.
    std::uint64_t advance(std::uint64_t step, ChangeSink& sink);

private:
    void fill(std::size_t tensor);
    void digest(std::size_t tensor);
    std::uint64_t advanceTensor(std::size_t tensor, std::uint64_t step, bool force, ChangeSink& sink);

    ModelOptions m_options;
    std::uint64_t m_elementBytes = 2;
    std::uint64_t m_tensorBytes = 0;
    GapSampler m_gaps;
    std::vector<TensorInfo> m_tensors;
    MutableByteSpan m_state;
    std::vector<std::string> m_digests;
    std::vector<std::uint32_t> m_positions, m_before, m_after;
};

} // namespace deltascope::support

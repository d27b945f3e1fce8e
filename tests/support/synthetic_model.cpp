#include "synthetic_model.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <fmt/format.h>
#include <stdexcept>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>

namespace deltascope::support {
namespace {

constexpr std::uint64_t MemoryStateLimit = 64U << 20;
constexpr std::size_t GapTableSize = 1024;

std::uint64_t mixed(std::uint64_t a, std::uint64_t b) { return SplitMix64(a ^ (b * 0xD6E8FEB86659FD93ULL)).next(); }

MutableByteSpan mapState(std::uint64_t bytes, const std::string& folder)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    int file = -1;
    if (bytes > MemoryStateLimit) {
        file = ::open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
        if (file < 0 || ::ftruncate(file, static_cast<off_t>(bytes)) != 0)
            throw std::system_error(errno, std::generic_category(), "temporary file in " + folder);
        flags = MAP_SHARED;
    }
    void* at = ::mmap(nullptr, std::max<std::uint64_t>(bytes, 1), PROT_READ | PROT_WRITE, flags, file, 0);
    if (at == MAP_FAILED)
        throw std::system_error(errno, std::generic_category(), "mapping the state");
    if (file >= 0)
        ::close(file);
    return { static_cast<std::byte*>(at), bytes };
}

/// The neighbor of a floating-point bit pattern, up or down in magnitude. Quiet NaNs stay NaNs, infinity and zero
/// have one neighbor each.
template <class Bits> Bits ulpStep(Bits bits, bool up, Bits infinity)
{
    const auto sign = static_cast<Bits>(~(static_cast<Bits>(~Bits { 0 }) >> 1));
    const auto magnitude = static_cast<Bits>(bits & ~sign);
    if (magnitude > infinity)
        return static_cast<Bits>(bits ^ 1U);
    if (magnitude == infinity)
        up = false;
    if (magnitude == 0 || magnitude + 1 == infinity)
        up = magnitude == 0;
    return static_cast<Bits>(up ? bits + 1 : bits - 1);
}

/// Random weights between 2^-12 and 2^-5, and a few patterns that float arithmetic would not survive. All are finite,
/// as the weights of a sound model are.
template <class Bits> void fillTyped(MutableByteSpan out, std::uint64_t seed)
{
    constexpr unsigned mantissaBits = sizeof(Bits) == 2 ? 7 : 23;
    constexpr unsigned width = sizeof(Bits) * 8;
    SplitMix64 random(seed);
    const std::size_t count = out.size() / sizeof(Bits);
    auto* at = reinterpret_cast<Bits*>(out.data());
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (i % (64 / width) == 0)
            word = random.next();
        const auto raw = static_cast<Bits>(word);
        word = width == 64 ? 0 : word >> (width % 64);
        const auto mantissa = static_cast<Bits>(raw & ((Bits { 1 } << mantissaBits) - 1));
        const auto exponent = static_cast<Bits>(115 + ((raw >> mantissaBits) & 7));
        const auto sign = static_cast<Bits>(raw >> (width - 1));
        at[i] = static_cast<Bits>((sign << (width - 1)) | (exponent << mantissaBits) | mantissa);
    }
    if (count < 16)
        return;
    at[1] = static_cast<Bits>(Bits { 1 } << (width - 1)); // -0
    at[2] = static_cast<Bits>(Bits { 1 } << mantissaBits); // the smallest normal number
    at[3] = static_cast<Bits>((Bits { 1 } << mantissaBits) - 1); // the largest denormal
    at[4] = 1; // the smallest denormal
}

/// Moves one window: draws positions from `next` on and records them. Returns the next position, which may lie behind.
template <class Bits>
std::uint64_t changeWindow(MutableByteSpan window, std::uint64_t begin, std::uint64_t next, std::uint64_t limit,
                           const GapSampler& gaps, SplitMix64& random, std::vector<std::uint32_t>& positions,
                           std::vector<std::uint32_t>& before, std::vector<std::uint32_t>& after)
{
    constexpr auto infinity = static_cast<Bits>(sizeof(Bits) == 2 ? 0x7F80U : 0x7F800000U);
    auto* at = reinterpret_cast<Bits*>(window.data());
    const std::uint64_t end = begin + window.size() / sizeof(Bits);
    while (next < end) {
        Bits& bits = at[next - begin];
        const Bits old = bits;
        bits = ulpStep<Bits>(old, (random.next() >> 63) != 0, infinity);
        positions.push_back(static_cast<std::uint32_t>(next - begin));
        before.push_back(old);
        after.push_back(bits);
        next += 1 + gaps.next(random, limit);
    }
    return next;
}

} // namespace

GapSampler::GapSampler(double density)
{
    if (!(density >= 0 && density <= 1))
        throw std::invalid_argument("density must lie between 0 and 1");
    double stay = 1;
    for (std::size_t k = 0; k < GapTableSize; ++k) {
        stay *= 1 - density;
        m_thresholds.push_back(static_cast<std::uint64_t>(stay * 4294967296.0));
    }
    // A draw u answers the number of thresholds above it; the guide says how many lie above every u with these top
    // bits.
    for (std::size_t top = 0; top < m_guide.size(); ++top) {
        const std::uint64_t largest = (top << 24) | 0xFFFFFFU;
        const auto behind = std::partition_point(m_thresholds.begin(), m_thresholds.end(),
                                                 [largest](std::uint64_t t) { return t > largest; });
        m_guide[top] = static_cast<std::uint16_t>(behind - m_thresholds.begin());
    }
}

std::uint64_t GapSampler::next(SplitMix64& random, std::uint64_t limit) const noexcept
{
    std::uint64_t gap = 0;
    while (gap < limit) {
        const std::uint64_t draw = random.next() >> 32;
        std::size_t k = m_guide[draw >> 24];
        while (k < m_thresholds.size() && m_thresholds[k] > draw)
            ++k;
        gap += k;
        if (k < m_thresholds.size())
            break; // otherwise the tail begins anew: the distribution has no memory
    }
    return gap;
}

SyntheticModel::SyntheticModel(const ModelOptions& options)
    : m_options(options)
    , m_gaps(options.density)
{
    if (options.dtype != Dtype::BF16 && options.dtype != Dtype::F32)
        throw std::invalid_argument("only BF16 and F32");
    m_elementBytes = bitsOf(options.dtype) / 8;
    m_tensorBytes = options.elements * m_elementBytes;
    for (std::uint64_t i = 0; i < options.tensors; ++i) {
        TensorInfo tensor { fmt::format("model.layers.{:04}.weight", i), options.dtype, { options.elements } };
        if (options.elements >= 64 && options.elements % 64 == 0)
            tensor.shape = { options.elements / 64, 64 };
        m_tensors.push_back(std::move(tensor));
    }
    m_state = mapState(m_tensorBytes * options.tensors, options.spaceFolder);
    m_digests.resize(m_tensors.size());
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        fill(i);
        digest(i);
    }
}

SyntheticModel::~SyntheticModel() { ::munmap(m_state.data(), std::max<std::size_t>(m_state.size(), 1)); }

void SyntheticModel::fill(std::size_t tensor)
{
    const MutableByteSpan bytes = m_state.subspan(tensor * m_tensorBytes, m_tensorBytes);
    const std::uint64_t seed = mixed(m_options.seed, tensor);
    if (m_elementBytes == 2)
        fillTyped<std::uint16_t>(bytes, seed);
    else
        fillTyped<std::uint32_t>(bytes, seed);
}

void SyntheticModel::digest(std::size_t tensor)
{
    if (!m_options.digests)
        return;
    const ByteSpan bytes = bytesOf(tensor);
    const XXH128_hash_t hash = XXH3_128bits(bytes.data(), bytes.size());
    m_digests[tensor] = fmt::format("{:016x}{:016x}", hash.high64, hash.low64);
}

std::uint64_t SyntheticModel::advance(std::uint64_t step, ChangeSink& sink)
{
    std::uint64_t changed = 0;
    for (std::size_t i = 0; i < m_tensors.size(); ++i) {
        // A step without any change is a special case of several layouts; this generator makes ordinary ones.
        const bool force = i + 1 == m_tensors.size() && changed == 0 && m_options.density > 0;
        changed += advanceTensor(i, step, force, sink);
    }
    return changed;
}

std::uint64_t SyntheticModel::advanceTensor(std::size_t tensor, std::uint64_t step, bool force, ChangeSink& sink)
{
    const std::uint64_t count = m_options.elements;
    SplitMix64 random(mixed(mixed(m_options.seed + 1, step), tensor));
    std::uint64_t next = m_gaps.next(random, count);
    if (force && next >= count && count > 0)
        next = random.next() % count;
    std::uint64_t changed = 0;
    sink.beginTensor(tensor);
    const std::uint64_t windowElements = WindowBytes / m_elementBytes;
    for (std::uint64_t begin = 0; begin < count; begin += windowElements) {
        const std::uint64_t end = std::min(count, begin + windowElements);
        m_positions.clear();
        m_before.clear();
        m_after.clear();
        const MutableByteSpan window =
            m_state.subspan(tensor * m_tensorBytes + begin * m_elementBytes, (end - begin) * m_elementBytes);
        const auto change = m_elementBytes == 2 ? changeWindow<std::uint16_t> : changeWindow<std::uint32_t>;
        next = change(window, begin, next, count, m_gaps, random, m_positions, m_before, m_after);
        changed += m_positions.size();
        sink.window({ tensor, begin, end, m_positions, m_before, m_after });
    }
    if (changed > 0)
        digest(tensor);
    sink.endTensor(tensor);
    return changed;
}

} // namespace deltascope::support

#pragma once

#include "deltascope/engine/device_module.h"
#include "kernels/arguments.h"

#include <algorithm>
#include <span>
#include <vector>

namespace deltascope::cuda {

/// A part of a pair, of whole blocks.
struct Piece {
    std::size_t pair; ///< which one
    std::uint64_t firstElement;
    PairJob job;
    std::uint64_t blocks;
};

inline std::uint64_t blocksOf(std::uint64_t elements) { return (elements + BlockElements - 1) / BlockElements; }

/// Cuts pairs into launches of at most `most` blocks, in order.
class Launches {
public:
    static constexpr std::size_t MostPieces = 1 << 14; // tables stay small where pairs are empty or tiny

    Launches(std::span<const DevicePair> pairs, std::uint32_t elementBytes, std::uint64_t most)
        : m_pairs(pairs)
        , m_elementBytes(elementBytes)
        , m_most(most)
    {
    }

    /// The pieces of the next launch; none at the end.
    std::vector<Piece> next()
    {
        std::vector<Piece> pieces;
        std::uint64_t blocks = 0;
        while (m_pair < m_pairs.size() && blocks < m_most && pieces.size() < MostPieces) {
            const DevicePair& pair = m_pairs[m_pair];
            const std::uint64_t left = pair.elements - m_element;
            const std::uint64_t elements = std::min(left, (m_most - blocks) * BlockElements);
            if (elements > 0) {
                const std::uint64_t at = m_element * m_elementBytes;
                const PairJob job { pair.before + at, pair.after + at, pair.out ? pair.out + at : 0, elements, blocks };
                pieces.push_back(Piece { m_pair, m_element, job, blocksOf(elements) });
                blocks += pieces.back().blocks;
            }
            m_element += elements;
            if (m_element == pair.elements) {
                ++m_pair;
                m_element = 0;
            }
        }
        return pieces;
    }

private:
    std::span<const DevicePair> m_pairs;
    std::uint64_t m_elementBytes;
    std::uint64_t m_most;
    std::size_t m_pair = 0;
    std::uint64_t m_element = 0;
};

inline std::uint64_t blocksOf(const std::vector<Piece>& pieces)
{
    return pieces.empty() ? 0 : pieces.back().job.firstBlock + pieces.back().blocks;
}

} // namespace deltascope::cuda

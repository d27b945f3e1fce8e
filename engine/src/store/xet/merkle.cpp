#include "store/xet/merkle.h"

#include "store/xet/keyed_hash.h"

#include <fmt/format.h>
#include <iterator>

namespace deltascope::xet {

void MerkleRoot::add(const Hash& hash, std::uint64_t bytes) { addAt(0, { hash, bytes }); }

void MerkleRoot::addAt(std::size_t level, const Node& node)
{
    constexpr std::size_t LeastNodes = 3;
    constexpr std::size_t MostNodes = 9;
    constexpr std::uint64_t EndsGroup = 4; // if the last word of a hash is a multiple of it
    if (level == m_levels.size())
        m_levels.emplace_back();
    std::vector<Node>& group = m_levels[level].group;
    group.push_back(node);
    const bool isCut = group.size() >= LeastNodes && node.hash.word(3) % EndsGroup == 0;
    if (!isCut && group.size() < MostNodes)
        return;
    const Node parent = parentOf(group);
    group.clear();
    m_levels[level].hasParents = true;
    addAt(level + 1, parent); // may move m_levels
}

Hash MerkleRoot::finish()
{
    for (std::size_t level = 0; level < m_levels.size(); ++level) {
        const std::vector<Node> rest = std::move(m_levels[level].group);
        if (rest.size() == 1 && !m_levels[level].hasParents)
            return rest.front().hash; // alone on its level: the root
        if (!rest.empty())
            addAt(level + 1, parentOf(rest));
    }
    return {};
}

MerkleRoot::Node MerkleRoot::parentOf(const std::vector<Node>& group)
{
    std::string text;
    std::uint64_t bytes = 0;
    for (const Node& node : group) {
        fmt::format_to(std::back_inserter(text), "{} : {}\n", node.hash.text(), node.bytes);
        bytes += node.bytes;
    }
    return { keyedHash(NodeKey, asBytes(text)), bytes };
}

Hash fileHashOfRoot(const Hash& root) noexcept { return keyedHash(FileKey, root.span()); }

} // namespace deltascope::xet

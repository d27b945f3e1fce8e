#include "voted_prefixes.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

constexpr std::size_t MostVoters = 256; ///< evenly spread over the names of B
constexpr std::size_t MostVotesOfOne = 8; ///< for names of A that end equally long alike
constexpr std::size_t LeastVotes = 3; ///< a name or two end alike by chance
constexpr std::size_t ClearlyAhead = 2; ///< times as many votes as the next pair

bool endsBefore(std::string_view x, std::string_view y)
{
    return std::lexicographical_compare(x.rbegin(), x.rend(), y.rbegin(), y.rend());
}

/// How long the whole parts are that both names end with: that of "layers.0.up" in "model.layers.0.up".
std::size_t commonEnd(std::string_view x, std::string_view y)
{
    const auto differ = std::mismatch(x.rbegin(), x.rend(), y.rbegin(), y.rend());
    const auto length = static_cast<std::size_t>(differ.first - x.rbegin());
    const auto beginsPart = [&](std::string_view name) {
        return length == name.size() || name[name.size() - length - 1] == '.';
    };
    if (beginsPart(x) && beginsPart(y))
        return length;
    const std::size_t dot = x.find('.', x.size() - length);
    return dot == std::string_view::npos ? 0 : x.size() - dot - 1;
}

using Prefixes = std::pair<std::string_view, std::string_view>;

/// Votes for the prefixes in front of what `name` has in common with the names of A that end most like it. `a`: by
/// their ends.
void vote(const std::vector<const TensorInfo*>& a, std::string_view name, std::map<Prefixes, std::size_t>& votes)
{
    const auto place =
        std::lower_bound(a.begin(), a.end(), name, [](const TensorInfo* tensor, std::string_view wanted) {
            return endsBefore(tensor->name, wanted);
        });
    std::size_t longest = 0;
    if (place != a.end())
        longest = commonEnd((*place)->name, name);
    if (place != a.begin())
        longest = std::max(longest, commonEnd((*std::prev(place))->name, name));
    if (longest == 0)
        return;
    std::vector<std::string_view> like; ///< they stand side by side
    for (auto at = place; at != a.end() && commonEnd((*at)->name, name) == longest; ++at)
        like.push_back((*at)->name);
    for (auto at = place; at != a.begin() && commonEnd((*std::prev(at))->name, name) == longest; --at)
        like.push_back((*std::prev(at))->name);
    if (like.size() > MostVotesOfOne) // "weight" tells nothing
        return;
    for (const std::string_view own : like)
        ++votes[{ own.substr(0, own.size() - longest), name.substr(0, name.size() - longest) }];
}

}

std::optional<PrefixMap> votedPrefixes(std::vector<const TensorInfo*> a, const std::vector<const TensorInfo*>& b)
{
    std::sort(a.begin(), a.end(),
              [](const TensorInfo* x, const TensorInfo* y) { return endsBefore(x->name, y->name); });
    std::map<Prefixes, std::size_t> votes;
    const std::size_t voters = std::min(b.size(), MostVoters);
    for (std::size_t i = 0; i < voters; ++i)
        vote(a, b[i * b.size() / voters]->name, votes);
    std::vector<std::pair<std::size_t, Prefixes>> order;
    for (const auto& [prefixes, count] : votes)
        order.emplace_back(count, prefixes);
    std::sort(order.rbegin(), order.rend());
    if (order.empty() || order[0].first < LeastVotes
        || (order.size() > 1 && order[0].first < ClearlyAhead * order[1].first))
        return std::nullopt;
    return PrefixMap { std::string(order[0].second.first), std::string(order[0].second.second) };
}

} // namespace deltascope

#include "deltascope/base/nearest.h"

#include <algorithm>
#include <cstdint>
#include <numeric>

namespace deltascope {

namespace {

constexpr std::size_t LongestTyped = 512;
constexpr std::size_t MostEdits = 12;
constexpr std::uint64_t MostCells = 1U << 28; ///< of tables of edits: well below a second

class Edits {
public:
    explicit Edits(std::string_view typed)
        : m_typed(typed)
        , m_stars(static_cast<std::size_t>(std::count(typed.begin(), typed.end(), '*')))
    {
        const std::size_t letters = typed.size() - m_stars;
        m_most = std::min({ MostEdits, std::max<std::size_t>(2, letters / 3), letters > 0 ? letters - 1 : 0 });
    }

    std::size_t most() const noexcept { return m_most; }
    std::uint64_t cells() const noexcept { return m_cells; }

    /// What leads to a word; something above `limit` if there are more.
    std::size_t to(std::string_view word, std::size_t limit)
    {
        const bool bounded = m_stars == 0;
        const std::size_t apart =
            word.size() > m_typed.size() ? word.size() - m_typed.size() : m_typed.size() - word.size();
        if (bounded && apart > limit)
            return limit + 1;
        const std::size_t band = bounded ? limit : word.size() + m_typed.size();
        m_row.resize(word.size() + 1);
        std::iota(m_row.begin(), m_row.end(), std::size_t(0));
        for (std::size_t i = 1; i <= m_typed.size(); ++i) {
            const std::size_t first = i > band ? i - band : 1;
            const std::size_t last = std::min(word.size(), i + band);
            if (nextRow(m_typed[i - 1], word, first, last, limit) > limit)
                return limit + 1;
        }
        return m_row.back();
    }

private:
    /// The least of the row for one more letter of what was typed. Cells outside of [first, last] are above the limit.
    std::size_t nextRow(char letter, std::string_view word, std::size_t first, std::size_t last, std::size_t limit)
    {
        m_cells += last - first + 2;
        std::size_t diagonal = m_row[first - 1];
        if (first > 1)
            m_row[first - 1] = limit + 1;
        else if (letter != '*')
            ++m_row[0];
        std::size_t least = m_row[first - 1];
        for (std::size_t j = first; j <= last; ++j) {
            const std::size_t above = m_row[j];
            m_row[j] = letter == '*' ? std::min(above, m_row[j - 1])
                                     : std::min({ above + 1, m_row[j - 1] + 1, diagonal + (letter != word[j - 1]) });
            diagonal = above;
            least = std::min(least, m_row[j]);
        }
        if (last < word.size())
            m_row[last + 1] = limit + 1;
        return least;
    }

    std::string_view m_typed;
    std::size_t m_stars;
    std::size_t m_most = 0;
    std::uint64_t m_cells = 0;
    std::vector<std::size_t> m_row;
};

}

std::vector<std::string> nearestWords(std::string_view typed, const std::vector<std::string_view>& words,
                                      std::size_t most)
{
    std::vector<std::string> nearest;
    if (typed.size() > LongestTyped)
        return nearest;
    Edits edits(typed);
    std::size_t fewest = edits.most() + 1;
    for (const std::string_view word : words) {
        if (edits.cells() > MostCells)
            break;
        const std::size_t count = edits.to(word, std::min(fewest, edits.most()));
        if (count > edits.most() || count > fewest)
            continue;
        if (count < fewest)
            nearest.clear();
        fewest = count;
        if (nearest.size() < most)
            nearest.emplace_back(word);
    }
    return nearest;
}

} // namespace deltascope

#include "pages/lineage/lineage_brackets.h"

#include <algorithm>
#include <bit>

namespace deltascope::desktop {

namespace {

constexpr int Bits = MostLanes * LineageBrackets::Tracks;

/// Of four times the length one further out.
int trackOf(std::size_t length)
{
    const int powerOfTwo = static_cast<int>(std::bit_width(std::max<std::size_t>(1, length))) - 1;
    return std::min(LineageBrackets::Tracks - 1, powerOfTwo / 2);
}

/// Brackets of one kind, each in constant time, however long it is.
class Drawing {
public:
    explicit Drawing(std::size_t items)
        : m_strokes(items)
    {
    }

    void diamond(std::size_t item) { m_strokes[item].diamond = true; }
    void bracket(std::size_t from, std::size_t to, int lane)
    {
        const auto bit = static_cast<std::size_t>(LineageBrackets::bit(lane, trackOf(to - from)));
        m_strokes[from].begins |= 1U << bit;
        m_strokes[to].ends |= 1U << bit;
        if (m_changes[bit].empty())
            m_changes[bit].assign(m_strokes.size() + 1, 0);
        ++m_changes[bit][from];
        --m_changes[bit][to];
    }

    std::vector<LineageBrackets::Strokes> result() &&
    {
        for (std::size_t bit = 0; bit < m_changes.size(); ++bit) {
            int lines = 0;
            for (std::size_t item = 0; !m_changes[bit].empty() && item < m_strokes.size(); ++item) {
                m_strokes[item].above |= lines > 0 ? 1U << bit : 0U;
                lines += m_changes[bit][item];
                m_strokes[item].below |= lines > 0 ? 1U << bit : 0U;
            }
        }
        return std::move(m_strokes);
    }

private:
    std::vector<LineageBrackets::Strokes> m_strokes;
    std::array<std::vector<int>, Bits> m_changes; ///< at each item, how many begin there less how many end
};

}

void LineageBrackets::build(const LineagePicture& picture, const std::vector<LineageItem>& items)
{
    Drawing usable(items.size());
    Drawing broken(items.size());
    const std::vector<app::LineageRowView>& rows = picture.rows();
    for (std::size_t at = 0; at < rows.size(); ++at) {
        const app::LineageRowView& row = rows[at];
        const std::optional<std::size_t> from = row.forms.empty() ? std::nullopt : itemOfRow(items, picture, at);
        if (!from)
            continue;
        for (const app::LineageFormView& form : row.forms) {
            // The way that is used is the line of the chain, but for a complete form of a delta.
            if (form.isUsed && !(form.complete && row.step->kind == "delta"))
                continue;
            Drawing& drawing = form.isUsable ? usable : broken;
            if (form.complete && items[*from].kind == LineageItem::Kind::Row)
                drawing.diamond(*from);
            const std::optional<std::size_t> to = form.base ? itemOfRow(items, picture, *form.base) : std::nullopt;
            if (to && *to > *from)
                drawing.bracket(*from, *to, LineageLines::laneOf(row));
        }
    }
    m_usable = std::move(usable).result();
    m_broken = std::move(broken).result();
}

} // namespace deltascope::desktop

#include "heat/heat_rows.h"

#include "heat/tensor_filter.h"
#include "look/format.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>

namespace deltascope::desktop {

namespace {

constexpr int ThinLine = 2;
constexpr int LeastBand = 18;
constexpr int MostBand = 48;
constexpr int OpenRow = 12;
constexpr int FewExperts = 3;

bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// "mlp.experts" and 7 of "mlp.experts.7.up_proj.weight".
struct Expert {
    std::string_view stem;
    int number = -1;
};

Expert expertOf(std::string_view name)
{
    static constexpr std::string_view Word = "experts.";
    const std::size_t at = name.find(Word);
    if (at == std::string_view::npos)
        return {};
    const std::size_t digits = at + Word.size();
    std::size_t end = digits;
    while (end < name.size() && isDigit(name[end]))
        ++end;
    if (end == digits || end == name.size() || name[end] != '.')
        return {};
    Expert expert { name.substr(0, digits - 1), 0 };
    std::from_chars(name.data() + digits, name.data() + end, expert.number);
    return expert;
}

/// What stands behind "PREFIX." in a name; the name itself if it does not.
std::string behind(const std::string& name, const std::string& prefix)
{
    const std::size_t at = prefix.empty() ? std::string::npos : name.find(prefix + '.');
    return at == std::string::npos ? name : name.substr(at + prefix.size() + 1);
}

/// "model." of "model.layers.0.mlp.weight": said by all names and so by none.
std::string commonStem(const std::vector<app::TensorRowView>& tensors)
{
    for (const app::TensorRowView& tensor : tensors) {
        if (!tensor.group.empty())
            return tensor.name.substr(0, tensor.name.find(tensor.group));
    }
    return {};
}

std::vector<RowNode> foldedExperts(const std::vector<app::TensorRowView>& tensors, std::vector<RowNode> nodes)
{
    std::vector<RowNode> folded;
    for (std::size_t at = 0; at < nodes.size();) {
        const Expert expert = expertOf(tensors[static_cast<std::size_t>(nodes[at].first)].name);
        std::size_t end = at + 1;
        int lowest = expert.number;
        int highest = expert.number;
        for (; expert.number >= 0 && end < nodes.size(); ++end) {
            const Expert next = expertOf(tensors[static_cast<std::size_t>(nodes[end].first)].name);
            if (next.stem != expert.stem)
                break;
            lowest = std::min(lowest, next.number);
            highest = std::max(highest, next.number);
        }
        if (end - at > FewExperts) {
            RowNode node;
            node.key = QStringLiteral("e:") + safeName(std::string(expert.stem));
            node.label = QStringLiteral("experts[%1…%2]").arg(lowest).arg(highest);
            node.first = nodes[at].first;
            node.count = static_cast<int>(end - at);
            node.children.assign(std::make_move_iterator(nodes.begin() + static_cast<std::ptrdiff_t>(at)),
                                 std::make_move_iterator(nodes.begin() + static_cast<std::ptrdiff_t>(end)));
            folded.push_back(std::move(node));
        } else {
            std::move(nodes.begin() + static_cast<std::ptrdiff_t>(at), nodes.begin() + static_cast<std::ptrdiff_t>(end),
                      std::back_inserter(folded));
        }
        at = end;
    }
    return folded;
}

void flatten(const std::vector<RowNode>& nodes, const QSet<QString>& open, int depth, std::vector<ViewRow>& rows)
{
    for (const RowNode& node : nodes) {
        ViewRow row;
        row.node = &node;
        row.depth = depth;
        row.first = node.first;
        row.count = node.count;
        row.height = OpenRow;
        if (node.children.empty()) {
            rows.push_back(row);
        } else if (!open.contains(node.key)) {
            row.kind = ViewRow::Kind::Band;
            row.height = std::clamp(node.count * ThinLine, LeastBand, MostBand);
            rows.push_back(row);
        } else {
            row.kind = ViewRow::Kind::Head;
            rows.push_back(row);
            flatten(node.children, open, depth + 1, rows);
        }
    }
}

double shareOf(const app::TensorRowView& tensor) { return meanShare(tensor, 1); }

}

QString tensorLabel(const std::string& name)
{
    constexpr std::string_view Weight = ".weight";
    const bool plain = name.size() > Weight.size() && std::string_view(name).ends_with(Weight);
    return safeName(plain ? name.substr(0, name.size() - Weight.size()) : name);
}

RowTree makeRowTree(const std::vector<app::TensorRowView>& tensors)
{
    RowTree tree;
    const std::string stem = commonStem(tensors);
    for (std::size_t at = 0; at < tensors.size();) {
        const std::string& group = tensors[at].group;
        std::size_t end = at + 1;
        while (end < tensors.size() && tensors[end].group == group)
            ++end;
        std::vector<RowNode> members;
        members.reserve(end - at);
        for (std::size_t i = at; i < end; ++i) {
            const std::string& name = tensors[i].name;
            const bool bare = group.empty() && !stem.empty() && name.starts_with(stem) && name.size() > stem.size();
            members.push_back(
                { {}, tensorLabel(bare ? name.substr(stem.size()) : behind(name, group)), static_cast<int>(i), 1, {} });
        }
        if (group.empty()) {
            std::move(members.begin(), members.end(), std::back_inserter(tree.nodes));
        } else {
            tree.nodes.push_back(
                { QStringLiteral("g:") + safeName(tensors[at].name.substr(0, tensors[at].name.find(group)) + group),
                  safeName(group), static_cast<int>(at), static_cast<int>(end - at),
                  foldedExperts(tensors, std::move(members)) });
        }
        at = end;
    }
    return tree;
}

std::vector<ViewRow> treeRows(const RowTree& tree, const QSet<QString>& open)
{
    std::vector<ViewRow> rows;
    flatten(tree.nodes, open, 0, rows);
    return rows;
}

std::vector<int> listedRows(const std::vector<app::TensorRowView>& tensors, const RowOptions& options,
                            std::uint64_t steps)
{
    const TensorFilter passes(options.filter, steps);
    std::vector<int> rows;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
        if (passes(tensors[i]))
            rows.push_back(static_cast<int>(i));
    }
    const auto at = [&](int row) -> const app::TensorRowView& { return tensors[static_cast<std::size_t>(row)]; };
    switch (options.sort) {
    case RowSort::Model:
        break;
    case RowSort::Total:
        std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return shareOf(at(a)) > shareOf(at(b)); });
        break;
    case RowSort::Last:
        std::stable_sort(rows.begin(), rows.end(),
                         [&](int a, int b) { return at(a).lastChanged.value_or(-1) > at(b).lastChanged.value_or(-1); });
        break;
    case RowSort::Name:
        std::stable_sort(rows.begin(), rows.end(), [&](int a, int b) { return at(a).name < at(b).name; });
        break;
    }
    return rows;
}

std::vector<ViewRow> listRows(const std::vector<int>& rows)
{
    std::vector<ViewRow> list;
    list.reserve(rows.size());
    for (const int row : rows) {
        ViewRow view;
        view.first = row;
        view.height = OpenRow;
        list.push_back(view);
    }
    return list;
}

std::vector<int> rowTops(const std::vector<ViewRow>& rows, double scale)
{
    std::vector<int> tops(rows.size() + 1, 0);
    for (std::size_t i = 0; i < rows.size(); ++i)
        tops[i + 1] = tops[i] + std::max(1, static_cast<int>(std::lround(rows[i].height * scale)));
    return tops;
}

int rowAt(const std::vector<int>& tops, double y)
{
    if (y < 0 || tops.size() < 2 || y >= tops.back())
        return -1;
    return static_cast<int>(std::upper_bound(tops.begin(), tops.end(), static_cast<int>(std::floor(y))) - tops.begin())
        - 1;
}

} // namespace deltascope::desktop

#pragma once

#include "deltascope/app/view/heat_view.h"

#include <QSet>
#include <QString>

#include <cstdint>
#include <memory>
#include <vector>

namespace deltascope::desktop {

enum class RowSort { Model, Total, Last, Name };

/// Which rows are shown.
struct RowOptions {
    RowSort sort = RowSort::Model;
    QString filter;

    bool operator==(const RowOptions&) const = default;
};

/// A stretch of matrix rows in model order. Without children: one tensor.
struct RowNode {
    QString key; ///< tells it from others while it is folded or not
    QString label; ///< safe to show
    int first = 0;
    int count = 0;
    std::vector<RowNode> children;
};

/// Tensors by layer, experts of a layer folded into one node. Immutable; any thread.
struct RowTree {
    std::vector<RowNode> nodes;
};

/// A row as it is seen.
struct ViewRow {
    enum class Kind {
        Band, ///< folded group: its tensors as thin lines
        Head, ///< open group: all in one
        Tensor,
    };
    Kind kind = Kind::Tensor;
    const RowNode* node = nullptr; ///< null in a sorted or filtered list
    int depth = 0;
    int first = 0; ///< matrix row
    int count = 1;
    int height = 0; ///< pixels at scale 1

    bool isGroup() const { return kind != Kind::Tensor; }
    /// Thin lines below each other: tensors of a band.
    int lines() const { return kind == Kind::Band ? count : 1; }
};

RowTree makeRowTree(const std::vector<app::TensorRowView>& tensors);
/// The rows of a tree; `open`: keys of unfolded nodes. The tree outlives them.
std::vector<ViewRow> treeRows(const RowTree& tree, const QSet<QString>& open);
/// Matrix rows that pass the filter, in the order wanted. `steps`: see TensorFilter. Slow for many tensors.
std::vector<int> listedRows(const std::vector<app::TensorRowView>& tensors, const RowOptions& options,
                            std::uint64_t steps);
std::vector<ViewRow> listRows(const std::vector<int>& rows);

/// Tops of the rows in pixels at a scale, and the end of the last one.
std::vector<int> rowTops(const std::vector<ViewRow>& rows, double scale);
/// Row at a height; -1: outside.
int rowAt(const std::vector<int>& tops, double y);
/// "mlp.up_proj" of "mlp.up_proj.weight", safe to show.
QString tensorLabel(const std::string& name);

} // namespace deltascope::desktop

#pragma once

#include "pages/lineage/lineage_brackets.h"
#include "pages/lineage/lineage_items.h"

#include <QAbstractTableModel>

namespace deltascope::desktop {

/// The list of versions, newest on top. Takes over new pictures without disturbing what stays: rows are inserted and
/// removed, and the model is reset only when most of it changes. GUI thread.
class LineageModel final : public QAbstractTableModel {
    Q_OBJECT

public:
    enum Column { Chain, Step, Kind, Age, Changed, Bytes, Verified, Refs, Restore, ColumnCount };

    using QAbstractTableModel::QAbstractTableModel;

    /// Null: no rows.
    void show(LineagePointer picture, std::optional<StepId> a, std::optional<StepId> b);
    void setMarks(std::optional<StepId> a, std::optional<StepId> b);
    void setOpen(std::size_t chain, bool open);
    void setAllOpen(bool open);
    void forgetFolding() { m_folding.forget(); }
    /// The newest chain stays open when another one becomes the newest.
    void keepNewestOpen();

    const LineagePointer& picture() const { return m_picture; }
    const std::vector<LineageItem>& items() const { return m_items; }
    const LineageItem& item(int row) const { return m_items[static_cast<std::size_t>(row)]; }
    const LineageLines& lines() const { return m_lines; }
    const LineageBrackets& brackets() const { return m_brackets; }
    const ShownPath& path() const { return m_path; } ///< of B
    std::optional<std::size_t> a() const { return m_a; } ///< row of the picture
    std::optional<std::size_t> b() const { return m_b; }
    bool isOpen(std::size_t chain) const;
    /// The version of a line; nothing for holes, folds and restarts.
    std::optional<StepId> versionOf(const QModelIndex& index) const;
    /// The line of a version, or of the fold that it is in.
    QModelIndex indexOf(const StepId& id) const;

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role) const override;

private:
    void change(LineagePointer picture);
    bool insertAndRemove(LineagePointer picture, std::vector<LineageItem> next);
    void findMarks();

    LineagePointer m_picture;
    LineageFolding m_folding;
    std::vector<LineageItem> m_items;
    LineageLines m_lines;
    LineageBrackets m_brackets;
    ShownPath m_path;
    std::optional<StepId> m_aId, m_bId;
    std::optional<std::size_t> m_a, m_b;
};

} // namespace deltascope::desktop

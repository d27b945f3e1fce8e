#pragma once

#include "widgets/query.h"

#include <QAbstractTableModel>
#include <QSortFilterProxyModel>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::desktop {

/// Rows of a comparison, one per tensor. What they say comes from functions that own what they read. GUI thread.
class DiffTable final : public QAbstractTableModel {
    Q_OBJECT

public:
    static constexpr int SortRole = Qt::UserRole;

    struct Column {
        QString title;
        std::function<QString(std::size_t row)> text;
        std::function<double(std::size_t row)> key; ///< null: sorted by text
        bool number = true;
        bool share = false; ///< the key is from 0 to 1
        QString tip {}; ///< of the header
    };
    /// What a filter may ask of a row besides its name.
    enum Field { Dtype, Elements, Different, Touched };
    static std::vector<QueryField> fields();

    struct Content {
        std::size_t rows = 0;
        std::vector<Column> columns;
        int sortColumn = 0;
        Qt::SortOrder sortOrder = Qt::AscendingOrder;
        std::function<std::string(std::size_t row)> name;
        std::function<QString(std::size_t row)> tip; ///< null: the name
        std::function<std::string(std::size_t row)> dtype; ///< null: not known
        std::function<std::optional<double>(std::size_t row, Field field)> number; ///< null: not known
    };

    using QAbstractTableModel::QAbstractTableModel;
    void setContent(Content content);
    const Content& content() const { return m_content; }
    std::string nameOf(int row) const { return m_content.name(static_cast<std::size_t>(row)); }
    int rowOf(const std::string& name) const; ///< -1: none

    int rowCount(const QModelIndex& parent = {}) const override;
    int columnCount(const QModelIndex& parent = {}) const override;
    QVariant data(const QModelIndex& index, int role = Qt::DisplayRole) const override;
    QVariant headerData(int section, Qt::Orientation orientation, int role = Qt::DisplayRole) const override;

private:
    Content m_content;
};

/// The rows that pass a filter, sorted.
class DiffRows final : public QSortFilterProxyModel {
    Q_OBJECT

public:
    explicit DiffRows(DiffTable& table, QObject* parent = nullptr);
    void setQuery(const Query& query);

protected:
    bool filterAcceptsRow(int row, const QModelIndex& parent) const override;

private:
    DiffTable& m_table;
    Query m_query;
};

} // namespace deltascope::desktop

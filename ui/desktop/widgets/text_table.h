#pragma once

#include <QString>
#include <QStringList>
#include <QTableView>
#include <QVariant>

#include <optional>
#include <vector>

namespace deltascope::desktop {

struct TextColumn {
    QString title;
    bool number = false; ///< ends where its title ends
    bool wide = false; ///< takes the room that is left; at most one
    bool share = false; ///< has TextRow::bar beside its text
};

struct TextRow {
    QStringList cells;
    QString tip;
    std::optional<double> bar; ///< from 0 to 1
    bool bad = false; ///< something is wrong with it
    QVariant subject; ///< what the row is about, for those who ask
};

/// A table of texts in which one row can be chosen. GUI thread.
class TextTable final : public QTableView {
    Q_OBJECT

public:
    /// `name`: for those who hear it.
    TextTable(const QString& name, std::vector<TextColumn> columns, QWidget* parent = nullptr);

    void setRows(std::vector<TextRow> rows);
    const std::vector<TextRow>& rows() const;
    const TextRow* currentRow() const; ///< null: none
    /// No higher than `rows` of them, and no higher than those that it has.
    void limitHeight(int rows);
    QString tabbedText() const; ///< titles and rows, separated by tabs

private:
    class Model;
    void fitColumns();
    void fitHeight();

    Model* m_model;
    int m_mostRows = 0; ///< 0: as high as there is room
};

} // namespace deltascope::desktop

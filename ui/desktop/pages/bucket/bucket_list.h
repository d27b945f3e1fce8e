#pragma once

#include "pages/bucket/bucket_model.h"
#include "widgets/flat_list.h"

namespace deltascope::desktop {

/// The list of a folder. Enter opens, Backspace goes up, Space looks, and what is typed filters. GUI thread.
class BucketList final : public FlatList {
    Q_OBJECT

public:
    explicit BucketList(QWidget* parent = nullptr);

    BucketModel& objects() { return *m_model; }
    /// Takes over a newer picture; selection and place stay.
    void showPicture(BucketPointer picture);
    void setStep(std::optional<std::int64_t> step); ///< B: its objects are bold
    std::optional<std::int64_t> step() const { return m_step; }
    const app::ListingRowView* current() const; ///< null: none

signals:
    void opened(const QModelIndex& index); ///< Enter or a double click
    void upWanted();
    void previewWanted(); ///< Space
    void typed(const QString& text);
    void currentMoved();
    void menuWanted(const QModelIndex& index, const QPoint& global);
    void sortWanted(int column, bool descending);

protected:
    void keyPressEvent(QKeyEvent* event) override;
    void contextMenuEvent(QContextMenuEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;
    void currentChanged(const QModelIndex& current, const QModelIndex& previous) override;

private:
    BucketModel* m_model;
    std::optional<std::int64_t> m_step;
    bool m_busy = false; ///< rows are being exchanged
};

} // namespace deltascope::desktop

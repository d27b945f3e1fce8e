#pragma once

#include "bridge/calculation.h"
#include "pages/bucket/bucket_picture.h"
#include "pages/page.h"

#include <QElapsedTimer>

class QLabel;
class QMenu;
class QPushButton;
class QSplitter;

namespace deltascope::desktop {

class BucketList;
class BucketPath;
class BucketPreview;
class BucketTotals;
class FilterField;

/// Objects as they lie in the bucket, folder by folder. GUI thread.
class BucketPage final : public Page {
    Q_OBJECT

public:
    explicit BucketPage(PageContext& context, QWidget* parent = nullptr);

    QLineEdit* filterField() override;
    QAbstractItemView* mainList() override;
    QString exportName() const override { return QStringLiteral("objects.csv"); }
    QByteArray exportText() override; ///< the rows that are shown
    std::optional<StepId> stepAtCursor() override;

    BucketList& list() { return *m_list; }
    BucketPreview& preview() { return *m_preview; }
    const std::string& folder() const { return m_wish.prefix; }
    void openFolder(const std::string& prefix);
    void sortBy(int column, bool descending); ///< not undoable by itself

protected:
    void refresh() override;
    void cursorMoved() override;
    void runOpened() override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void list(bool again);
    void calculate();
    void take(const BucketPointer& picture);
    void showListed();
    void showError(const QString& text);
    void openRow(const QModelIndex& index);
    void goUp();
    void togglePreview();
    void setPreview(bool shown);
    void fillMenu(QMenu& menu, const app::ListingRowView& row);
    void addCopies(QMenu& menu, const app::ListingRowView& row);
    std::optional<StepId> stepOf(const app::ListingRowView& row) const;
    QByteArray contentMark() const; ///< changes when objects may have come or gone

    BucketWish m_wish;
    std::shared_ptr<const app::ListingView> m_listing; ///< null: not listed yet
    bool m_listingNow = false;
    bool m_listAgain = false; ///< something came while the last listing ran
    QByteArray m_listedMark; ///< contentMark() of the last listing
    bool m_previewChosen = false; ///< shown or hidden by the user, not by the width
    quint64 m_generation = 0; ///< of the run that is open
    QElapsedTimer m_listedAt;
    QTimer m_listSoon;
    QTimer m_clock; ///< ages grow
    Calculation<BucketPointer> m_calculation;

    BucketPath* m_path;
    FilterField* m_filter;
    BucketList* m_list;
    QLabel* m_listed;
    QPushButton* m_more;
    QLabel* m_error;
    QPushButton* m_retry;
    QWidget* m_errorBar;
    BucketTotals* m_totals;
    BucketPreview* m_preview;
};

} // namespace deltascope::desktop

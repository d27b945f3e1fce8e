#pragma once

#include "deltascope/app/view/listing_page.h"

#include <QWidget>

class QLabel;

namespace deltascope::desktop {

/// What the whole source holds, and how much of it are anchors. GUI thread.
class BucketTotals final : public QWidget {
    Q_OBJECT

public:
    explicit BucketTotals(QWidget* parent = nullptr);
    void showTotals(const app::ListingTotals& totals);

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    class Share;
    void showShare();

    QLabel* m_text;
    QLabel* m_anchors;
    Share* m_share;
    QLabel* m_deltas;
    bool m_empty = true;
};

} // namespace deltascope::desktop

#pragma once

#include <QPointer>
#include <QWidget>

namespace deltascope::desktop {

/// The middle of the window: one page at a time fills it. What is laid out anew within a page stays within it; were
/// this a layout of Qt, each label that appears would have the whole window laid out before it returns. GUI thread.
class PageStack final : public QWidget {
    Q_OBJECT

public:
    using QWidget::QWidget;

    void add(QWidget* page); ///< takes it; hidden until it is chosen
    /// Shows a page in the place of the one before. If that had the focus, somebody else gets it.
    void choose(QWidget* page);

    QSize minimumSizeHint() const override; ///< docks leave so much; of what needs more, pages cut or scroll it

protected:
    void resizeEvent(QResizeEvent* event) override;

private:
    QPointer<QWidget> m_page;
};

} // namespace deltascope::desktop

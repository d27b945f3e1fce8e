#pragma once

#include <QStyledItemDelegate>

namespace deltascope::desktop {

/// A share as a number and a bar beside it, where ShareRole has one.
class ShareDelegate final : public QStyledItemDelegate {
    Q_OBJECT

public:
    static constexpr int ShareRole = Qt::UserRole + 1; ///< the length of the bar, from 0 to 1

    using QStyledItemDelegate::QStyledItemDelegate;

    void paint(QPainter* painter, const QStyleOptionViewItem& option, const QModelIndex& index) const override;
    QSize sizeHint(const QStyleOptionViewItem& option, const QModelIndex& index) const override;
};

} // namespace deltascope::desktop

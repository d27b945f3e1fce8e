#pragma once

#include <QLabel>

namespace deltascope::desktop {

/// One line that takes the room it gets and ends in "…" if that is too little. The whole text belongs into its tool
/// tip.
class ElidedLabel final : public QLabel {
    Q_OBJECT

public:
    explicit ElidedLabel(const char* role, QWidget* parent = nullptr); ///< one of the roles of look.h

protected:
    void paintEvent(QPaintEvent* event) override;
};

} // namespace deltascope::desktop

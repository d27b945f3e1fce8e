#pragma once

#include "deltascope/app/view/reads_view.h"

#include <QLabel>

namespace deltascope::desktop {

/// What the reader of a result must know about the bytes that it was made from, a line each; hidden where that is
/// nothing. GUI thread.
class ReadsNote final : public QLabel {
    Q_OBJECT

public:
    explicit ReadsNote(QWidget* parent = nullptr);

    void setReads(const app::ReadsView& reads);
};

} // namespace deltascope::desktop

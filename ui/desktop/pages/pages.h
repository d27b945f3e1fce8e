#pragma once

#include "pages/page.h"

#include <QKeySequence>

#include <memory>
#include <vector>

namespace deltascope::desktop {

/// A page of the activity bar.
struct PageInfo {
    QString id; ///< "heatmap"
    QString title;
    QString icon;
    Page* (*make)(PageContext& context, QWidget* parent); ///< called on the first visit
};

/// In the order of the activity bar and of Ctrl+1, Ctrl+2, …
const std::vector<PageInfo>& pageInfos();

} // namespace deltascope::desktop

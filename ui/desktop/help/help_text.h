#pragma once

#include <QString>

#include <utility>
#include <vector>

namespace deltascope::desktop {

/// What the help says about a page, beside the keys of its acts.
struct HelpText {
    QString shows; ///< what stands on it, in a few sentences
    std::vector<std::pair<QString, QString>> keys; ///< of the page itself: keys and what they do
};

/// Of a page of pages/pages.h; of the welcome page if `page` is empty.
HelpText helpText(const QString& page);

} // namespace deltascope::desktop

#include "pages/pages.h"

#include "pages/alerts/alerts_page.h"
#include "pages/bucket/bucket_page.h"
#include "pages/diff/diff_page.h"
#include "pages/heatmap/heatmap_page.h"
#include "pages/journal/journal_page.h"
#include "pages/lineage/lineage_page.h"
#include "pages/live/live_page.h"
#include "pages/tensors/tensors_page.h"
#include "pages/timeline/timeline_page.h"

#include <QCoreApplication>

namespace deltascope::desktop {

namespace {

template <class T> PageInfo infoOf(const char* id, const char* title, const char* icon)
{
    return { QString::fromLatin1(id), QCoreApplication::translate("Pages", title), QString::fromLatin1(icon),
             [](PageContext& context, QWidget* parent) -> Page* { return new T(context, parent); } };
}

}

const std::vector<PageInfo>& pageInfos()
{
    static const std::vector<PageInfo> infos {
        infoOf<LivePage>("live", QT_TRANSLATE_NOOP("Pages", "Live"), "pulse"),
        infoOf<HeatmapPage>("heatmap", QT_TRANSLATE_NOOP("Pages", "Heatmap"), "grid"),
        infoOf<TimelinePage>("timeline", QT_TRANSLATE_NOOP("Pages", "Timeline"), "bars"),
        infoOf<LineagePage>("lineage", QT_TRANSLATE_NOOP("Pages", "Lineage"), "branch"),
        infoOf<BucketPage>("bucket", QT_TRANSLATE_NOOP("Pages", "Bucket"), "bucket"),
        infoOf<TensorsPage>("tensors", QT_TRANSLATE_NOOP("Pages", "Tensors"), "layers"),
        infoOf<DiffPage>("diff", QT_TRANSLATE_NOOP("Pages", "Diff"), "diff"),
        infoOf<AlertsPage>("alerts", QT_TRANSLATE_NOOP("Pages", "Alerts"), "flag"),
        infoOf<JournalPage>("journal", QT_TRANSLATE_NOOP("Pages", "Journal"), "list"),
    };
    return infos;
}

} // namespace deltascope::desktop

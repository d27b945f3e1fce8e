#include "searched_store.h"

#include "store/listed_store.h"

#include <fmt/format.h>

namespace deltascope {

SearchedStore::SearchedStore(std::shared_ptr<const ObjectStore> below, LayoutRegistry layouts, SearchLimits limits)
    : ReadOnlyStore(below)
    , m_below(std::move(below))
    , m_layouts(std::move(layouts))
    , m_limits(limits)
{
}

Result<ListPage> SearchedStore::list(const ListRequest& request, TaskContext& task) const
{
    DS_TRY(ListPage page, ReadOnlyStore::list(request, task));
    if (m_isFound || !page.more)
        return page;
    m_seen.insert(m_seen.end(), page.objects.begin(), page.objects.end());
    if (m_seen.size() >= m_limits.entries || std::chrono::steady_clock::now() - m_begun >= m_limits.time)
        DS_CHECK(expectRun(task));
    return page;
}

Result<void> SearchedStore::expectRun(TaskContext& task) const
{
    ListedStore listed(m_below);
    listed.add(m_seen);
    Result<std::shared_ptr<const Layout>> layout = m_layouts.detect(listed, m_seen, task);
    if (!layout && layout.error().code == Code::Layout) {
        Error error = std::move(layout.error());
        error.text = fmt::format("the search for a run ended after {} objects, at {}: {}", m_seen.size(),
                                 m_seen.back().key, error.text);
        error.action = "Name the folder of the run, or its layout with --layout: then all of it is listed.";
        return fail(std::move(error));
    }
    if (!layout)
        return fail(std::move(layout.error()));
    m_isFound = true;
    m_seen.clear();
    return {};
}

} // namespace deltascope

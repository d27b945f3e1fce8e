#include "choose_layout.h"

#include "store/listed_store.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace deltascope {

namespace {

std::size_t depthOf(const LayoutRegistry& layouts)
{
    std::size_t depth = DefaultSearchDepth;
    for (const std::shared_ptr<const Layout>& layout : layouts.all())
        depth = layout->searchDepth() == DefaultSearchDepth ? depth : layout->searchDepth();
    return depth;
}

/// What the catalog keeps the answer for.
std::string probeOf(const std::vector<ObjectInfo>& listing, const LayoutRegistry& layouts)
{
    const std::size_t depth = depthOf(layouts);
    std::string probe = depth == DefaultSearchDepth ? std::string() : fmt::format("depth {}\n", depth);
    for (std::size_t i = 0; i < std::min<std::size_t>(listing.size(), 4); ++i)
        probe += listing[i].key + '|' + listing[i].identity + '\n';
    return probe;
}

}

LayoutRegistry layoutsOf(const Workbench& bench, std::size_t searchDepth)
{
    if (searchDepth == DefaultSearchDepth)
        return bench.layouts;
    const LayoutRegistry searching = builtinLayouts(searchDepth);
    LayoutRegistry layouts;
    for (const std::shared_ptr<const Layout>& layout : bench.layouts.all()) {
        const std::shared_ptr<const Layout> other = searching.find(layout->word());
        layouts.add(other ? other : layout);
    }
    return layouts;
}

Result<std::shared_ptr<const Layout>> chooseLayout(Workbench& bench, const LayoutRegistry& layouts,
                                                   const std::shared_ptr<const ObjectStore>& store,
                                                   const std::vector<ObjectInfo>& listing, const std::string& wanted,
                                                   TaskContext& task)
{
    if (!wanted.empty()) {
        if (std::shared_ptr<const Layout> layout = layouts.find(wanted))
            return layout;
        std::vector<std::string_view> words;
        for (const auto& layout : layouts.all())
            words.push_back(layout->word());
        return fail(Code::Layout,
                    fmt::format("no layout is called {}; this build reads {}", wanted, fmt::join(words, ", ")),
                    store->uri());
    }
    const std::string probe = probeOf(listing, layouts);
    if (bench.catalog) { // a cache: that it cannot be read now means that nothing is known
        if (const auto known = bench.catalog->layoutOf(store->uri(), probe); known && *known) {
            if (std::shared_ptr<const Layout> layout = layouts.find(**known))
                return layout;
        }
    }
    ListedStore listed(store);
    listed.add(listing);
    DS_TRY(std::shared_ptr<const Layout> layout, layouts.detect(listed, listing, task));
    if (bench.catalog) // a cache: that it cannot be written must not stop the work
        static_cast<void>(bench.catalog->putLayout(store->uri(), probe, std::string(layout->word())));
    return layout;
}

} // namespace deltascope

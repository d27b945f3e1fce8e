#pragma once

#include "deltascope/engine/forwarding_store.h"
#include "deltascope/engine/layout.h"

#include <chrono>
#include <cstddef>

namespace deltascope {

/// How far a source is listed in which no run was found yet.
struct SearchLimits {
    std::size_t entries = 100'000;
    std::chrono::milliseconds time { 10'000 };
};

/// Lists a store until the limits are reached; then only if a layout recognizes what was listed up to there. For one
/// listing, on one thread. Errors of list(): also Layout (the search ended).
class SearchedStore final : public ReadOnlyStore {
public:
    SearchedStore(std::shared_ptr<const ObjectStore> below, LayoutRegistry layouts, SearchLimits limits = {});

    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override;

private:
    Result<void> expectRun(TaskContext& task) const;

    const std::shared_ptr<const ObjectStore> m_below;
    const LayoutRegistry m_layouts;
    const SearchLimits m_limits;
    const std::chrono::steady_clock::time_point m_begun = std::chrono::steady_clock::now();
    mutable std::vector<ObjectInfo> m_seen;
    mutable bool m_isFound = false;
};

} // namespace deltascope

#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <string>
#include <vector>

namespace deltascope {

/// The layouts of a workbench, those that search doing it so deep.
LayoutRegistry layoutsOf(const Workbench& bench, std::size_t searchDepth);

/// The layout of `layouts` that is called `wanted`; empty: the one that the source has, which the catalog may know.
/// Errors: Layout, those of the store.
Result<std::shared_ptr<const Layout>> chooseLayout(Workbench& bench, const LayoutRegistry& layouts,
                                                   const std::shared_ptr<const ObjectStore>& store,
                                                   const std::vector<ObjectInfo>& listing, const std::string& wanted,
                                                   TaskContext& task);

} // namespace deltascope

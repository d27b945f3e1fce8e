#pragma once

#include "deltascope/engine/catalog.h"

#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

// SQLite does not notice when a bit of a value flips in its file. Every row carries a digest of its own content; a row
// whose seal is broken is as good as absent.

std::string seal(std::string_view content);
std::string sealOf(const std::string& source, const std::string& name, const Catalog::KnownVersion& version);
std::string sealOf(const std::string& source, const std::string& name, const Catalog::KnownFacts& known);
std::string sealOf(const std::string& chain, const std::vector<TensorCount>& counts);

} // namespace deltascope

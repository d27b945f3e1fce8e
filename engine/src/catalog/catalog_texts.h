#pragma once

#include "deltascope/engine/lineage.h"

#include <string>
#include <vector>

namespace deltascope {

// What rows of the catalog hold as JSON beside their columns. Texts that are not understood read as nothing.

std::string notesToText(const std::vector<Error>& notes);
std::vector<Error> notesFromText(const std::string& text);

/// What few versions have; empty for most.
std::string extrasOf(const VersionSummary& summary);
void addExtras(VersionSummary& summary, const std::string& text);

/// What few facts have; empty for most.
std::string detailOf(const VersionFacts& facts);
void addDetail(VersionFacts& facts, const std::string& text);

} // namespace deltascope

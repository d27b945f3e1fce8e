#pragma once

#include "sqlite.h"

#include <chrono>
#include <string>

namespace deltascope {

/// The source in whose name a file of an older version covers all sources.
constexpr const char* EverySource = "*";

/// Opens the file of Records, makes it, or brings an older one to the schema of today. Errors: those of Records::open()
/// without a place.
Result<sqlite::Database> openRecordsFile(const std::string& path, std::chrono::milliseconds patience);

} // namespace deltascope

#pragma once

#include "deltascope/engine/catalog.h"

#include <cstdint>
#include <string>

namespace deltascope {

/// Seals of the rows of Records: SQLite does not notice when a bit of a value flips in its file.
std::string sealOfSight(const std::string& source, const std::string& key, const Records::Sight& sight);
std::string sealOfEvent(const std::string& source, std::int64_t seenUs, const std::string& what);
std::string sealOfContinuity(const std::string& source, const std::string& question, const Records::Continuity& answer);
std::string sealOfAccepted(const std::string& source, const std::string& finding, std::int64_t acceptedUs);
std::string sealOfMirror(const std::string& source, const std::string& address, std::int64_t namedUs);
std::string sealOfNumber(const std::string& source, const std::string& version, std::int64_t number);

} // namespace deltascope

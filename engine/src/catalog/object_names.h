#pragma once

#include <string>
#include <vector>

namespace deltascope {

/// A name of an object: the source that was opened, as ObjectStore::uri(), and the key in it.
struct ObjectName {
    std::string source;
    std::string key;

    bool operator==(const ObjectName&) const = default;
};

/// Every name of one object, whichever folder around it is opened as a source: "run" and "deltas/x" is "run/deltas" and
/// "x" as well; and where it is a link, or below one, every name of the file that it leads to. The name that was given
/// stands first.
std::vector<ObjectName> namesOf(const std::string& source, const std::string& key);

} // namespace deltascope

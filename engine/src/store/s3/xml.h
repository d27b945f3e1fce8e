#pragma once

#include "deltascope/base/result.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope::s3 {

/// One element of a small document. Attributes and namespaces are dropped.
struct XmlElement {
    std::string name;
    std::string text; ///< all character data directly inside
    std::vector<XmlElement> children;

    /// The first child of this name, or null.
    const XmlElement* child(std::string_view childName) const noexcept;
    /// Text of the first child of this name; empty without one.
    std::string_view textOf(std::string_view childName) const noexcept;
};

/// Reads one document in UTF-8. A document type, entities of its own, more than 200,000 elements or 16 levels are
/// refused. Errors: Hostile.
Result<XmlElement> parseXml(std::string_view text);

/// For what we send: '<', '>', '&', quotes and control characters.
std::string xmlEscaped(std::string_view text);

} // namespace deltascope::s3

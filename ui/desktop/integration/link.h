#pragma once

#include <QString>

#include <optional>

namespace deltascope::desktop {

/// What an address of the scheme deltascope: names: a source, and a step of it if it ends with "@STEP" or
/// "@EPOCH:STEP".
struct Link {
    QString source;
    std::optional<int> epoch; ///< nothing: the newest that has the step
    std::optional<std::int64_t> step;
};

/// "deltascope:///data/run@0:12", "deltascope:hf://buckets/acme/run". Nothing for anything else. Other programs write
/// it, so nothing in it is trusted.
std::optional<Link> parseLink(const QString& address);

} // namespace deltascope::desktop

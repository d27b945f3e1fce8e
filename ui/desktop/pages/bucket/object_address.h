#pragma once

#include <QString>

#include <optional>
#include <string>

namespace deltascope::desktop {

/// Ways to name one object outside of this program. Pure.
struct ObjectAddress {
    QString uri; ///< "file:///run/deltas/step_000012.safetensors"
    std::optional<QString> path; ///< of a folder on this machine
    std::optional<QString> aws; ///< aws s3 cp …
    std::optional<QString> hf; ///< hf buckets cp …
};

/// `source`: canonical URI of a run. Nothing for a key whose bytes are no text: what is copied would be another name.
std::optional<ObjectAddress> objectAddress(const std::string& source, const std::string& key);

/// A word for a POSIX shell.
QString shellWord(const QString& word);

} // namespace deltascope::desktop

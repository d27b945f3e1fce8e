#pragma once

#include "deltascope/app/acts.h"
#include "deltascope/app/service.h"

#include <string>
#include <vector>

namespace deltascope::app {

// What a person types to get the same as a face shows.

/// One word as a shell wants it. With control characters: as $'…', which bash, zsh, ksh and POSIX of 2024 know.
std::string quoted(const std::string& text);
/// A path or address that stands where options may stand: one that begins with a dash is none.
std::string quotedPath(const std::string& path);
/// The words that --layout takes, in the order of detection.
std::vector<std::string> layoutWords();
/// How a source is read, beginning with a space; empty for what is found without options.
std::string sourceOptions(const SourceRequest& source);
/// The command that publishes a step into a run.
std::string publishCommand(const SourceRequest& into, const PublishArgs& args);

} // namespace deltascope::app

#pragma once

#include "deltascope/app/view/run_view.h"

#include "io/json_writer.h"
#include "problem_description.h"

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace deltascope::app {

// What all documents have in common.

template <class T> ordered_json orNull(const std::optional<T>& value)
{
    return value ? ordered_json(*value) : ordered_json(nullptr);
}

/// One line; invalid UTF-8 is replaced.
inline std::string dump(const ordered_json& json)
{
    return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

/// A string as dump() writes it; quick for names.
std::string dumpText(const std::string& text);

} // namespace deltascope::app

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

} // namespace deltascope::app

#pragma once

#include "acts/report.h"
#include "view/io/json_reader.h"
#include "view/io/json_writer.h"
#include "view/io/schema_writer.h"

#include <memory>
#include <variant>

namespace deltascope::app {

/// `View`: one of JobResult, with a description.
template <class View> ActReport reportOf()
{
    return { [](const JobResult& result) -> ordered_json {
                const auto* const view = std::get_if<std::shared_ptr<const View>>(&result);
                return view ? written(**view) : ordered_json(nullptr);
            },
             [](const json& from) -> JobResult { return std::make_shared<const View>(readAs<View>(from)); },
             [](Schema& schema) { return addTo(schema, View()).front(); } };
}

} // namespace deltascope::app

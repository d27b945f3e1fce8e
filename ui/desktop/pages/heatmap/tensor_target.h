#pragma once

#include "deltascope/app/service.h"
#include "pages/page.h"

#include <optional>
#include <string>

namespace deltascope::desktop {

/// A tensor at a step of a followed run, and what it is compared with.
struct TensorTarget {
    QString run;
    StepId step;
    std::optional<StepId> against; ///< nothing: what the step builds on
    std::string tensor;

    bool operator==(const TensorTarget&) const = default;

    /// Nothing while the run is not followed.
    std::optional<app::TensorRequest> request(ServiceBridge& bridge) const
    {
        const std::optional<app::SourceRequest> source = bridge.monitor().sourceOf(run.toStdString());
        if (!source)
            return std::nullopt;
        app::TensorRequest request;
        request.version = { *source, step.address().toStdString() };
        if (against)
            request.against = against->address().toStdString();
        request.tensor = tensor;
        return request;
    }
};

} // namespace deltascope::desktop

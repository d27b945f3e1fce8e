#pragma once

#include "acts/plan_sheet.h"

#include <vector>

namespace deltascope::desktop {

/// A sheet for any act, made from its fields. GUI thread.
class ActSheet final : public PlanSheet {
    Q_OBJECT

public:
    /// `known`: what is filled in already.
    ActSheet(ServiceBridge& bridge, const RunPointer& run, app::ActInfo act, const app::ActArgs& known,
             QWidget* parent);

protected:
    app::ActRequest request() const override;
    QString missing() const override;

private:
    /// A field and how it is read; nothing: it is left out, so that it has its standard value.
    struct Entry {
        app::ActField field;
        std::function<std::optional<app::ActValue>()> value;
    };
    QWidget* addField(const app::ActField& field, const app::ActArgs& known);

    app::ActInfo m_act;
    std::vector<Entry> m_entries;
};

} // namespace deltascope::desktop

#include "acts/act.h"

#include "service/annotation_jobs.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace deltascope::app {

namespace {

tl::unexpected<Error> misfit(const ActInfo& act, std::string_view field, std::string_view what)
{
    return fail(Code::Usage, fmt::format("\"{}\" of {} {}", field, act.kind, what));
}

Result<void> checkValue(const ActInfo& act, const ActField& field, const ActValue& value)
{
    switch (field.type) {
    case ActField::Type::Flag:
        return std::holds_alternative<bool>(value) ? Result<void>() : misfit(act, field.name, "is true or false");
    case ActField::Type::Whole: {
        const auto* const number = std::get_if<std::int64_t>(&value);
        if (number && *number >= 0 && *number <= field.most)
            return {};
        return misfit(act, field.name, fmt::format("is a whole number from 0 to {}", field.most));
    }
    case ActField::Type::Choice: {
        const auto* const text = std::get_if<std::string>(&value);
        if (text && std::find(field.choices.begin(), field.choices.end(), *text) != field.choices.end())
            return {};
        return misfit(act, field.name, fmt::format("is one of {}", fmt::join(field.choices, ", ")));
    }
    default:
        break;
    }
    const auto* const text = std::get_if<std::string>(&value);
    if (!text)
        return misfit(act, field.name, "is a text");
    return field.isRequired && text->empty() ? misfit(act, field.name, "is needed") : Result<void>();
}

}

namespace {

ActValue standardOf(const ActField& field)
{
    if (field.type == ActField::Type::Flag)
        return field.standard == "true";
    if (field.type == ActField::Type::Whole)
        return std::int64_t { field.standard.empty() ? 0 : std::stoll(std::string(field.standard)) };
    return std::string(field.standard);
}

}

const ActField* ActInfo::field(std::string_view name) const noexcept
{
    const auto found =
        std::find_if(fields.begin(), fields.end(), [&](const ActField& known) { return known.name == name; });
    return found == fields.end() ? nullptr : &*found;
}

CheckedArgs::CheckedArgs(const std::vector<ActField>& fields, ActArgs args)
    : m_args(std::move(args))
{
    for (const ActField& field : fields)
        m_args.try_emplace(std::string(field.name), standardOf(field));
}

const std::string& CheckedArgs::text(std::string_view name) const
{
    return std::get<std::string>(m_args.find(name)->second);
}

std::int64_t CheckedArgs::whole(std::string_view name) const
{
    return std::get<std::int64_t>(m_args.find(name)->second);
}

bool CheckedArgs::flag(std::string_view name) const { return std::get<bool>(m_args.find(name)->second); }

Result<void> checkArgs(const ActInfo& act, const ActArgs& args)
{
    for (const auto& [name, value] : args) {
        const ActField* const field = act.field(name);
        if (!field)
            return misfit(act, name, "is no argument of it");
        DS_CHECK(checkValue(act, *field, value));
    }
    for (const ActField& field : act.fields) {
        if (field.isRequired && !args.contains(field.name))
            return misfit(act, field.name, "is needed");
    }
    return {};
}

ActCall BoundPlan::bound(const std::string& by) const
{
    ActCall carriedOut = call;
    carriedOut.planHash = view.hash;
    carriedOut.by = by;
    carriedOut.planned = view.act ? view.act->exact : nullptr;
    return carriedOut;
}

Result<BoundPlan> planAct(const RunSnapshot& snapshot, const SourceRequest& source, const ActRequest& request,
                          const MonitorOptions& options)
{
    DS_TRY(const Act* act, findAct(request.kind));
    DS_CHECK(checkArgs(act->info, request.args));
    if (!snapshot.run)
        return fail(Code::Transient, "the run is still being opened", snapshot.source, "try again in a moment");
    const CheckedArgs args(act->info.fields, request.args);
    DS_TRY(BoundPlan plan, act->plan({ snapshot, source, options }, args));
    plan.call.source = source;
    plan.call.below = options.anyFolder ? std::string() : options.outputFolder;
    plan.complete = act->complete;
    plan.view.kind = request.kind;
    plan.view.run = snapshot.id;
    plan.request = { request.kind, args.all() };
    const auto accept = request.args.find("accept_rewritten");
    if (accept != request.args.end() && std::get<bool>(accept->second))
        plan.view.warnings.push_back(acceptRewrittenText(plan.view.kind) + '.');
    return plan;
}

ActOptions ActWork::how() const { return { call.planHash, actorOf(call.by) }; }

ChooseVersion ActWork::chosen(TaskContext& task) const
{
    return [this, &task](const Run& run) { return findVersion(bench, run, args.text("step"), task); };
}

Result<JobResult> runAct(Workbench& bench, const ActCall& call, TaskContext& task)
{
    DS_TRY(const Act* act, findAct(call.act.kind));
    DS_CHECK(checkArgs(act->info, call.act.args));
    const CheckedArgs args(act->info.fields, call.act.args);
    return act->run({ bench, call, args }, task);
}

} // namespace deltascope::app

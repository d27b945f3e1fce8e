#include "plan_request_json.h"

#include "json_parts.h"

namespace deltascope::app {

namespace {

ordered_json argsOf(const MaterializePlan& plan)
{
    return { { "step", plan.step },
             { "to", plan.to },
             { "shard_bytes", plan.shardBytes },
             { "state", plan.trained ? "trained" : "served" },
             { "across_gap", plan.acrossGap },
             { "accept_rewritten", plan.acceptRewritten } };
}
ordered_json argsOf(const VerifyPlan& plan)
{
    return { { "range", plan.range }, { "level", plan.level }, { "accept_rewritten", plan.acceptRewritten } };
}
ordered_json argsOf(const DiffPlan& plan)
{
    return { { "a", plan.a }, { "b", plan.b }, { "accept_rewritten", plan.acceptRewritten } };
}

}

std::string toJson(const PlanRequest& request)
{
    constexpr const char* Kinds[] = { "materialize", "verify", "diff" };
    ordered_json args = std::visit([](const auto& plan) { return argsOf(plan); }, request);
    return dump({ { "kind", Kinds[request.index()] }, { "args", std::move(args) } });
}

} // namespace deltascope::app

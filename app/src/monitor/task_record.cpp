#include "task_record.h"

#include "deltascope/app/view/dashboard_json.h"
#include "remote/read_views.h"

#include <algorithm>
#include <array>

namespace deltascope::app {

namespace {

using nlohmann::ordered_json;

constexpr int FormatVersion = 2;
constexpr int WithOtherResults = 1; ///< its verdicts follow other rules, and are not shown
constexpr std::size_t MostResultBytes = 1U << 20;

ordered_json jsonOf(const PlanRequest& request)
{
    if (const auto* materialize = std::get_if<MaterializePlan>(&request))
        return { { "step", materialize->step },
                 { "to", materialize->to },
                 { "shard_bytes", materialize->shardBytes },
                 { "trained", materialize->trained },
                 { "across_gap", materialize->acrossGap },
                 { "accept_rewritten", materialize->acceptRewritten } };
    if (const auto* verify = std::get_if<VerifyPlan>(&request))
        return { { "range", verify->range },
                 { "level", verify->level },
                 { "accept_rewritten", verify->acceptRewritten } };
    const auto& diff = std::get<DiffPlan>(request);
    return { { "a", diff.a }, { "b", diff.b }, { "accept_rewritten", diff.acceptRewritten } };
}

PlanRequest readRequest(const std::string& kind, const json& from)
{
    const bool acceptRewritten = from.contains("accept_rewritten") && read<bool>(from, "accept_rewritten");
    if (kind == "materialize")
        return MaterializePlan { read<std::string>(from, "step"),          read<std::string>(from, "to"),
                                 read<std::uint64_t>(from, "shard_bytes"), read<bool>(from, "trained"),
                                 read<bool>(from, "across_gap"),           acceptRewritten };
    if (kind == "verify")
        return VerifyPlan { read<std::string>(from, "range"), read<int>(from, "level"), acceptRewritten };
    if (kind == "diff")
        return DiffPlan { read<std::string>(from, "a"), read<std::string>(from, "b"), acceptRewritten };
    throw Unfit { "there is no such kind of task" };
}

ordered_json jsonOf(const SourceRequest& source)
{
    std::vector<std::string> mirrors;
    for (const Address& mirror : source.mirrors)
        mirrors.push_back(mirror.text());
    return { { "source", source.source.text() }, { "base", source.base.text() },
             { "layout", source.layout },        { "logs", source.logs },
             { "epochs", source.epochs },        { "mirrors", mirrors } };
}

SourceRequest readSource(const json& from)
{
    const std::vector<std::string> mirrors = // older tasks have neither these nor epochs
        from.contains("mirrors") ? readList<std::string>(from, "mirrors") : std::vector<std::string>();
    return { read<std::string>(from, "source"),
             read<std::string>(from, "base"),
             read<std::string>(from, "layout"),
             readList<std::string>(from, "logs"),
             from.contains("epochs") ? read<std::string>(from, "epochs") : std::string("auto"),
             { mirrors.begin(), mirrors.end() } };
}

void expectState(const std::string& word)
{
    constexpr std::array<std::string_view, 7> States { "queued",   "running", "paused", "canceling",
                                                       "canceled", "failed",  "done" };
    if (std::find(States.begin(), States.end(), word) == States.end())
        throw Unfit { "there is no such state of a task" };
}

TaskRecord readDocument(const json& from)
{
    const int version = read<int>(from, "version");
    if (version != FormatVersion && version != WithOtherResults)
        throw Unfit { "it is of another version" };
    TaskRecord record;
    if (version == WithOtherResults) {
        json without = from;
        without["result"] = nullptr;
        record.view = readTask(without);
    } else {
        record.view = readTask(from);
    }
    expectState(record.view.state);
    record.view.plan = readPlan(fieldOf(from, "plan"));
    record.request = readRequest(record.view.plan.kind, fieldOf(from, "request"));
    record.source = readSource(fieldOf(from, "source"));
    return record;
}

std::string dump(const ordered_json& document)
{
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}

std::string recordText(const TaskRecord& record)
{
    ordered_json out = ordered_json::parse(toJson(record.view));
    if (dump(out["result"]).size() > MostResultBytes)
        out["result"] = nullptr;
    out["version"] = FormatVersion;
    out.erase("not_kept"); // once this is on disk it is
    out["plan"] = ordered_json::parse(toJson(record.view.plan));
    out["request"] = jsonOf(record.request);
    out["source"] = jsonOf(record.source);
    return dump(out);
}

Result<TaskRecord> readRecord(const std::string& text)
{
    Result<TaskRecord> record = readJson(text, readDocument);
    if (!record)
        return fail(Code::Hostile, "this is no record of a task of this version");
    return record;
}

} // namespace deltascope::app

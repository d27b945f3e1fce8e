#include "task_record.h"

#include "acts/act.h"
#include "deltascope/app/view/dashboard_json.h"
#include "view/act_request_json.h"
#include "view/io/json_reader.h"
#include "view/plan_description.h"
#include "view/task_description.h"

#include <algorithm>

namespace deltascope::app {

namespace {

using nlohmann::ordered_json;

constexpr int FormatVersion = 3;
constexpr int WithTypedRequest = 2; ///< its request has no kind
constexpr int WithOtherResults = 1; ///< its verdicts follow other rules, and are not shown
constexpr std::size_t MostResultBytes = 1U << 20;

/// As earlier versions wrote it.
ActRequest readTypedRequest(const std::string& kind, const json& from)
{
    json args = from;
    if (args.contains("trained")) {
        args["state"] = read<bool>(args, "trained") ? "trained" : "served";
        args.erase("trained");
    }
    const Result<ActRequest> request = readActRequest({ { "kind", kind }, { "args", std::move(args) } });
    if (!request)
        throw Unfit { request.error().text };
    return *request;
}

ActRequest readRequest(const json& from)
{
    Result<ActRequest> request = readActRequest(from);
    if (!request)
        throw Unfit { request.error().text };
    return std::move(*request);
}

/// Errors (Unfit): an act that this version does not have, arguments that it does not take.
ActRequest expectKnown(ActRequest request)
{
    const Result<const Act*> act = findAct(request.kind);
    if (!act || !checkArgs((*act)->info, request.args))
        throw Unfit { "there is no such kind of task" };
    return request;
}

ordered_json jsonOf(const SourceRequest& source)
{
    std::vector<std::string> mirrors;
    for (const Address& mirror : source.mirrors)
        mirrors.push_back(mirror.text());
    return { { "source", source.source.text() },    { "base", source.base.text() },
             { "layout", source.layout },           { "logs", source.logs },
             { "epochs", source.epochs },           { "mirrors", mirrors },
             { "search_depth", source.searchDepth } };
}

std::size_t readSearchDepth(const json& from)
{
    const int depth = read<int>(from, "search_depth");
    if (depth < 1 || depth > static_cast<int>(MostSearchDepth))
        throw Unfit { "\"search_depth\" is out of range" };
    return static_cast<std::size_t>(depth);
}

SourceRequest readSource(const json& from)
{
    const std::vector<std::string> mirrors = // older tasks have neither these, nor epochs, nor a depth
        from.contains("mirrors") ? readList<std::string>(from, "mirrors") : std::vector<std::string>();
    return { read<std::string>(from, "source"),
             read<std::string>(from, "base"),
             read<std::string>(from, "layout"),
             readList<std::string>(from, "logs"),
             from.contains("epochs") ? read<std::string>(from, "epochs") : std::string("auto"),
             { mirrors.begin(), mirrors.end() },
             from.contains("search_depth") ? readSearchDepth(from) : DefaultSearchDepth };
}

void expectState(const std::string& word)
{
    if (word.empty() || std::find(TaskStates.words.begin(), TaskStates.words.end(), word) == TaskStates.words.end())
        throw Unfit { "there is no such state of a task" };
}

TaskRecord readDocument(const json& from)
{
    const int version = read<int>(from, "version");
    if (version != FormatVersion && version != WithTypedRequest && version != WithOtherResults)
        throw Unfit { "it is of another version" };
    TaskRecord record;
    if (version == WithOtherResults) {
        json without = from;
        without["result"] = nullptr;
        record.view = readAs<TaskView>(without);
    } else {
        record.view = readAs<TaskView>(from);
    }
    expectState(record.view.state);
    record.view.plan = readAs<PlanView>(fieldOf(from, "plan"));
    const json& request = fieldOf(from, "request");
    record.request =
        expectKnown(version == FormatVersion ? readRequest(request) : readTypedRequest(record.view.plan.kind, request));
    if (from.contains("settled")) { // older tasks settled nothing
        record.settled = readRequest({ { "kind", record.request.kind }, { "args", from["settled"] } }).args;
        expectKnown(record.settledRequest());
    }
    record.source = readSource(fieldOf(from, "source"));
    return record;
}

std::string dump(const ordered_json& document)
{
    return document.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

}

ActRequest TaskRecord::settledRequest() const
{
    ActRequest all = request;
    for (const auto& [name, value] : settled)
        all.args.insert_or_assign(name, value);
    return all;
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
    out["settled"] = jsonOf(ActRequest { record.request.kind, record.settled })["args"];
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

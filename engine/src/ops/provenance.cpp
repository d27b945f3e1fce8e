#include "provenance.h"

#include <chrono>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace deltascope {

namespace {

using nlohmann::ordered_json;

ordered_json objectsOf(const VersionObjects& version)
{
    ordered_json objects = ordered_json::array();
    for (const ObjectInfo& object : version.objects)
        objects.push_back({ { "key", object.key }, { "size", object.sizeBytes }, { "identity", object.identity } });
    return objects;
}

const VersionObjects& objectsRead(const Run& run, const PlanLink& link)
{
    return run.versions[link.version].objectsOf(link.form);
}

ordered_json linkOf(const Run& run, const PlanLink& link)
{
    const Version& version = run.versions[link.version];
    return { { "step", version.step() },
             { "kind", word(version.kindOf(link.form)) },
             { "objects", objectsOf(objectsRead(run, link)) } };
}

/// The same on every machine, where an identity names things that are local to one (device and inode numbers).
ordered_json portableObjectsOf(const VersionObjects& version)
{
    ordered_json objects = ordered_json::array();
    for (const ObjectInfo& object : version.objects)
        objects.push_back(
            { { "key", object.key }, { "size", object.sizeBytes }, { "modified_us", object.modifiedUs } });
    return objects;
}

/// Keys of a local folder need not be UTF-8.
std::string dump(const ordered_json& text, int indent)
{
    return text.dump(indent, ' ', false, ordered_json::error_handler_t::replace) + "\n";
}

std::string timeText(std::int64_t us)
{
    const std::time_t seconds = us / 1'000'000;
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(seconds));
}

}

std::string rebuildPlanText(const Run& run, const Version& version, const Plan& plan, std::uint64_t shardBytes)
{
    const auto keysOf = [](const VersionObjects& objects) {
        ordered_json keys = ordered_json::array();
        for (const ObjectInfo& object : objects.objects)
            keys.push_back(object.key);
        return keys;
    };
    ordered_json text { { "source", run.store->uri() },
                        { "layout", run.layout->word() },
                        { "epoch", version.epoch },
                        { "step", version.step() },
                        { "shard_bytes", shardBytes } };
    if (plan.fromExternalBase)
        text["base"] = { { "source", run.base->store->uri() }, { "objects", keysOf(run.base->objects) } };
    for (const PlanLink& link : plan.links)
        text["links"].push_back(keysOf(objectsRead(run, link)));
    return dump(text, -1);
}

std::string sharedPlanText(const Run& run, const Version& version, const Plan& plan, std::uint64_t shardBytes)
{
    ordered_json text { { "layout", run.layout->word() }, { "step", version.step() }, { "shard_bytes", shardBytes } };
    if (plan.fromExternalBase)
        text["base"] = portableObjectsOf(run.base->objects);
    for (const PlanLink& link : plan.links)
        text["links"].push_back({ { "step", run.versions[link.version].step() },
                                  { "objects", portableObjectsOf(objectsRead(run, link)) } });
    return dump(text, -1);
}

std::string provenanceText(const Run& run, const Version& version, const Plan& plan, const MaterializeReport& report,
                           const std::string& toolVersion, std::int64_t nowUs)
{
    ordered_json text;
    text["format_version"] = 1;
    text["tool"] = "deltascope";
    text["tool_version"] = toolVersion;
    text["created_at"] = timeText(nowUs);
    text["source"] = run.store->uri();
    text["layout"] = run.layout->word();
    text["epoch"] = version.epoch;
    text["step"] = version.step();
    if (plan.fromExternalBase)
        text["base"] = { { "source", run.base->store->uri() }, { "objects", objectsOf(run.base->objects) } };
    else
        text["anchor"] = linkOf(run, plan.links.front());
    text["deltas"] = ordered_json::array();
    for (std::size_t i = plan.fromExternalBase ? 0 : 1; i < plan.links.size(); ++i)
        text["deltas"].push_back(linkOf(run, plan.links[i]));
    text["root"] = report.root;
    text["root_algorithm"] = "dsm1-xxh3-128";
    text["tensors"] = report.tensors;
    text["bytes"] = report.bytes;
    text["left_out"] = report.leftOut;
    text["trainer_files"] = report.trainerFiles;
    text["rewritten"] = report.rewritten;
    text["checks"] = { { "publisher_digests_matched", report.digestsChecked },
                       { "read_back", true },
                       { "across_gap", plan.acrossGap },
                       { "proven", report.proven },
                       { "lossy", plan.lossy },
                       { "loss_proven", report.lossProven } };
    ordered_json& evidence = text["evidence"]; // tensors by what vouches for them
    for (std::size_t i = 0; i < EvidenceKinds; ++i)
        evidence[word(static_cast<Evidence>(i))] = report.coverage.counts[i];
    text["notices"] = ordered_json::array();
    for (const Error& notice : report.notices)
        text["notices"].push_back({ { "code", word(notice.code) },
                                    { "step", notice.step ? ordered_json(*notice.step) : ordered_json(nullptr) },
                                    { "where", notice.where },
                                    { "text", notice.text } });
    return dump(text, 2);
}

} // namespace deltascope

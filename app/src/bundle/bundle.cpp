#include "bundle.h"

#include "app_files.h"
#include "bundle_description.h"
#include "content.h"
#include "held_monitor.h"
#include "zip.h"

#include "deltascope/app/alerts.h"
#include "deltascope/app/view/counted.h"
#include "server/api/api.h"
#include "service/new_file.h"
#include "view/io/json_writer.h"
#include "view/json_parts.h"

#include <filesystem>
#include <fmt/format.h>

namespace deltascope::bundle {

namespace {

constexpr int VerifyLevel = 2; ///< as deep as a daemon looks by default

Result<std::string> archiveOf(const Recording& recording, const std::string& counts, std::int64_t createdUs)
{
    DS_TRY(ZipArchive zip, ZipArchive::create());
    DS_CHECK(zip.add("manifest.json", manifestOf(recording, createdUs)));
    DS_CHECK(zip.add("steps.jsonl", linesOf(recording.of("steps").at("steps"))));
    DS_CHECK(zip.add("spans.jsonl", spansOf(recording)));
    DS_CHECK(zip.add("tensors.json", tensorsOf(recording)));
    DS_CHECK(zip.add("alerts.jsonl", linesOf(recording.answer("alerts").at("alerts"))));
    DS_CHECK(zip.add("annotations.json", recording.answers.at("runs/" + recording.run + "/annotations") + "\n"));
    DS_CHECK(zip.add("snapshot.json", snapshotOf(recording.snapshot)));
    DS_CHECK(zip.add("counts.jsonl", counts));
    DS_CHECK(zip.add("listing.json", app::dump(recording.listing) + "\n"));
    const std::size_t prefix = ("runs/" + recording.run + "/heat/").size();
    for (const auto& [address, body] : recording.tiles) {
        const std::size_t query = address.find("?epoch=");
        DS_CHECK(zip.add(
            fmt::format("heat/{}/{}.bin", address.substr(query + 7), address.substr(prefix, query - prefix)), body));
    }
    DS_CHECK(zip.add("web/index.html", pageOf(recording, createdUs)));
    return zip.finish();
}

Result<Recording> recordingOf(app::Service& service, app::Monitor& monitor, const Moment& moment,
                              const Stopped& stopped)
{
    HeldMonitor held(monitor, moment);
    server::EventHub hub;
    const std::unique_ptr<server::Api> api = server::makeApi(service, held, hub, {});
    DS_TRY(Recording recording, record(*api, moment.run->id, stopped));
    recording.snapshot = moment.run;
    if (moment.unverified > 0)
        recording.leftOut.push_back(
            fmt::format("verdicts of {} that came during the export", app::counted(moment.unverified, "step")));
    if (held.hasListingMoved())
        recording.leftOut.emplace_back("how many steps need each object, which changed during the export");
    return recording;
}

/// Names the rules that find something now, but fire only after it has lasted.
void nameWaitingAlerts(Recording& recording, std::int64_t nowUs)
{
    app::AlertEngine engine;
    engine.update(*recording.snapshot, nowUs);
    if (const std::vector<std::string> waiting = engine.waiting(recording.run); !waiting.empty())
        recording.leftOut.push_back(
            fmt::format("alerts of {} that fire only after longer than an export takes", fmt::join(waiting, ", ")));
}

}

std::string toJson(const BundleView& view) { return app::dump(app::written(view)); }

Result<void> expectPlace(const std::string& destination)
{
    std::error_code none;
    const std::filesystem::path path = std::filesystem::absolute(destination, none);
    if (std::filesystem::exists(std::filesystem::symlink_status(path, none)))
        return fail(Code::Exists, "there is a file of this name, and a bundle replaces none", destination,
                    "choose another name");
    if (!std::filesystem::is_directory(path.parent_path(), none))
        return fail(Code::NotFound, "the folder that the bundle is to lie in does not exist", destination,
                    "make the folder, or choose another");
    return {};
}

Result<BundleView> exportBundle(app::Service& service, const app::SourceRequest& source, const std::string& destination,
                                const Stopped& stopped)
{
    const std::unique_ptr<app::Monitor> monitor =
        app::Monitor::create(service, { .outputFolder = {}, .verifyLevel = VerifyLevel, .taskFolder = {} });
    const std::string run = monitor->follow(source, {}, false);
    DS_TRY(const Moment moment, holdMoment(*monitor, run, stopped));
    DS_TRY(Recording recording, recordingOf(service, *monitor, moment, stopped));
    const std::int64_t createdUs = recording.answer("capabilities").at("now_us").get<std::int64_t>();
    nameWaitingAlerts(recording, createdUs);
    const std::string counts =
        recording.snapshot->heat ? countsOf(service, *recording.snapshot->heat, recording.leftOut) : std::string();
    DS_TRY(const std::string bytes, archiveOf(recording, counts, createdUs));
    DS_CHECK(app::writeNewFile(destination, bytes, "the bundle"));
    return BundleView { destination, bytes.size(), recording.of("steps").at("steps").size(), recording.leftOut };
}

} // namespace deltascope::bundle

#include "doctor.h"

#include "configuration.h"
#include "deltascope/app/view/counted.h"
#include "deltascope/app/view/health_view.h"
#include "opening.h"

#include <algorithm>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <unistd.h>

namespace deltascope::app {

namespace {

class Examination {
public:
    void note(std::string name, bool ok, std::string detail, bool essential = true)
    {
        m_view.ok = m_view.ok && (ok || !essential);
        m_view.checks.push_back(CheckView { std::move(name), ok, essential, std::move(detail) });
    }

    template <class T> void note(std::string name, const Result<T>& result, std::string good, bool essential = true)
    {
        note(std::move(name), result.has_value(),
             result ? std::move(good) : fmt::format("{}: {}", word(result.error().code), result.error().text),
             essential);
    }

    DoctorView finish() { return std::move(m_view); }

private:
    DoctorView m_view;
};

/// What a store can do, and what that means for who uses it.
void examineTraits(Examination& examination, const ObjectStore& store, const std::vector<ObjectInfo>& listing)
{
    const StoreTraits traits = store.traits();
    examination.note("publishing", traits.conditionalPut,
                     traits.conditionalPut
                         ? "puts under a condition, so that two publishers cannot overwrite each other; whether you "
                           "may put is not tried"
                         : "cannot put under a condition: publish needs --sole-writer, and nothing but that word keeps "
                           "two publishers apart",
                     false);
    examination.note("removing", traits.removes,
                     !traits.removes ? "nothing can be removed: this source is only read"
                         : traits.conditionalRemove
                         ? "the store removes an object only while it is the one that was listed"
                         : "each object is compared with the listing right before it is removed; a writer that "
                           "replaces it in that moment is not noticed",
                     false);
    if (!traits.keepsReads)
        return;
    examination.note("new steps", traits.listsFromKey || traits.pushesChanges,
                     traits.listsFromKey ? "are found by listing where they can appear"
                                         : "are found when the store tells of a change, by listing everything",
                     false);
    const auto hashed = std::count_if(listing.begin(), listing.end(),
                                      [](const ObjectInfo& object) { return !object.contentHash.empty(); });
    examination.note(
        "content hashes", hashed > 0,
        fmt::format("the listing holds them of {} of {} objects{}", hashed, listing.size(),
                    hashed > 0
                        ? "; what is read whole is compared with them"
                        : "; what is read is bound to its version, and damage on the way is found where the store "
                          "sends checksums or the run records digests"),
        false);
}

/// Removes what processes of this machine that have ended left half-written: nothing of others, nothing that is whole.
void cleanSource(Examination& examination, ObjectStore& store, TaskContext& task)
{
    const Result<std::size_t> removed = store.removeTemporaries([](std::string_view) { return true; }, task);
    examination.note("half-written", removed,
                     removed ? fmt::format("removed {} that writers of this machine left; those of other machines are "
                                           "not known here",
                                           *removed)
                             : "");
}

std::string textOf(const std::vector<StrandedUpload>& uploads)
{
    constexpr std::size_t MostKeys = 3;
    std::uint64_t bytes = 0;
    std::size_t xorbs = 0;
    std::string keys;
    for (std::size_t i = 0; i < uploads.size(); ++i) {
        bytes += uploads[i].bytes;
        xorbs += uploads[i].pieces;
        if (i < MostKeys)
            keys += (i > 0 ? ", " : "") + uploads[i].key;
    }
    return fmt::format("{} of this machine ended early ({}{}) and left {}, {} bytes, that no key needs unless "
                       "another machine put the same bytes; only the Hub can remove them",
                       counted(uploads.size(), "put"), keys, uploads.size() > MostKeys ? ", …" : "",
                       counted(xorbs, "xorb"), countText(bytes));
}

/// What nobody needs and only the store can remove. `forget`: later examinations leave it out.
void examineStranded(Examination& examination, ObjectStore& store, bool forget, TaskContext& task)
{
    const Result<std::vector<StrandedUpload>> uploads = store.stranded(forget, task);
    if (!uploads)
        examination.note("sent and not used", uploads, "", false);
    else if (!uploads->empty())
        examination.note("sent and not used", false,
                         textOf(*uploads) + (forget ? "; not reported again" : "; --clean ends this report"), false);
}

/// Problems that are more than notices: of the run, then of its steps.
std::vector<ProblemView> seriousIn(const RunView& run)
{
    std::vector<ProblemView> serious;
    const auto add = [&](const std::vector<ProblemView>& problems) {
        std::copy_if(problems.begin(), problems.end(), std::back_inserter(serious), std::not_fn(isNotice));
    };
    add(run.problems);
    for (const EpochView& epoch : run.epochs) {
        for (const StepView& step : epoch.steps)
            add(step.problems);
    }
    return serious;
}

/// What a user has to know of a run in one line. Problems that make no step doubtful, such as that what is seen now
/// cannot be recorded, are said, too.
void examineHealth(Examination& examination, const RunView& view, const std::vector<ProblemView>& serious)
{
    const HealthView health = makeHealth(view, {});
    if (health.state == "broken" || health.state == "doubtful")
        examination.note("health", false, health.headline, false);
    else if (!serious.empty())
        examination.note("health", false, fmt::format("{}: {}", serious.front().code, serious.front().text), false);
    else
        examination.note("health", true, "nothing wrong is known of the run", false);
}

/// What is known of a run and its versions without reading more than headers.
void examineRun(Examination& examination, const Workbench& bench, const Run& run)
{
    const RunView view = runViewOf(run, seenChanges(run, changedSinceSeen(bench, run)), Annotations(), Trace(),
                                   LogReader({}, bench.nowUs), 0, bench.nowUs());
    const std::vector<ProblemView> serious = seriousIn(view);
    examination.note("layout", true,
                     fmt::format("{}, {}, {}", view.layout, counted(run.versions.size(), "version"),
                                 counted(serious.size(), "problem")));
    examineHealth(examination, view, serious);
}

void examineSource(Examination& examination, Workbench& bench, const SourceRequest& request, bool clean,
                   TaskContext& task)
{
    const Result<std::shared_ptr<ObjectStore>> opened = bench.stores->open(request.source);
    examination.note("source", opened, opened ? (*opened)->uri() : "");
    if (!opened)
        return;
    const std::shared_ptr<ObjectStore>& store = *opened;
    if (clean)
        cleanSource(examination, *store, task);
    examineStranded(examination, *store, clean, task);
    const Result<std::vector<ObjectInfo>> listing = listAll(*store, "", task);
    examination.note("listing", listing, listing ? counted(listing->size(), "object") : "");
    if (!listing)
        return;
    if (const auto readable = std::find_if(listing->begin(), listing->end(),
                                           [](const ObjectInfo& object) { return object.sizeBytes > 0; });
        readable != listing->end()) {
        std::byte first[1];
        examination.note("ranged read", store->read(readable->key, readable->sizeBytes - 1, first, task),
                         "last byte of " + readable->key);
    }
    examineTraits(examination, *store, *listing);
    const std::int64_t now = bench.nowUs();
    const auto newest =
        std::max_element(listing->begin(), listing->end(),
                         [](const ObjectInfo& a, const ObjectInfo& b) { return a.modifiedUs < b.modifiedUs; });
    if (newest != listing->end())
        examination.note("clock", newest->modifiedUs < now + 300'000'000,
                         "no object is dated more than 5 minutes ahead", false);
    examination.note("change notices", store->watch(),
                     store->traits().pushesChanges ? "pushed by the store" : "by polling", false);
    OpenOptions options;
    options.layout = request.layout;
    options.searchDepth = request.searchDepth;
    if (const Result<EpochChoice> epochs = epochChoice(request.epochs))
        options.epochs = *epochs;
    if (!request.base.isEmpty()) {
        Result<std::shared_ptr<ObjectStore>> base = bench.stores->open(request.base);
        examination.note("base", base, request.base.text());
        if (base)
            options.base = std::move(*base);
    }
    const Result<Run> run = openRun(bench, store, options, task);
    if (run)
        examineRun(examination, bench, *run);
    else
        examination.note("layout", run, "");
}

std::string deviceText(const DeviceInfo& info)
{
    return fmt::format("{}, compute capability {}.{}, {} MiB", info.name, info.major, info.minor,
                       info.totalBytes >> 20);
}

/// A machine without a device lacks nothing, but what was asked for and cannot be used does.
bool isAskedFor(const Settings& settings, const DeviceBackend& device, const Error& obstacle)
{
    std::error_code ignored;
    const bool isThere = settings.cudaModuleNamed || std::filesystem::exists(settings.cudaModule, ignored);
    return settings.backend == device.name() || (obstacle.where == settings.cudaModule && isThere);
}

/// What is wrong, which module says so, and what to do about it.
std::string obstacleText(const Error& obstacle, const std::string& module)
{
    return fmt::format("{} ({}){}", obstacle.text, obstacle.where.empty() ? module : obstacle.where,
                       obstacle.action.empty() ? "" : ". " + obstacle.action);
}

void examineDevice(Examination& examination, const DeviceBackend& device, const Settings& settings)
{
    const std::string& module = settings.cudaModule;
    const Result<DeviceInfo> info = device.describe();
    if (!info && info.error().code == Code::Unsupported) {
        examination.note("cuda", !isAskedFor(settings, device, info.error()),
                         "not used: " + obstacleText(info.error(), module), false);
        return;
    }
    if (!info) {
        examination.note("cuda", false,
                         fmt::format("{}: {}", word(info.error().code), obstacleText(info.error(), module)), false);
        return;
    }
    std::string text =
        fmt::format("{}, {} MiB free, driver for CUDA {}.{}, {}; ", deviceText(*info), info->freeBytes >> 20,
                    info->driverVersion / 1000, info->driverVersion % 1000 / 10, module);
    const std::optional<Error> obstacle = device.obstacle();
    text += !obstacle
        ? "--backend cuda uses it; its batches are proven on a driver of the tests, not on a device; the processor "
          "compares states in files faster"
        : "not used: " + obstacle->text;
    const std::vector<DeviceInfo> all = device.devices().value_or(std::vector<DeviceInfo>());
    for (std::size_t i = 1; i < all.size(); ++i)
        text += fmt::format("; device {}, not used: {}", i, deviceText(all[i]));
    if (all.size() > 1)
        text += "; CUDA_VISIBLE_DEVICES says which one is the first";
    examination.note("cuda", true, std::move(text), false);
}

/// Whether a file in the folder may grow: what can be read of a database does not tell.
Result<void> expectRoom(const Workbench& bench, const std::string& folder)
{
    constexpr std::size_t Bytes = std::size_t { 64 } << 10;
    const std::string probe = fmt::format("{}/doctor-{}-{}.tmp", folder, ::getpid(), bench.nowUs());
    DS_CHECK(writeTextFile(*bench.disk, probe, std::string(Bytes, '\0')));
    return bench.disk->removeFile(probe);
}

/// `database`: null if it could not be opened; to try that again says why.
template <class Database> Result<void> expectDatabase(Database* database, const std::string& file)
{
    if (database)
        return database->check();
    DS_TRY(const std::unique_ptr<Database> opened, Database::open(file));
    return opened->check();
}

template <class Database>
void examineDatabase(Examination& examination, const char* name, Database* database, const std::string& file,
                     std::string_view otherwise, const Workbench& bench)
{
    Result<void> state = expectRoom(bench, std::filesystem::path(file).parent_path().string());
    if (state || state.error().code != Code::NoSpace) { // which SQLite does not always know as the reason
        if (Result<void> opened = expectDatabase(database, file); !opened)
            state = std::move(opened);
    }
    examination.note(name, state.has_value(),
                     state ? file
                           : fmt::format("{}: {}: {}{}{}", word(state.error().code), file, state.error().text,
                                         database ? "" : "; ", database ? "" : otherwise),
                     false);
}

}

DoctorView examine(const Settings& settings, Workbench& bench, const DeviceBackend& device,
                   const std::optional<SourceRequest>& source, bool clean, TaskContext& task)
{
    Examination examination;
    examination.note("version", true, fmt::format("deltascope {}, {} threads", DELTASCOPE_VERSION, bench.threads));
    examination.note("hashes", hashSelfTest(), "XXH3-128, SHA-256, BLAKE3 and Adler-32 give their known values");
    examineDatabase(examination, "catalog", bench.catalog, settings.cacheFolder + "/catalog.sqlite", "working without",
                    bench);
    examineDatabase(examination, "records", bench.records, settings.stateFolder + "/records.sqlite",
                    "first sight is not remembered", bench);
    const Result<Configuration> configuration = readConfiguration(settings.configFile);
    examination.note("configuration", configuration && configuration->warnings.empty(),
                     !configuration ? fmt::format("{}: {}: {}", word(configuration.error().code), settings.configFile,
                                                  configuration.error().text)
                         : configuration->warnings.empty()
                         ? settings.configFile
                         : fmt::format("{}: {}", settings.configFile, fmt::join(configuration->warnings, "; ")),
                     false);
    const Result<std::uint64_t> free = bench.disk->freeBytes(settings.cacheFolder);
    examination.note("cache space", free && *free > (64U << 20),
                     free ? fmt::format("{} MiB free", *free >> 20) : "unknown", false);
    examineDevice(examination, device, settings);
    if (source)
        examineSource(examination, bench, *source, clean, task);
    return examination.finish();
}

} // namespace deltascope::app

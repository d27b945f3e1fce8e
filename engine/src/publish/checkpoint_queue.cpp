#include "publish/checkpoint_queue.h"

#include "deltascope/engine/beside_keys.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// What trainers drop, in the order in which it is looked for.
constexpr std::array<std::string_view, 2> Layouts = { "hf", "trl-adapter" };

bool hasSteps(const Run& run)
{
    return std::any_of(run.versions.begin(), run.versions.end(),
                       [](const Version& version) { return checkpointLabel(version) != "."; });
}

/// Why a version cannot be published; nothing if its headers say that it is whole.
std::optional<Error> flawOf(const Version& version)
{
    if (version.failure)
        return version.failure;
    if (version.obstacle)
        return version.obstacle;
    const auto growing = std::find_if(version.objects.objects.begin(), version.objects.objects.end(),
                                      [](const ObjectInfo& object) { return object.hasUnwrittenPart; });
    if (growing == version.objects.objects.end())
        return std::nullopt;
    return Error {
        Code::Unfinished, fmt::format("a part of {} was never written", growing->key), growing->key, version.step(), {}
    };
}

std::string stateOf(const Version& version)
{
    std::string state;
    for (const ObjectInfo& object : version.objects.objects)
        state += fmt::format("{} {}\n", object.key, object.identity);
    return state;
}

}

Result<void> CheckpointQueue::scan(TaskContext& task)
{
    m_run = Run();
    for (const std::string_view layout : Layouts) {
        OpenOptions plain;
        plain.layout = layout;
        plain.searchDepth = m_options.searchDepth;
        Result<Run> opened = openRun(m_bench, m_store, plain, task);
        if (!opened && opened.error().code != Code::Layout)
            return fail(std::move(opened.error()));
        if (opened && (m_run.versions.empty() || hasSteps(*opened)))
            m_run = std::move(*opened);
        if (hasSteps(m_run))
            break;
    }
    DS_TRY(std::vector<ObjectInfo> listing, listAll(*m_store, "", task));
    std::erase_if(listing, [](const ObjectInfo& object) { return object.key.starts_with(beside::Root); });
    m_unread = unreadFolders(listing, m_run);
    return {};
}

Result<CheckpointQueue::Look> CheckpointQueue::lookBehind(std::int64_t last, std::int64_t begun, TaskContext& task)
{
    Look look;
    for (const Version& version : m_run.versions) {
        if (checkpointLabel(version) == ".") // the folder itself is what the trainer ends with
            continue;
        if (version.epoch < m_run.epochs() - 1)
            look.earlier.push_back(&version);
        else if (version.step() > last)
            DS_CHECK(addVersion(version, look, task));
    }
    for (const UnreadFolder& folder : m_unread) {
        const bool isPassed = folder.number >= 0 ? folder.number <= begun : folder.name == "." && begun >= 0;
        if (!isPassed)
            DS_CHECK(addUnread(folder, last, look, task));
    }
    std::stable_sort(look.ready.begin(), look.ready.end(),
                     [](const Version* a, const Version* b) { return a->step() < b->step(); });
    std::stable_sort(look.unready.begin(), look.unready.end(),
                     [](const Unready& a, const Unready& b) { return a.number < b.number; });
    return look;
}

Result<void> CheckpointQueue::addVersion(const Version& version, Look& look, TaskContext& task)
{
    Unready entry { checkpointLabel(version), version.step(), stateOf(version), {}, flawOf(version), false, false };
    const std::int64_t since = unchangedSince(entry.name, entry.state, version.objects.publishedUs());
    DS_TRY(const bool isMarked, this->isMarked(entry.name, task));
    entry.isQuiet = isOlderThan(since, m_options.quietSeconds);
    if (!entry.flaw && isMarked && (entry.isQuiet || !m_options.marker.empty())) {
        look.ready.push_back(&version);
        return {};
    }
    entry.isSettled = isOlderThan(since, m_options.settleSeconds);
    if (!entry.flaw && !isMarked && entry.isSettled)
        entry.flaw = Error { Code::Unfinished,
                             fmt::format("its trainer never put {} into it", m_options.marker),
                             version.objects.name,
                             version.step(),
                             {} };
    entry.why = entry.flaw ? entry.flaw->text
        : !isMarked        ? fmt::format("{} is not there yet", m_options.marker)
                           : "it changed a moment ago";
    look.unready.push_back(std::move(entry));
    return {};
}

Result<void> CheckpointQueue::addUnread(const UnreadFolder& folder, std::int64_t last, Look& look, TaskContext& task)
{
    const std::int64_t since = unchangedSince(folder.name, folder.state, folder.changedUs);
    const bool isQuiet = isOlderThan(since, m_options.quietSeconds);
    const bool isSettled = isOlderThan(since, m_options.settleSeconds);
    const bool isNumbered = folder.number >= 0;
    DS_TRY(const bool isMarked, isNumbered ? this->isMarked(folder.name, task) : Result<bool>(true));
    // Weights may still come, as long as no checkpoint behind it is there.
    const bool isOver = isSettled || (isNumbered && folder.number < last);
    const bool byMarker = isNumbered && !m_options.marker.empty();
    if (isOver || (byMarker ? isMarked : isQuiet && !folder.isEmpty))
        look.unread.push_back(folder);
    else if (isNumbered || !hasNumbered())
        look.unready.push_back({ folder.name == "." ? "the folder itself" : folder.name, folder.number, folder.state,
                                 "it " + folder.why, std::nullopt, false, isQuiet });
    return {};
}

std::int64_t CheckpointQueue::newestStep() const
{
    std::int64_t newest = -1;
    for (const Version& version : m_run.versions) {
        if (version.epoch == m_run.epochs() - 1)
            newest = std::max(newest, version.step());
    }
    return newest;
}

bool CheckpointQueue::isOfEarlierRun(const std::string& label) const
{
    const Version* const version = find(label);
    return version && version->epoch < m_run.epochs() - 1;
}

bool CheckpointQueue::hasNumbered() const { return hasSteps(m_run); }

std::map<std::string, std::int64_t> CheckpointQueue::numbered() const
{
    std::map<std::string, std::int64_t> steps;
    for (const Version& version : m_run.versions) {
        if (version.epoch == m_run.epochs() - 1 && checkpointLabel(version) != ".")
            steps.emplace(checkpointLabel(version), version.step());
    }
    for (const UnreadFolder& folder : m_unread) {
        if (folder.number >= 0)
            steps.emplace(folder.name, folder.number);
    }
    return steps;
}

const Version* CheckpointQueue::find(const std::string& label) const
{
    const auto found = std::find_if(m_run.versions.begin(), m_run.versions.end(),
                                    [&](const Version& version) { return checkpointLabel(version) == label; });
    return found == m_run.versions.end() ? nullptr : &*found;
}

bool CheckpointQueue::isQuiet(const Version& version)
{
    const std::int64_t since =
        unchangedSince(checkpointLabel(version), stateOf(version), version.objects.publishedUs());
    return isOlderThan(since, m_options.quietSeconds);
}

Result<PathPtr> CheckpointQueue::open(const Version& version, TaskContext& task) const
{
    DS_TRY(const Plan plan, planFor(m_run, version));
    return openChecked(m_bench, m_run, plan, m_options.acceptRewritten, task);
}

Result<bool> CheckpointQueue::isAsListed(const Version& version, TaskContext& task) const
{
    for (const ObjectInfo& object : version.objects.objects) {
        const Result<ObjectInfo> now = m_store->stat(object.key, task);
        if (!now && now.error().code != Code::NotFound)
            return fail(now.error());
        if (!now || now->identity != object.identity)
            return false;
    }
    return true;
}

std::int64_t CheckpointQueue::unchangedSince(const std::string& name, const std::string& state, std::int64_t changedUs)
{
    const std::int64_t nowUs = m_bench.nowUs();
    Seen& seen = m_seen[name];
    if (seen.state != state)
        seen = { state, nowUs };
    return changedUs <= nowUs ? changedUs : seen.sinceUs;
}

bool CheckpointQueue::isOlderThan(std::int64_t sinceUs, double seconds) const
{
    return static_cast<double>(m_bench.nowUs() - sinceUs) >= seconds * 1e6;
}

Result<bool> CheckpointQueue::isMarked(const std::string& name, TaskContext& task) const
{
    if (m_options.marker.empty())
        return true;
    const Result<ObjectInfo> marker = m_store->stat(name + "/" + m_options.marker, task);
    if (!marker && marker.error().code != Code::NotFound)
        return fail(marker.error());
    return marker.has_value();
}

} // namespace deltascope

#include "publish/rewritten_checkpoints.h"

#include <algorithm>
#include <utility>

namespace deltascope {

namespace {

bool isWeights(const ObjectInfo& object) { return object.key.ends_with(".safetensors"); }

std::size_t stateOf(const ObjectInfo& object) { return std::hash<std::string> {}(object.identity); }

}

RewrittenCheckpoints::RewrittenCheckpoints(CheckpointQueue& queue, const Publisher& publisher, Say say)
    : m_queue(queue)
    , m_publisher(publisher)
    , m_say(std::move(say))
{
}

void RewrittenCheckpoints::add(const Version& checkpoint, const std::string& root)
{
    Read& read = m_read[checkpointLabel(checkpoint)];
    read = { {}, root };
    for (const ObjectInfo& object : checkpoint.objects.objects) {
        if (isWeights(object))
            read.files.emplace(object.key, stateOf(object));
    }
}

void RewrittenCheckpoints::addPast(const std::map<std::string, PublishedCheckpoint>& published)
{
    std::vector<std::pair<std::int64_t, Unsure>> unsure;
    for (const auto& [name, known] : published) {
        const Version* const version = m_queue.find(name);
        if (!version)
            continue;
        if (known.root.empty() || version->objects.publishedUs() <= known.publishedUs)
            add(*version, known.root);
        else
            unsure.emplace_back(version->step(), Unsure { name, known.root });
    }
    std::sort(unsure.begin(), unsure.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (auto& [step, one] : unsure)
        m_unsure.push_back(std::move(one));
}

Result<void> RewrittenCheckpoints::look(TaskContext& task)
{
    DS_CHECK(lookAtUnsure(task));
    for (const Version& version : m_queue.versions()) {
        if (!hasOtherFiles(version) || !m_queue.isQuiet(version))
            continue;
        const std::string root = m_read.find(checkpointLabel(version))->second.root;
        DS_CHECK(compare(version, root, task));
    }
    return {};
}

/// Where one of them holds what was published, the files are copies, and the older ones are not read.
Result<void> RewrittenCheckpoints::lookAtUnsure(TaskContext& task)
{
    for (std::size_t i = 0; i < m_unsure.size();) {
        const Version* const version = m_queue.find(m_unsure[i].name);
        const bool isWhole = version && !version->failure && !version->obstacle;
        if (isWhole && !m_queue.isQuiet(*version)) {
            ++i;
            continue;
        }
        const Unsure unsure = std::move(m_unsure[i]);
        m_unsure.erase(m_unsure.begin() + static_cast<std::ptrdiff_t>(i));
        if (!isWhole)
            continue;
        DS_TRY(const bool isEqual, compare(*version, unsure.root, task));
        if (isEqual)
            takeForCopies();
    }
    return {};
}

void RewrittenCheckpoints::takeForCopies()
{
    for (const Unsure& unsure : std::exchange(m_unsure, {})) {
        if (const Version* const version = m_queue.find(unsure.name))
            add(*version, unsure.root);
    }
}

bool RewrittenCheckpoints::hasOtherFiles(const Version& checkpoint) const
{
    const auto read = m_read.find(checkpointLabel(checkpoint));
    if (read == m_read.end())
        return false;
    const auto& files = read->second.files;
    return std::any_of(checkpoint.objects.objects.begin(), checkpoint.objects.objects.end(),
                       [&](const ObjectInfo& object) {
                           const auto then = files.find(object.key);
                           return then != files.end() && then->second != stateOf(object);
                       });
}

/// Compares a checkpoint with what was published from it, names it where they differ, and returns whether they are
/// equal. Reads all of it, unless no root is recorded.
Result<bool> RewrittenCheckpoints::compare(const Version& checkpoint, const std::string& root, TaskContext& task)
{
    const auto hasRoot = [&]() -> Result<bool> {
        DS_TRY(const PathPtr state, m_queue.open(checkpoint, task));
        return m_publisher.hasRoot(*state, root, task);
    };
    const Result<bool> isEqual = root.empty() ? Result<bool>(false) : hasRoot();
    if (!isEqual && isEqual.error().code == Code::Canceled)
        return fail(isEqual.error());
    add(checkpoint, root);
    if (!isEqual)
        m_say(checkpointLabel(checkpoint),
              "cannot be compared with what was published from it: " + isEqual.error().text);
    else if (!*isEqual)
        m_say(checkpointLabel(checkpoint),
              "written again after it was published: what is published is what it held before. If its run begins "
              "again there, pass --new-epoch once, or publish it into another folder");
    return isEqual.value_or(false);
}

} // namespace deltascope

#include "trainer_files.h"

#include "hash/hashers.h"
#include "output_layout.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

constexpr std::uint64_t ChunkBytes = 8U << 20;

std::string folderOf(const std::string& key)
{
    const std::size_t slash = key.rfind('/');
    return slash == std::string::npos ? std::string() : key.substr(0, slash + 1);
}

/// Objects of the trainer in the folder of an object.
Result<std::vector<ObjectInfo>> trainerObjects(const ObjectStore& store, const std::string& key, TaskContext& task)
{
    const std::string folder = folderOf(key);
    DS_TRY(std::vector<ObjectInfo> objects, listAll(store, folder, task));
    std::erase_if(objects, [&](const ObjectInfo& object) {
        const std::string name = object.key.substr(folder.size());
        return name.find('/') != std::string::npos || !isTrainerState(name);
    });
    return objects;
}

/// What a trainer resumes with, and how the names of its files begin: transformers.Trainer and accelerate.
constexpr std::array<std::pair<std::string_view, std::array<std::string_view, 2>>, 4> Parts { {
    { "optimizer", { "optimizer.", "optimizer." } },
    { "scheduler", { "scheduler.", "scheduler." } },
    { "random state", { "rng_state", "random_states_" } },
    { "trainer state", { "trainer_state.", "trainer_state." } },
} };

std::vector<std::string> missingOf(const std::vector<std::string>& names)
{
    std::vector<std::string> missing;
    for (const auto& [part, starts] : Parts) {
        const bool isThere = std::any_of(names.begin(), names.end(), [&starts = starts](const std::string& name) {
            return name.starts_with(starts[0]) || name.starts_with(starts[1]);
        });
        if (!isThere)
            missing.emplace_back(part);
    }
    return missing;
}

Result<void> copyObject(FileSystem& disk, CheckedFiles& files, const CheckedFiles::File& source,
                        const std::string& path, TaskContext& task)
{
    if (disk.exists(path)) // of an earlier attempt
        DS_CHECK(disk.removeFile(path));
    DS_TRY(const std::unique_ptr<OutputFile> file, disk.create(path));
    const std::unique_ptr<StreamingDigest> meant = makeXxh3();
    const std::unique_ptr<StreamingDigest> written = makeXxh3();
    const auto copy = [&](std::uint64_t at, ByteSpan bytes) -> Result<void> {
        meant->update(bytes);
        task.addDone(bytes.size());
        return file->write(at, bytes);
    };
    DS_CHECK(files.read(source, copy, task));
    DS_CHECK(file->sync());
    std::vector<std::byte> chunk;
    for (std::uint64_t at = 0; at < source.object.sizeBytes; at += chunk.size()) {
        DS_CHECK(task.checkpoint());
        chunk.resize(std::min(ChunkBytes, source.object.sizeBytes - at));
        DS_CHECK(file->read(at, chunk));
        written->update(chunk);
        task.addDone(chunk.size());
    }
    if (meant->hex() != written->hex())
        return fail(Code::Digest, "the file reads back otherwise than it was written: memory or disk is faulty", path,
                    "check the machine's memory and disk before you try again");
    return {};
}

}

Result<std::vector<std::string>> trainerFilesOf(const Run& run, const Plan& plan, TaskContext& task)
{
    const ObjectStore& store = plan.fromExternalBase ? *run.base->store : *run.store;
    const VersionObjects& first = plan.fromExternalBase
        ? run.base->objects
        : run.versions[plan.links.front().version].objectsOf(plan.links.front().form);
    std::vector<std::string> names;
    if (first.objects.empty())
        return names;
    const std::string& key = first.objects.front().key;
    DS_TRY(const std::vector<ObjectInfo> objects, trainerObjects(store, key, task));
    for (const ObjectInfo& object : objects)
        names.push_back(object.key.substr(folderOf(key).size()));
    return names;
}

Result<std::vector<ObjectInfo>> trainerObjectsOf(const Run& run, const Version& version, const Plan& plan,
                                                 TaskContext& task)
{
    const bool isCheckpoint =
        !plan.fromExternalBase && plan.links.size() == 1 && &run.versions[plan.links.front().version] == &version;
    if (!isCheckpoint)
        return std::vector<ObjectInfo>();
    return trainerObjects(*run.store, version.objectsOf(plan.links.front().form).objects.front().key, task);
}

Result<TrainerState> copyTrainerState(FileSystem& disk, CheckedFiles& files, const Run& run, const Version& version,
                                      const Plan& plan, const std::string& folder, TaskContext& task)
{
    TrainerState state;
    DS_TRY(const std::vector<ObjectInfo> objects, trainerObjectsOf(run, version, plan, task));
    std::uint64_t bytes = 0;
    for (const ObjectInfo& object : objects)
        bytes += 2 * object.sizeBytes;
    if (!objects.empty())
        task.beginPhase("copy the trainer's files", bytes);
    for (const ObjectInfo& object : objects) {
        const std::string name = object.key.substr(folderOf(object.key).size());
        const std::string& mirror = version.objectsOf(plan.links.front().form).mirror;
        const CheckedFiles::File file { run.store, object, stepToTell(run, version), mirror };
        DS_CHECK(copyObject(disk, files, file, fmt::format("{}/{}", folder, name), task));
        state.names.push_back(name);
    }
    state.missing = missingOf(state.names);
    return state;
}

} // namespace deltascope

#include "format/common/numbered_folders.h"

#include "deltascope/engine/beside_keys.h"
#include "format/common/object_names.h"
#include "format/common/step_folders.h"

#include <algorithm>
#include <map>

namespace deltascope {

std::vector<VersionObjects> inOrder(std::map<std::string_view, VersionObjects> folders)
{
    std::vector<VersionObjects> versions;
    for (auto& [folder, version] : folders) {
        sortByKey(version.objects);
        versions.push_back(std::move(version));
    }
    return onePerStep(std::move(versions));
}

std::optional<NumberedFolders::Key> NumberedFolders::parse(std::string_view key) const
{
    if (beside::holds(key))
        return std::nullopt;
    const SplitKey file = splitKey(key);
    const SplitKey folder = splitKey(file.folder);
    if (!folder.file.starts_with(start))
        return std::nullopt;
    const std::string_view digits = folder.file.substr(start.size());
    const std::optional<std::int64_t> step = parseNumber(digits);
    if (!step || !isPadded(digits, minDigits))
        return std::nullopt;
    return Key { folder.folder, file.folder, file.file, *step };
}

std::optional<std::string_view> NumberedFolders::rootOf(const std::vector<ObjectInfo>& listing) const
{
    std::optional<std::string_view> root;
    for (const ObjectInfo& object : listing) {
        const std::optional<Key> key = parse(object.key);
        if (key && (!root || isBetterRoot(key->root, *root)))
            root = key->root;
    }
    return root;
}

std::vector<VersionObjects> NumberedFolders::group(const std::vector<ObjectInfo>& listing) const
{
    const std::optional<std::string_view> root = rootOf(listing);
    std::map<std::string_view, VersionObjects> folders;
    for (const ObjectInfo& object : listing) {
        const std::optional<Key> key = parse(object.key);
        if (!key || key->root != *root || key->file.ends_with(".tmp"))
            continue;
        VersionObjects& version = folders[key->folder];
        version.step = key->step;
        version.name = std::string(key->folder);
        version.objects.push_back(object);
    }
    return inOrder(std::move(folders));
}

} // namespace deltascope

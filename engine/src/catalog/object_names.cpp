#include "object_names.h"

#include "base/percent_code.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace deltascope {

namespace {

constexpr std::string_view FileScheme = "file://";

/// Where the path of a source ends: behind it are options of the store.
std::size_t endOfPath(const std::string& source) { return std::min(source.find('?'), source.size()); }

/// As the stores write a key into their addresses.
std::string encoded(const std::string& source, std::string_view folder)
{
    return percentEncode(folder, source.starts_with("file:") ? "/" : "/!$'()*+,;=:");
}

/// The same object in the folder around its source. Nothing: the store ends here.
std::optional<ObjectName> oneUp(const ObjectName& name)
{
    const std::size_t end = endOfPath(name.source);
    const std::size_t slash = end == 0 ? std::string::npos : name.source.rfind('/', end - 1);
    const std::size_t scheme = name.source.find("://");
    if (slash == std::string::npos || scheme == std::string::npos || slash < scheme + 3)
        return std::nullopt;
    const auto folder = percentDecode(std::string_view(name.source).substr(slash + 1, end - slash - 1));
    if (!folder || folder->empty())
        return std::nullopt;
    const bool isRoot = slash == scheme + 3; // "file:///": the slash is the path
    return ObjectName { name.source.substr(0, isRoot ? slash + 1 : slash) + name.source.substr(end),
                        *folder + '/' + name.key };
}

/// The address of a folder of a source.
std::string oneDown(const std::string& source, std::string_view folder)
{
    const std::size_t end = endOfPath(source);
    const std::string path = source.substr(0, end);
    return path + (path.ends_with('/') ? "" : "/") + encoded(source, folder) + source.substr(end);
}

/// The file of this machine that a name leads to through links. Nothing: it is the file itself.
std::optional<ObjectName> behindLinks(const ObjectName& name)
{
    if (!name.source.starts_with(FileScheme))
        return std::nullopt;
    const auto folder = percentDecode(std::string_view(name.source).substr(FileScheme.size()));
    if (!folder)
        return std::nullopt;
    const std::string path = *folder + (folder->ends_with('/') ? "" : "/") + name.key;
    std::error_code failed;
    const std::filesystem::path file = std::filesystem::canonical(path, failed);
    if (failed || file == path)
        return std::nullopt;
    return ObjectName { std::string(FileScheme) + percentEncode(file.parent_path().string(), "/"),
                        file.filename().string() };
}

void addNames(std::vector<ObjectName>& names, const ObjectName& name)
{
    names.push_back(name);
    for (std::optional<ObjectName> up = oneUp(name); up; up = oneUp(*up))
        names.push_back(*up);
    for (std::size_t slash = name.key.find('/'); slash != std::string::npos; slash = name.key.find('/', slash + 1))
        names.push_back(
            { oneDown(name.source, std::string_view(name.key).substr(0, slash)), name.key.substr(slash + 1) });
}

}

std::vector<ObjectName> namesOf(const std::string& source, const std::string& key)
{
    std::vector<ObjectName> names;
    addNames(names, { source, key });
    if (const std::optional<ObjectName> file = behindLinks(names.front()))
        addNames(names, *file);
    return names;
}

} // namespace deltascope

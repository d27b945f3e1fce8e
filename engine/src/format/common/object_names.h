#pragma once

#include "deltascope/engine/layout.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace deltascope {

/// Beside the tensors of an adapter: what they mean.
inline constexpr std::string_view AdapterConfigName = "adapter_config.json";
inline constexpr std::string_view AdapterWeightsName = "adapter_model.safetensors";

/// "a/b" and "c" of "a/b/c"; no folder for "c".
struct SplitKey {
    std::string_view folder;
    std::string_view file;
};

inline SplitKey splitKey(std::string_view key) noexcept
{
    const std::size_t slash = key.rfind('/');
    if (slash == std::string_view::npos)
        return { {}, key };
    return { key.substr(0, slash), key.substr(slash + 1) };
}

/// "a/b" + "c", "" + "c".
inline std::string joinKey(std::string_view folder, std::string_view file)
{
    std::string key(folder);
    if (!key.empty())
        key += '/';
    return key += file;
}

inline bool isDataFile(std::string_view file) noexcept
{
    constexpr std::string_view End = ".safetensors";
    return file.size() > End.size() && file.substr(file.size() - End.size()) == End;
}

/// Whether the decimal number has at least `width` digits and no zeros in front beyond that.
inline bool isPadded(std::string_view digits, std::size_t width) noexcept
{
    return digits.size() == width || (digits.size() > width && digits.front() != '0');
}

/// The object with this key, or nothing.
inline std::optional<std::uint32_t> objectIndex(const VersionObjects& version, std::string_view key) noexcept
{
    const auto found =
        std::lower_bound(version.objects.begin(), version.objects.end(), key,
                         [](const ObjectInfo& object, std::string_view wanted) { return object.key < wanted; });
    if (found == version.objects.end() || found->key != key)
        return std::nullopt;
    return static_cast<std::uint32_t>(found - version.objects.begin());
}

/// In the order that VersionObjects wants.
inline void sortByKey(std::vector<ObjectInfo>& objects)
{
    std::sort(objects.begin(), objects.end(), [](const ObjectInfo& a, const ObjectInfo& b) { return a.key < b.key; });
}

/// In the order that VersionIndex wants.
inline void sortByName(std::vector<TensorEntry>& entries)
{
    const auto before = [](const TensorEntry& a, const TensorEntry& b) { return a.name() < b.name(); };
    if (!std::is_sorted(entries.begin(), entries.end(), before)) // as the headers of most files leave them
        std::sort(entries.begin(), entries.end(), before);
}

/// Names that occur twice in sorted entries make a version unreadable: which one counts is anybody's guess.
inline const TensorEntry* firstDuplicate(const std::vector<TensorEntry>& sorted) noexcept
{
    const auto twice = std::adjacent_find(
        sorted.begin(), sorted.end(), [](const TensorEntry& a, const TensorEntry& b) { return a.name() == b.name(); });
    return twice == sorted.end() ? nullptr : &*twice;
}

inline bool isLowerHex(std::string_view text) noexcept
{
    return text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

/// An error of one object that says nothing about the rest of the source.
inline bool concernsOneObject(Code code) noexcept
{
    return code == Code::Truncated || code == Code::Malformed || code == Code::Hostile || code == Code::Unfinished
        || code == Code::NotFound || code == Code::Unsupported;
}

/// The error of a version that says it is another one: in its place it would be a silent mistake.
inline Error misplaced(const std::string& own, std::int64_t step, std::string where)
{
    return Error { Code::Malformed,
                   "calls itself " + own + ", but its name says " + std::to_string(step)
                       + ": it is another version in the place of this one",
                   std::move(where),
                   step,
                   {} };
}

/// Several runs in one source: the one closest to its root counts, then the first by name.
inline bool isBetterRoot(std::string_view candidate, std::string_view current) noexcept
{
    const auto depth = [](std::string_view folder) {
        return folder.empty() ? 0 : 1 + std::count(folder.begin(), folder.end(), '/');
    };
    return depth(candidate) != depth(current) ? depth(candidate) < depth(current) : candidate < current;
}

/// Metadata keys of ours in files of a foreign layout.
inline bool isOwnFact(std::string_view key) noexcept { return key.substr(0, 3) == "ds."; }

} // namespace deltascope

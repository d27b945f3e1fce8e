#include "format/common/droppings.h"

#include "format/common/object_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

namespace deltascope {

namespace {

struct Dropping {
    std::size_t count = 0;
    std::string first;
};

enum Kind : std::size_t {
    AppleDouble,
    FolderSettings,
    OpenButRemoved,
    ZoneMark,
    Notebook,
    Synology,
    Partial,
    Copy,
    Kinds
};

constexpr std::array<std::string_view, Kinds> Words {
    "AppleDouble files of macOS (._NAME)",
    "settings of a file manager (.DS_Store, Thumbs.db, desktop.ini)",
    "files of a network file system that were removed while they were open (.nfs…, .fuse_hidden…)",
    "marks of Windows (NAME:Zone.Identifier)",
    "copies of Jupyter (.ipynb_checkpoints)",
    "files of a Synology (@eaDir)",
    "unfinished files of a copy tool (rsync, rclone, aws)",
    "copies of a file manager (NAME (1), NAME copy)",
};

bool isAlphanumeric(std::string_view text)
{
    return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; });
}

/// Whether a suffix of `size` letters and digits looks drawn at random: it mixes small letters, capitals and digits.
bool looksRandom(std::string_view suffix, std::size_t size)
{
    const auto has = [&](int (*isOfClass)(int)) {
        return std::any_of(suffix.begin(), suffix.end(), [&](unsigned char c) { return isOfClass(c) != 0; });
    };
    return suffix.size() == size && isAlphanumeric(suffix)
        && has(std::islower) + has(std::isupper) + has(std::isdigit) >= 2;
}

/// The last '.' of a name that has something in front of it and behind it; npos if there is none.
std::size_t lastDot(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    return dot == 0 || dot + 1 == name.size() ? std::string_view::npos : dot;
}

/// ".NAME.Ab12Cd" of rsync, "NAME.1a2b3c4d.partial" of rclone, "NAME.6eF5A2c9" of aws.
bool isPartial(std::string_view file)
{
    const std::size_t dot = lastDot(file);
    if (dot == std::string_view::npos)
        return false;
    const std::string_view name = file.substr(0, dot);
    const std::string_view suffix = file.substr(dot + 1);
    if (suffix == "partial" && lastDot(name) != std::string_view::npos) {
        const std::string_view random = name.substr(lastDot(name) + 1);
        return random.size() == 8 && isAlphanumeric(random);
    }
    const bool hasEnding = name.find('.', 1) != std::string_view::npos;
    return hasEnding && (name.starts_with('.') ? looksRandom(suffix, 6) : looksRandom(suffix, 8));
}

/// What "NAME (1).END" and "NAME copy.END" are copies of; empty for other names.
std::string originalOfCopy(std::string_view file)
{
    const std::size_t dot = lastDot(file);
    const std::string_view stem = file.substr(0, dot);
    const std::string_view end = dot == std::string_view::npos ? std::string_view() : file.substr(dot);
    constexpr std::string_view Word = " copy";
    std::string_view name = stem.substr(0, stem.find_last_not_of("0123456789") + 1);
    if (stem.ends_with(')')) {
        const std::size_t open = stem.rfind(" (");
        const std::string_view number = open == std::string_view::npos ? "" : stem.substr(open + 2);
        if (number.size() < 2 || number.find_first_not_of("0123456789") != number.size() - 1)
            return {};
        return std::string(stem.substr(0, open)).append(end);
    }
    if (name.size() < stem.size() && name.ends_with(' ')) // "NAME copy 2"
        name.remove_suffix(1);
    if (name.size() <= Word.size() || !name.ends_with(Word))
        return {};
    return std::string(name.substr(0, name.size() - Word.size())).append(end);
}

bool isListed(const std::vector<ObjectInfo>& listing, const std::string& key)
{
    const auto at =
        std::lower_bound(listing.begin(), listing.end(), key,
                         [](const ObjectInfo& object, const std::string& wanted) { return object.key < wanted; });
    return at != listing.end() && at->key == key;
}

bool isInFolder(std::string_view key, std::string_view folder)
{
    for (std::size_t at = key.find(folder); at != std::string_view::npos; at = key.find(folder, at + 1)) {
        const std::size_t end = at + folder.size();
        if ((at == 0 || key[at - 1] == '/') && end < key.size() && key[end] == '/')
            return true;
    }
    return false;
}

/// Kinds if an object is none.
Kind kindOf(const std::vector<ObjectInfo>& listing, std::string_view key)
{
    const SplitKey split = splitKey(key);
    const std::string_view file = split.file;
    if (isInFolder(key, ".ipynb_checkpoints"))
        return Notebook;
    if (isInFolder(key, "@eaDir"))
        return Synology;
    if (file.starts_with("._") && file.size() > 2)
        return AppleDouble;
    if (file == ".DS_Store" || file == "Thumbs.db" || file == "desktop.ini")
        return FolderSettings;
    if (file.starts_with(".nfs0") || file.starts_with(".fuse_hidden"))
        return OpenButRemoved;
    if (file.ends_with(":Zone.Identifier"))
        return ZoneMark;
    if (isPartial(file))
        return Partial;
    const std::string original = file.find(' ') == std::string_view::npos ? std::string() : originalOfCopy(file);
    return !original.empty() && isListed(listing, joinKey(split.folder, original)) ? Copy : Kinds;
}

} // namespace

std::vector<Error> takeDroppings(std::vector<ObjectInfo>& listing)
{
    std::array<Dropping, Kinds> found;
    std::vector<bool> isDropping(listing.size());
    bool any = false;
    for (std::size_t i = 0; i < listing.size(); ++i) {
        const Kind kind = kindOf(listing, listing[i].key);
        if (kind == Kinds)
            continue;
        isDropping[i] = any = true;
        if (found[kind].count++ == 0)
            found[kind].first = listing[i].key;
    }
    std::vector<Error> notices;
    if (!any)
        return notices;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < listing.size(); ++i) {
        if (!isDropping[i] && kept++ != i)
            listing[kept - 1] = std::move(listing[i]);
    }
    listing.resize(kept);
    for (std::size_t kind = 0; kind < Kinds; ++kind) {
        const Dropping& dropping = found[kind];
        if (dropping.count > 0)
            notices.push_back(Error { Code::Stray,
                                      fmt::format("{} of the objects {} {}; no step holds {}", dropping.count,
                                                  dropping.count == 1 ? "is among" : "are", Words[kind],
                                                  dropping.count == 1 ? "it" : "them"),
                                      dropping.first,
                                      std::nullopt,
                                      {} });
    }
    return notices;
}

} // namespace deltascope

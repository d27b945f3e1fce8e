#include "deltascope/engine/layout.h"

#include <algorithm>

namespace deltascope {

std::string Layout::emptyFolderOf(const VersionObjects&, std::int64_t) const { return {}; }

bool Layout::indexReads(std::string_view) const noexcept { return true; }

std::uint64_t VersionObjects::wireBytes() const noexcept
{
    std::uint64_t sum = 0;
    for (const ObjectInfo& object : objects)
        sum += object.sizeBytes;
    return sum;
}

std::int64_t VersionObjects::publishedUs() const noexcept
{
    std::int64_t newest = publishedByUs;
    for (const ObjectInfo& object : objects)
        newest = std::max(newest, object.modifiedUs);
    return newest;
}

std::string_view VersionObjects::inSource(std::string_view nameOrKey) const noexcept
{
    if (mirror.empty())
        return nameOrKey;
    return nameOrKey.size() > mirror.size() ? nameOrKey.substr(mirror.size() + 1) : "."; // the mirror as a whole
}

std::string VersionObjects::identity() const
{
    std::string joined;
    for (const ObjectInfo& object : objects) {
        joined += object.key;
        joined += '|';
        joined += object.identity;
        joined += '\n';
    }
    for (const VersionObjects& form : otherForms)
        joined += form.identity();
    return joined;
}

std::string_view word(DigestAlgorithm algorithm) noexcept
{
    switch (algorithm) {
    case DigestAlgorithm::Xxh3_128:
        return "xxh3-128";
    case DigestAlgorithm::Blake3:
        return "blake3";
    case DigestAlgorithm::Adler32:
        return "adler32";
    case DigestAlgorithm::Sha256:
        return "sha256";
    case DigestAlgorithm::None:
        break;
    }
    return "none";
}

std::size_t hexDigits(DigestAlgorithm algorithm) noexcept
{
    switch (algorithm) {
    case DigestAlgorithm::Xxh3_128:
        return 32;
    case DigestAlgorithm::Blake3:
    case DigestAlgorithm::Sha256:
        return 64;
    case DigestAlgorithm::Adler32:
        return 8;
    case DigestAlgorithm::None:
        break;
    }
    return 0;
}

Result<void> Layout::checkPayload(const ObjectStore&, const VersionObjects&, const VersionIndex&, TaskContext&) const
{
    return {};
}

std::uint64_t Layout::checkedBytes(const VersionObjects&, const VersionIndex&) const { return 0; }

std::string_view VersionIndex::fact(std::string_view key) const noexcept
{
    const auto found = facts.find(key);
    return found == facts.end() ? std::string_view() : std::string_view(found->second);
}

const TensorEntry* VersionIndex::find(std::string_view name) const noexcept
{
    const auto found =
        std::lower_bound(tensors.begin(), tensors.end(), name,
                         [](const TensorEntry& entry, std::string_view wanted) { return entry.name() < wanted; });
    return found != tensors.end() && found->name() == name ? &*found : nullptr;
}

std::uint64_t VersionIndex::storedElements() const noexcept
{
    std::uint64_t sum = 0;
    for (const TensorEntry& entry : tensors)
        sum += entry.storedElements().value_or(0);
    return sum;
}

bool VersionIndex::countsKnown() const noexcept
{
    return std::all_of(tensors.begin(), tensors.end(),
                       [](const TensorEntry& entry) { return entry.storedElements().has_value(); });
}

} // namespace deltascope

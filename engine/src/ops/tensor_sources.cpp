#include "tensor_sources.h"

#include "deltascope/engine/path_state.h"
#include "hash/hashers.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace deltascope {

namespace {

std::uint64_t digestOf(std::string_view store, const ObjectInfo& object)
{
    const Digest128 digest =
        xxh3(asBytes(fmt::format("{}\n{}\n{}\n{}", store, object.key, object.sizeBytes, object.identity)));
    std::uint64_t first = 0;
    std::memcpy(&first, digest.data(), sizeof first);
    return first;
}

}

TensorSources::TensorSources(const PathState& chain)
{
    for (std::size_t i = 0; i < chain.links().size(); ++i) {
        const OpenVersion& version = *chain.links()[i];
        Link link { &version, {}, {} };
        const std::string store = version.store->uri();
        for (const ObjectInfo& object : version.objects.objects) {
            link.objects.push_back(digestOf(store, object));
            m_byName.emplace(chain.versionOf(i) ? object.key : store + "/" + object.key, link.objects.back());
        }
        std::vector<bool> holdsTensors(link.objects.size());
        for (const TensorEntry& entry : version.index.tensors) {
            for (const Extent& extent : entry.extents)
                holdsTensors[extent.object] = true;
        }
        for (std::size_t n = 0; n < link.objects.size(); ++n) {
            if (!holdsTensors[n])
                link.common.push_back(link.objects[n]);
        }
        m_links.push_back(std::move(link));
    }
}

std::vector<std::uint64_t> TensorSources::of(std::string_view tensor) const
{
    std::vector<std::uint64_t> objects;
    for (const Link& link : m_links) {
        const TensorEntry* entry = link.version->index.find(tensor);
        if (!entry)
            continue;
        objects.insert(objects.end(), link.common.begin(), link.common.end());
        for (const Extent& extent : entry->extents)
            objects.push_back(link.objects[extent.object]);
    }
    std::sort(objects.begin(), objects.end());
    objects.erase(std::unique(objects.begin(), objects.end()), objects.end());
    return objects;
}

std::optional<std::uint64_t> TensorSources::named(const std::string& where) const
{
    const auto found = m_byName.find(where);
    return found == m_byName.end() ? std::nullopt : std::optional(found->second);
}

} // namespace deltascope

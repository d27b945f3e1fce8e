#include "note_when_seen.h"

#include "deltascope/engine/catalog.h"
#include "hash/hashers.h"

#include <algorithm>

namespace deltascope {

namespace {

bool hasUnwrittenPart(const IndexedObjects& version)
{
    return std::any_of(version.objects.objects.begin(), version.objects.objects.end(),
                       [](const ObjectInfo& object) { return object.hasUnwrittenPart; });
}

}

void noteWhenSeen(Workbench& bench, const std::string& source, std::vector<IndexedObjects>& versions)
{
    const std::int64_t nowUs = bench.nowUs();
    for (IndexedObjects& version : versions) {
        const bool mayGrow = version.failure || hasUnwrittenPart(version) || &version == &versions.back();
        if (!mayGrow || version.objects.publishedUs() <= nowUs)
            continue;
        version.seenUs = nowUs;
        if (!bench.catalog)
            continue;
        const std::string identity = toHex(xxh3(asBytes(version.objects.identity())));
        if (const auto since = bench.catalog->seenSince(source, version.objects.name, identity, nowUs))
            version.seenUs = *since; // a cache: that it cannot be read means that nothing is known
    }
}

} // namespace deltascope

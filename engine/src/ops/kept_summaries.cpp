#include "kept_summaries.h"

#include <algorithm>
#include <utility>

namespace deltascope {

KnownVersions knownVersions(Workbench& bench, const std::string& key)
{
    if (bench.catalog) { // a cache: that it cannot be read now means that nothing is known
        if (auto stored = bench.catalog->summaries(key))
            return std::move(*stored);
    }
    return {};
}

bool mayBeKnown(Workbench& bench, const ObjectStore& store)
{
    return bench.catalog && (!bench.records || bench.records->cover(store.uri()).value_or(false));
}

void keepSummaries(Workbench& bench, const ObjectStore& store, const std::string& key,
                   const std::vector<WantedForm>& read)
{
    if (!mayBeKnown(bench, store))
        return;
    std::vector<std::pair<std::string, Catalog::KnownVersion>> fresh;
    for (const WantedForm& form : read) {
        // what is not written yet changes by itself
        const bool settled = std::none_of(form.objects->objects.begin(), form.objects->objects.end(),
                                          [](const ObjectInfo& object) { return object.hasUnwrittenPart; });
        if (*form.summary && settled)
            fresh.emplace_back(form.objects->name, Catalog::KnownVersion { form.objects->identity(), **form.summary });
    }
    if (!fresh.empty()) // a cache: that it cannot be written must not stop the work
        static_cast<void>(bench.catalog->putSummaries(key, fresh));
}

} // namespace deltascope

#include "known_facts.h"

#include <string>
#include <utility>
#include <vector>

namespace deltascope {

void addKnownFacts(Workbench& bench, Run& run)
{
    if (!bench.catalog)
        return;
    auto known = bench.catalog->facts(catalogKey(run));
    if (!known)
        return;
    const std::vector<std::string> keys = chainKeys(run);
    bool any = false;
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        const auto at = known->find(run.versions[i].objects.name);
        if (at == known->end() || at->second.chain != keys[i])
            continue;
        run.versions[i].facts = std::move(at->second.facts);
        any = true;
    }
    if (any)
        assess(run);
}

} // namespace deltascope

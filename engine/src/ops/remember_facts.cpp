#include "remember_facts.h"

namespace deltascope {

void rememberFacts(Workbench& bench, const Run& run, const std::vector<std::string>& keys, std::size_t version,
                   std::optional<std::vector<TensorCount>> counts)
{
    if (!bench.catalog)
        return;
    const std::string source = catalogKey(run);
    const std::string& name = run.versions[version].objects.name;
    if (!counts) {
        Result<std::vector<TensorCount>> known = bench.catalog->counts(source, name, keys[version]);
        counts = known ? std::move(*known) : std::vector<TensorCount>();
    }
    static_cast<void>(bench.catalog->putFacts(
        source, name, Catalog::KnownFacts { keys[version], *run.versions[version].facts }, *counts));
}

} // namespace deltascope

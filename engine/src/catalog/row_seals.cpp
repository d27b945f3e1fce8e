#include "row_seals.h"

#include "catalog_texts.h"
#include "hash/hashers.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace deltascope {

std::string seal(std::string_view content) { return toHex(xxh3(asBytes(content))); }

std::string sealOf(const std::string& source, const std::string& name, const Catalog::KnownVersion& version)
{
    const VersionSummary& summary = version.summary;
    return seal(fmt::format("{}\n{}\n{}\n{} {} {} {} {} {} {} {}\n{}\n{}", source, name, version.identity, summary.full,
                            summary.declaredBase.value_or(-1), summary.encoding, static_cast<int>(summary.digests),
                            summary.tensors, summary.storedElements, summary.countsKnown, toHex(summary.nameSet),
                            notesToText(summary.notes), extrasOf(summary)));
}

std::string sealOf(const std::string& source, const std::string& name, const Catalog::KnownFacts& known)
{
    const VersionFacts& facts = known.facts;
    return seal(fmt::format("{}\n{}\n{}\n{} {} {} {} {} {} {}\n{}", source, name, known.chain, facts.changedElements,
                            facts.changedVsPrevious.has_value(), facts.changedVsPrevious.value_or(0), facts.assigned,
                            facts.noops, facts.digestsChecked, facts.digestsFailed, detailOf(facts)));
}

std::string sealOf(const std::string& chain, const std::vector<TensorCount>& counts)
{
    std::vector<const TensorCount*> byName;
    for (const TensorCount& count : counts)
        byName.push_back(&count);
    std::sort(byName.begin(), byName.end(),
              [](const TensorCount* a, const TensorCount* b) { return a->name < b->name; });
    std::string content = chain;
    for (const TensorCount* count : byName)
        fmt::format_to(std::back_inserter(content), "\n{} {}", count->changed, count->name);
    return seal(content);
}

} // namespace deltascope

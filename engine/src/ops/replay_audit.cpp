#include "replay_audit.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

ReplayAudit::ReplayAudit(const Chain& chain)
    : m_chain(chain)
    , m_links(chain.links().size())
{
}

ReplayAudit::Tensor::Tensor(ReplayAudit& audit, const TensorInfo& tensor, bool whole)
    : m_audit(audit)
    , m_name(tensor.name)
{
    const auto& links = audit.m_chain.links();
    for (std::size_t i = 0; i < links.size(); ++i) {
        const TensorEntry* entry = links[i]->index.find(tensor.name);
        if (!entry)
            continue;
        Watched watched { i, {}, nullptr, nullptr };
        if (whole && !entry->digest.empty() && links[i]->index.digests != DigestAlgorithm::None) {
            watched.expected = &entry->digest;
            watched.digest = makeDigest(links[i]->index.digests);
        }
        m_links.push_back(std::move(watched));
    }
}

void ReplayAudit::Tensor::onBlock(std::size_t link, std::uint64_t, ByteSpan state, const PatchCounts& counts)
{
    const auto at = std::lower_bound(m_links.begin(), m_links.end(), link,
                                     [](const Watched& watched, std::size_t wanted) { return watched.link < wanted; });
    at->counts += counts;
    if (at->digest)
        at->digest->update(state);
}

bool ReplayAudit::Tensor::noopsSeen() const noexcept
{
    return std::any_of(m_links.begin(), m_links.end(),
                       [](const Watched& watched) { return watched.counts.noops > watched.counts.nanNoops; });
}

bool ReplayAudit::Tensor::finish()
{
    bool sound = true;
    const std::lock_guard lock(m_audit.m_mutex);
    for (Watched& watched : m_links) {
        LinkAudit& audit = m_audit.m_links[watched.link];
        audit.counts += watched.counts;
        if (watched.counts.changed > 0)
            audit.changed.push_back(TensorCount { m_name, watched.counts.changed });
        if (!watched.digest)
            continue;
        ++audit.digestsChecked;
        ++m_digestsChecked;
        std::string actual = watched.digest->hex();
        if (actual == *watched.expected)
            continue;
        sound = false;
        ++audit.digestsFailed;
        if (audit.firstFailedTensor.empty() || m_name < audit.firstFailedTensor) {
            audit.firstFailedTensor = m_name;
            audit.expected = *watched.expected;
            audit.actual = std::move(actual);
        }
    }
    return sound;
}

bool ReplayAudit::noopsSeen() const noexcept
{
    return std::any_of(m_links.begin(), m_links.end(), [](const LinkAudit& link) {
        return link.digestsChecked == 0 && link.counts.noops > link.counts.nanNoops;
    });
}

std::uint32_t ReplayAudit::digestsChecked() const noexcept
{
    std::uint32_t checked = 0;
    for (const LinkAudit& link : m_links)
        checked += link.digestsChecked;
    return checked;
}

Result<void> ReplayAudit::checkDigests(bool externalBase) const
{
    for (std::size_t i = 0; i < m_links.size(); ++i) {
        if (m_links[i].digestsFailed > 0)
            return fail(digestFailure(factsOf(i, VersionKind::Delta, 0), m_chain.links()[i]->objects, externalBase && i == 1));
    }
    return {};
}

bool ReplayAudit::hasDigests(const Chain& chain) noexcept
{
    return std::any_of(chain.links().begin(), chain.links().end(),
                       [](const auto& link) { return link->index.digests != DigestAlgorithm::None; });
}

VersionFacts ReplayAudit::factsOf(std::size_t link, VersionKind kind, std::uint64_t elements) const
{
    const LinkAudit& audit = m_links[link];
    VersionFacts facts;
    facts.changedElements = kind == VersionKind::Anchor ? elements : audit.counts.changed;
    if (kind == VersionKind::Anchor && link > 0)
        facts.changedVsPrevious = audit.counts.changed;
    facts.assigned = audit.counts.assigned;
    facts.noops = audit.counts.noops - audit.counts.nanNoops;
    facts.digestsChecked = audit.digestsChecked;
    facts.digestsFailed = audit.digestsFailed;
    facts.firstFailedTensor = audit.firstFailedTensor;
    facts.expectedDigest = audit.expected;
    facts.actualDigest = audit.actual;
    return facts;
}

} // namespace deltascope

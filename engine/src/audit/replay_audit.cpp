#include "audit/replay_audit.h"

#include "audit/first_state.h"
#include "audit/tensor_drift.h"
#include "deltascope/engine/hash_tree.h"
#include "lineage/base_first.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

ReplayAudit::ReplayAudit(const PathState& chain, bool states, const HealthBook* health,
                         std::shared_ptr<const Backend> backend)
    : m_chain(chain)
    , m_states(states)
    , m_health(health)
    , m_backend(std::move(backend))
    , m_links(chain.links().size())
{
    if (health) {
        m_histories.unchanged = health->histories.unchanged;
        for (std::size_t i = 1; i < m_links.size(); ++i) {
            if (isDelta(chain, i) && !health->restored.contains(i))
                m_histories.unchanged.add(TensorMoves::none(), 0);
        }
    }
    for (std::size_t i = 0; states && i < m_links.size(); ++i) {
        if (wantsRoot(i))
            m_rootsUpTo = i + 1;
        const StateDigest& recorded = chain.links()[i]->index.stateDigest;
        if (recorded.hex.empty())
            continue;
        m_links[i].state.emplace(recorded);
        m_hasStates = true;
    }
}

bool ReplayAudit::wantsRoot(std::size_t link) const noexcept
{
    const auto& links = m_chain.links();
    if (link == 0 && m_chain.onExternalBase())
        return !links[1]->index.fact(fact::Base).empty();
    return !links[link]->index.fact(fact::Root).empty();
}

bool ReplayAudit::recordsState(std::size_t link) const noexcept
{
    return wantsRoot(link) || !m_chain.links()[link]->index.stateDigest.hex.empty();
}

ReplayAudit::Tensor::Tensor(ReplayAudit& audit, const TensorInfo& tensor, bool whole)
    : m_audit(audit)
    , m_tensor(tensor)
{
    const auto& links = audit.m_chain.links();
    for (std::size_t i = 0; i < links.size(); ++i) {
        const TensorEntry* entry = links[i]->index.find(tensor.name);
        if (!entry)
            continue;
        Watched watched { i, {}, {}, nullptr, {}, nullptr };
        if (i < audit.m_rootsUpTo)
            watched.leaves.emplace(LeafHasher::Strength::Fast);
        if (whole && !entry->digest.empty() && links[i]->index.digests != DigestAlgorithm::None) {
            watched.expected = entry->digest.view();
            watched.digest = makeDigest(links[i]->index.digests);
        }
        m_links.push_back(std::move(watched));
    }
    // One delta at least that the complete state behind it may take back.
    if (audit.m_health && whole && m_links.size() > 2 && m_links.back().link + 1 == links.size()
        && links.back()->index.full) {
        for (Watched& watched : m_links)
            watched.state = makeXxh3();
    }
    for (std::size_t i = m_links.empty() ? links.size() : m_links.front().link; i < links.size(); ++i) {
        if (audit.m_links[i].state)
            audit.m_links[i].state->beginTensor(tensor);
    }
    if (audit.m_health && whole) {
        std::vector<std::size_t> touching;
        for (const Watched& watched : m_links)
            touching.push_back(watched.link);
        m_health.emplace(audit.m_chain, tensor, std::move(touching), *audit.m_health, audit.m_backend);
    }
}

std::size_t ReplayAudit::Tensor::indexOf(std::size_t link) const noexcept
{
    const auto at = std::lower_bound(m_links.begin(), m_links.end(), link,
                                     [](const Watched& watched, std::size_t wanted) { return watched.link < wanted; });
    return static_cast<std::size_t>(at - m_links.begin());
}

bool ReplayAudit::Tensor::looksAtBlocks() const
{
    return m_health || m_audit.m_hasStates || std::any_of(m_links.begin(), m_links.end(), [](const Watched& watched) {
               return watched.digest || watched.leaves || watched.state;
           });
}

void ReplayAudit::Tensor::onPiece(std::size_t link, std::uint64_t, ByteSpan state, const PatchPiece& piece)
{
    if (m_health)
        m_health->onPiece(indexOf(link), state, piece);
}

void ReplayAudit::Tensor::onBlock(std::size_t link, std::uint64_t, ByteSpan state, const PatchCounts& counts)
{
    const std::size_t at = indexOf(link);
    Watched& watched = m_links[at];
    watched.counts += counts;
    if (watched.digest)
        watched.digest->update(state);
    if (watched.leaves)
        watched.leaves->update(state);
    if (watched.state)
        watched.state->update(state);
    if (m_health)
        m_health->onBlock(at, state);
    if (m_audit.m_hasStates)
        updateStates(link, state);
}

void ReplayAudit::Tensor::updateStates(std::size_t link, ByteSpan state)
{
    const auto next =
        std::upper_bound(m_links.begin(), m_links.end(), link,
                         [](std::size_t wanted, const Watched& watched) { return wanted < watched.link; });
    const std::size_t end = next == m_links.end() ? m_audit.m_links.size() : next->link;
    for (std::size_t i = link; i < end; ++i) {
        if (m_audit.m_links[i].state)
            m_audit.m_links[i].state->update(state);
    }
}

bool ReplayAudit::Tensor::noopsSeen() const noexcept
{
    return std::any_of(m_links.begin(), m_links.end(),
                       [](const Watched& watched) { return watched.counts.noops > watched.counts.nanNoops; });
}

Compared ReplayAudit::Tensor::comparedAt(const Watched& watched) const noexcept
{
    if (watched.digest)
        return m_audit.m_chain.links()[watched.link]->index.digests == DigestAlgorithm::Adler32 ? Compared::Weak
                                                                                                : Compared::Digest;
    return m_audit.m_chain.isComplete(watched.link) ? Compared::Start : Compared::Nothing;
}

Compared ReplayAudit::Tensor::comparedAtEnd() const noexcept
{
    const Compared compared = comparedAt(m_links.back());
    const bool recorded = m_audit.recordsState(m_audit.m_links.size() - 1);
    return recorded && compared != Compared::Digest ? Compared::Root : compared;
}

/// What was compared of this tensor in each state from the first that holds it on.
void ReplayAudit::Tensor::addCompared()
{
    for (std::size_t i = 0; i < m_links.size(); ++i) {
        const std::size_t end = i + 1 < m_links.size() ? m_links[i + 1].link : m_audit.m_links.size();
        Compared compared = comparedAt(m_links[i]);
        for (std::size_t link = m_links[i].link; link < end; ++link) {
            if (compared != Compared::Digest && m_audit.recordsState(link))
                compared = Compared::Root;
            m_audit.m_links[link].compared.add(compared, m_tensor.name);
        }
    }
}

/// The newest state before the replay that the complete one is equal to, if deltas have changed enough since to tell.
void ReplayAudit::Tensor::addReverted()
{
    constexpr std::uint64_t LeastChanged = 64;
    if (!m_links.back().state)
        return;
    LinkAudit& audit = m_audit.m_links[m_links.back().link];
    const std::string now = m_links.back().state->hex();
    std::size_t at = m_links.size() - 2; // what the replay leads to: being equal to that is agreement
    const bool agrees = m_links[at].state->hex() == now;
    std::uint64_t changed = 0;
    for (; at > 0; --at) {
        changed += m_links[at].counts.changed;
        if (agrees || m_links[at - 1].state->hex() != now)
            continue;
        if (changed >= LeastChanged)
            audit.reverted.push_back(
                { m_tensor.name, m_audit.m_chain.links()[m_links[at - 1].link]->objects.step, changed });
        break;
    }
    for (; at > 0; --at)
        changed += m_links[at].counts.changed;
    audit.changedBefore += changed > 0 ? 1 : 0;
}

void ReplayAudit::Tensor::addHealth(TensorHealth::Findings findings)
{
    for (auto& [link, suspect] : findings.suspects)
        m_audit.m_links[link].suspects.push_back(std::move(suspect));
    for (const std::size_t link : findings.expected)
        ++m_audit.m_links[link].expectedToChange;
    for (auto& [link, suspect] : findings.unchanged)
        m_audit.m_links[link].unchanged.push_back(std::move(suspect));
    for (auto& [link, drift] : findings.farMoved)
        m_audit.m_links[link].farMoved.push_back(std::move(drift));
    if (findings.isMask)
        m_audit.m_links.front().masks.push_back(m_tensor.name);
    if (findings.first)
        m_audit.m_zeroLayers.add(m_tensor, std::move(*findings.first));
    ValueHistories& histories = m_audit.m_histories;
    if (findings.history != histories.unchanged || m_audit.m_health->histories.changed.contains(m_tensor.name))
        histories.changed[m_tensor.name] = std::move(findings.history);
}

bool ReplayAudit::Tensor::finish()
{
    bool sound = true;
    std::optional<TensorHealth::Findings> health;
    if (m_health)
        health = m_health->finish();
    for (Watched& watched : m_links) {
        if (watched.leaves)
            watched.leaves->finish();
    }
    const std::lock_guard lock(m_audit.m_mutex);
    if (m_audit.m_states)
        addCompared();
    if (health)
        addHealth(std::move(*health));
    addReverted();
    for (Watched& watched : m_links) {
        if (watched.leaves)
            m_audit.m_nodes.push_back(
                { &m_tensor, watched.link, tensorNode(m_tensor, watched.leaves->fast(), {}).fast });
        LinkAudit& audit = m_audit.m_links[watched.link];
        audit.counts += watched.counts;
        if (watched.counts.changed > 0)
            audit.changed.push_back(TensorCount { m_tensor.name, watched.counts.changed });
        if (watched.counts.zeroSigns > 0)
            audit.zeroSigns.push_back(TensorCount { m_tensor.name, watched.counts.zeroSigns });
        if (!watched.digest)
            continue;
        ++audit.digestsChecked;
        ++m_digestsChecked;
        std::string actual = watched.digest->hex();
        if (actual == watched.expected)
            continue;
        sound = false;
        ++audit.digestsFailed;
        if (audit.firstFailedTensor.empty() || m_tensor.name < audit.firstFailedTensor) {
            audit.firstFailedTensor = m_tensor.name;
            audit.expected = watched.expected;
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
        if (m_links[i].digestsFailed == 0)
            continue;
        Error failure =
            digestFailure(factsOf(i, VersionKind::Delta, 0), m_chain.links()[i]->objects, externalBase && i == 1);
        if (failure.code == Code::Digest && externalBase)
            failure.action = BaseFirst;
        return fail(std::move(failure));
    }
    return {};
}

void ReplayAudit::finishStates()
{
    for (LinkAudit& link : m_links) {
        if (link.state)
            link.stateMatches = link.state->matches();
    }
    finishRoots();
    finishHealth();
}

/// A tensor that a delta leaves as it is is suspect if the delta changes most of those that always change.
void ReplayAudit::finishHealth()
{
    for (const ZeroTensor& tensor : m_zeroLayers.take()) {
        m_links.front().suspects.push_back({ tensor.name, Suspicion::ZeroLayer, 0, 0 });
        for (const std::size_t link : tensor.stillZeroAt)
            m_links[link].suspects.push_back({ tensor.name, Suspicion::ZeroLayer, 0, 0 });
    }
    for (LinkAudit& audit : m_links) {
        if (2 * audit.unchanged.size() <= audit.expectedToChange)
            std::move(audit.unchanged.begin(), audit.unchanged.end(), std::back_inserter(audit.suspects));
        sortSuspects(audit.suspects);
        std::sort(audit.masks.begin(), audit.masks.end());
    }
}

void ReplayAudit::moveTo(HealthBook& book)
{
    book.histories.unchanged = std::move(m_histories.unchanged);
    for (auto& [name, history] : m_histories.changed)
        book.histories.changed[name] = std::move(history);
    m_histories = {};
}

void ReplayAudit::finishRoots()
{
    const auto before = [](const Node& a, const Node& b) {
        const int order = a.tensor->name.compare(b.tensor->name);
        return order != 0 ? order < 0 : a.link < b.link;
    };
    std::sort(m_nodes.begin(), m_nodes.end(), before);
    for (std::size_t link = 0; link < m_rootsUpTo; ++link) {
        if (!wantsRoot(link))
            continue;
        std::vector<TensorNode> nodes; // of the newest state of each tensor up to the link
        const TensorInfo* newest = nullptr;
        for (const Node& node : m_nodes) {
            if (node.link > link)
                continue;
            if (node.tensor != newest)
                nodes.emplace_back();
            nodes.back().fast = node.fast;
            newest = node.tensor;
        }
        m_links[link].root = toHex(checkpointRoot(nodes, false).fast);
    }
}

VersionFacts::RootCheck ReplayAudit::rootCheck(std::size_t link) const
{
    using Check = VersionFacts::RootCheck;
    const auto& links = m_chain.links();
    if (link == 1 && m_chain.onExternalBase() && !m_links[0].root.empty()
        && m_links[0].root != links[1]->index.fact(fact::Base))
        return Check::BaseDiffers;
    if (m_links[link].root.empty() && m_links[link].state)
        return m_links[link].stateMatches ? Check::Matches : Check::Differs;
    if (m_links[link].root.empty())
        return Check::None;
    return m_links[link].root == links[link]->index.fact(fact::Root) ? Check::Matches : Check::Differs;
}

namespace {

void addReverted(const LinkAudit& audit, VersionFacts& facts)
{
    constexpr std::size_t MostNamed = 10;
    std::vector<RevertedTensor>& tensors = facts.revertedTensors;
    tensors = audit.reverted;
    std::sort(tensors.begin(), tensors.end(), [](const RevertedTensor& a, const RevertedTensor& b) {
        return a.changed != b.changed ? a.changed > b.changed : a.name < b.name;
    });
    const auto isOfOneState = [&](const RevertedTensor& tensor) { return tensor.step == tensors.front().step; };
    facts.revertsAll = !tensors.empty() && tensors.size() == audit.changedBefore
        && std::all_of(tensors.begin(), tensors.end(), isOfOneState);
    tensors.resize(std::min(tensors.size(), MostNamed));
}

}

VersionFacts ReplayAudit::factsOf(std::size_t link, VersionKind kind, std::uint64_t elements) const
{
    const LinkAudit& audit = m_links[link];
    VersionFacts facts;
    facts.changedElements = kind == VersionKind::Anchor ? elements : audit.counts.changed;
    if (kind == VersionKind::Anchor && link > 0) {
        facts.changedVsPrevious = audit.counts.changed;
        facts.zeroSigns = audit.counts.zeroSigns;
        facts.sameLowByte = audit.counts.sameLowByte - std::min(audit.counts.sameLowByte, audit.counts.zeroSigns);
        facts.driftedTensors = driftedTensors(m_chain, m_links, link, m_health);
        addReverted(audit, facts);
    } else if (kind == VersionKind::Delta) {
        facts.sameLowByte = audit.counts.sameLowByte;
    }
    constexpr std::size_t MostSuspects = 10;
    facts.suspectTensors.assign(audit.suspects.begin(),
                                audit.suspects.begin()
                                    + static_cast<std::ptrdiff_t>(std::min(MostSuspects, audit.suspects.size())));
    facts.infiniteTensors = audit.masks;
    facts.infiniteTensors.resize(std::min(MostSuspects, audit.masks.size()));
    facts.assigned = audit.counts.assigned;
    facts.noops = audit.counts.noops - audit.counts.nanNoops;
    facts.digestsChecked = audit.digestsChecked;
    facts.digestsFailed = audit.digestsFailed;
    facts.firstFailedTensor = audit.firstFailedTensor;
    facts.expectedDigest = audit.expected;
    facts.actualDigest = audit.actual;
    if (m_states)
        facts.compared = audit.compared;
    facts.rootCheck = rootCheck(link);
    if (facts.rootCheck == VersionFacts::RootCheck::Differs)
        facts.actualRoot = audit.root.empty() ? audit.state->actual() : audit.root;
    if (facts.rootCheck == VersionFacts::RootCheck::BaseDiffers)
        facts.actualRoot = m_links[0].root;
    return facts;
}

} // namespace deltascope

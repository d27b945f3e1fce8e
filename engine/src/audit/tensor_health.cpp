#include "audit/tensor_health.h"

#include <algorithm>

namespace deltascope {

bool isDelta(const PathState& chain, std::size_t link) noexcept { return !chain.links()[link]->index.full; }

TensorHealth::TensorHealth(const PathState& chain, const TensorInfo& tensor, std::vector<std::size_t> links,
                           const HealthBook& before, std::shared_ptr<const Backend> backend)
    : m_chain(chain)
    , m_tensor(tensor)
    , m_links(std::move(links))
    , m_meter(MoveMeter::of(tensor.dtype, m_links.size(), std::move(backend)))
    , m_judgesFirst(before.judgesFirst)
    , m_history(before.histories.of(tensor.name))
    , m_restored(before.restored)
{
    m_held[0] = ofTensor(before.held);
}

std::vector<SuspectTensor> TensorHealth::ofTensor(const std::vector<SuspectTensor>& suspects) const
{
    std::vector<SuspectTensor> own;
    std::copy_if(suspects.begin(), suspects.end(), std::back_inserter(own),
                 [&](const SuspectTensor& suspect) { return suspect.name == m_tensor.name; });
    return own;
}

void TensorHealth::onPiece(std::size_t at, ByteSpan state, const PatchPiece& piece)
{
    if (m_meter)
        m_meter->onPiece(at, state, piece);
}

void TensorHealth::onBlock(std::size_t at, ByteSpan state)
{
    if (m_meter)
        m_meter->onBlock(at, state);
}

TensorHealth::Findings TensorHealth::finish()
{
    Findings findings;
    if (!m_meter)
        return findings;
    m_meter->finish();
    const std::vector<TensorMoves>& moves = m_meter->moves();
    std::size_t at = m_meter->start();
    if (at >= m_links.size())
        return findings;
    if (m_judgesFirst && m_links[at] == 0)
        judgeFirstLink(findings);
    for (std::size_t link = m_links[at] + 1; link < m_chain.links().size(); ++link) {
        const bool touched = at + 1 < m_links.size() && m_links[at + 1] == link;
        const TensorMoves& before = moves[at];
        at += touched ? 1 : 0;
        if (const auto restored = m_restored.find(link); restored != m_restored.end())
            m_held[link] = restored->second.link ? heldBehind(*restored->second.link) : ofTensor(restored->second.held);
        else if (isDelta(m_chain, link))
            judgeDelta(link, touched ? at : m_links.size(), before, findings);
        else if (touched && m_chain.isComplete(link))
            judgeAnchor(link, before, moves[at], findings);
    }
    findings.history = m_history;
    return findings;
}

void TensorHealth::judgeFirstLink(Findings& findings)
{
    const std::vector<TensorMoves>& moves = m_meter->moves();
    if (std::optional<SuspectTensor> suspect = judgeFirst(m_meter->first(), m_tensor.elements()))
        add(0, std::move(*suspect), findings);
    findings.isMask = holdsMask(m_meter->first(), m_tensor.elements());
    FirstTensor first { moves[0].zero, {} };
    for (std::size_t at = 1; first.isZero && at < m_links.size() && moves[at].zero; ++at) {
        if (m_chain.isComplete(m_links[at]))
            first.stillZeroAt.push_back(m_links[at]);
    }
    findings.first = std::move(first);
}

/// `at`: in m_links, or behind its end where the delta does not name the tensor.
void TensorHealth::judgeDelta(std::size_t link, std::size_t at, const TensorMoves& before, Findings& findings)
{
    const TensorMoves& moves = at < m_links.size() ? m_meter->moves()[at] : TensorMoves::none();
    const std::optional<std::uint64_t> fewest = m_history.alwaysChanged();
    if (fewest)
        findings.expected.push_back(link);
    if (moves.changed == 0) {
        if (fewest)
            findings.unchanged.emplace_back(
                link, SuspectTensor { m_tensor.name, Suspicion::NotChanged, 0, static_cast<double>(*fewest) });
    } else if (std::optional<SuspectTensor> suspect =
                   m_history.judge(before, moves, m_meter->squares(), m_tensor.elements())) {
        add(link, std::move(*suspect), findings);
    } else if (!m_history.canJudge() && !before.constant) { // what leaves zeros or ones behind moves far
        if ((suspect = judgeByLater(moves, behind(at))))
            add(link, std::move(*suspect), findings);
    }
    const std::uint64_t countable = m_chain.links()[link]->layout->countableElements();
    if (at < m_links.size() && m_tensor.elements() > countable)
        add(link,
            SuspectTensor {
                {}, Suspicion::Wrap, static_cast<double>(m_tensor.elements()), static_cast<double>(countable) },
            findings);
    m_history.add(moves, m_meter->squares());
}

/// What the deltas of the chain behind one of them do.
std::vector<const TensorMoves*> TensorHealth::behind(std::size_t at) const
{
    std::vector<const TensorMoves*> moves;
    for (std::size_t i = at + 1; i < m_links.size(); ++i) {
        if (isDelta(m_chain, m_links[i]) && !m_restored.contains(m_links[i]) && m_meter->moves()[i].changed > 0)
            moves.push_back(&m_meter->moves()[i]);
    }
    return moves;
}

void TensorHealth::judgeAnchor(std::size_t link, const TensorMoves& before, const TensorMoves& moves,
                               Findings& findings)
{
    const std::vector<SuspectTensor>& heldBefore = heldBehind(link);
    std::vector<SuspectTensor> held = stillHeld(heldBefore, moves, m_meter->squares());
    const bool takenBack = held.size() < heldBefore.size();
    if (std::optional<SuspectTensor> suspect =
            m_history.judgeAnchor(before, moves, m_meter->squares(), m_tensor.elements())) {
        suspect->name = m_tensor.name;
        takeUp(held, std::move(*suspect));
    }
    for (const SuspectTensor& suspect : held)
        findings.suspects.emplace_back(link, suspect);
    m_held[link] = std::move(held);
    const bool lowBytesMissed = m_chain.links()[link]->layout->mayCompareLowBytes(); // they differ by far, and alone
    const std::optional<std::uint64_t> far = m_history.farMoved(moves, !lowBytesMissed);
    if (!takenBack && far.value_or(0) > ValueHistory::ManyElements && !m_chain.isFullForm(link))
        findings.farMoved.emplace_back(link, TensorDrift { m_tensor.name, moves.changed, 0, *far });
}

void TensorHealth::add(std::size_t link, SuspectTensor suspect, Findings& findings)
{
    suspect.name = m_tensor.name;
    takeUp(m_held.try_emplace(link, heldBehind(link)).first->second, suspect);
    findings.suspects.emplace_back(link, std::move(suspect));
}

} // namespace deltascope

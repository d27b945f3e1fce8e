#include "hub_reader.h"

#include "deltascope/base/threads.h"

#include <algorithm>

namespace deltascope::hub {

namespace {

constexpr std::chrono::seconds AvoidsXetFor { 60 };

/// Whether plain bytes may help: the Xet servers are out of reach, do not have the file, or send what is not
/// understood.
bool mayReadPlain(Code code) { return code == Code::Transient || code == Code::NotFound || code == Code::Unsupported; }

/// Calls work(0) … work(count - 1), on at most `mostThreads` threads, this one included.
template <class Work> void runAtOnce(std::size_t count, std::size_t mostThreads, const Work& work)
{
    std::atomic<std::size_t> next = 0;
    const auto run = [&] {
        for (std::size_t i = next++; i < count; i = next++)
            work(i);
    };
    runOnThreads(std::min(count, mostThreads), run);
}

xet::ReaderOptions readerOptions(std::size_t mostParallel)
{
    xet::ReaderOptions options;
    options.threads = static_cast<unsigned>(std::clamp<std::size_t>(mostParallel, 1, 64));
    return options;
}

} // namespace

HubReader::HubReader(std::shared_ptr<const HubApi> hub, std::shared_ptr<xet::AccessSource> access,
                     std::size_t mostParallel)
    : m_hub(hub)
    , m_mostParallel(std::clamp<std::size_t>(mostParallel, 1, 64))
    , m_xet(hub->brief(), std::move(access), readerOptions(mostParallel))
    , m_plain(std::move(hub))
{
}

std::vector<Result<void>> HubReader::readMany(const std::vector<HubRange>& ranges, TaskContext& task)
{
    std::vector<Result<void>> outcomes(ranges.size());
    std::vector<std::size_t> xet, plain;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
        if (!ranges[i].out.empty())
            (ranges[i].file.identity.xet() && !avoidsXet() ? xet : plain).push_back(i);
    }
    const std::vector<Result<void>> read = readXet(ranges, xet, task);
    for (std::size_t i = 0; i < xet.size(); ++i) {
        outcomes[xet[i]] = read[i];
        if (!read[i] && mayReadPlain(read[i].error().code))
            plain.push_back(xet[i]);
    }
    runAtOnce(plain.size(), m_mostParallel, [&](std::size_t i) {
        Result<void>& outcome = outcomes[plain[i]];
        const std::optional<Error> before = outcome ? std::nullopt : std::optional(outcome.error());
        outcome = caught([&] { return readPlain(ranges[plain[i]], before ? &*before : nullptr, task); });
    });
    return outcomes;
}

std::vector<Result<void>> HubReader::readXet(const std::vector<HubRange>& ranges, const std::vector<std::size_t>& which,
                                             TaskContext& task)
{
    if (which.empty())
        return {};
    std::vector<xet::FileRange> wanted;
    wanted.reserve(which.size());
    for (const std::size_t i : which) {
        const HubRange& range = ranges[i];
        wanted.push_back({ *range.file.identity.xet(), range.file.identity.sizeBytes, range.offset, range.out });
    }
    std::vector<Result<void>> outcomes = m_xet.readMany(wanted, task);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        if (outcomes[i])
            m_xetBytes += wanted[i].out.size();
        else
            outcomes[i].error().where = ranges[which[i]].file.subject.where;
    }
    return outcomes;
}

Result<void> HubReader::readPlain(const HubRange& range, const Error* before, TaskContext& task)
{
    const Result<void> outcome = m_plain.read(range.file, range.offset, range.out, task);
    if (outcome) {
        m_plainBytes += range.out.size();
        if (before && before->code == Code::Transient)
            m_plainUntil = (m_hub->clock()->now() + AvoidsXetFor).time_since_epoch().count();
        return outcome;
    }
    // The error of the first way counts where the second one says no more.
    const Code code = outcome.error().code;
    const bool saysMore = code == Code::Rewritten || code == Code::Canceled || code == Code::Digest;
    if (before && before->code == Code::Transient && !saysMore)
        return fail(*before);
    return outcome;
}

bool HubReader::avoidsXet() const { return m_hub->clock()->now().time_since_epoch().count() < m_plainUntil; }

HubReads HubReader::reads() const { return { m_xetBytes, m_plainBytes }; }

ReadProof HubReader::proofOf(const HubIdentity& identity) const
{
    const std::optional<xet::Hash> hash = identity.xet();
    if (!hash)
        return ReadProof::None;
    return m_xet.proofOf(*hash, identity.sizeBytes) == xet::Proof::Proven ? ReadProof::Proven : ReadProof::Partial;
}

} // namespace deltascope::hub

#pragma once

#include "deltascope/engine/object_store.h"
#include "plain_reader.h"
#include "store/xet/reader.h"

#include <atomic>
#include <cstdint>
#include <memory>
#include <vector>

namespace deltascope::hub {

/// One of several reads; it lies within the file.
struct HubRange {
    PlainFile file;
    std::uint64_t offset = 0;
    MutableByteSpan out;
};

/// Reads files by their hashes through the Xet protocol, and where that cannot be done, as plain bytes. Any thread.
class HubReader {
public:
    /// `access`: for the bucket or repository that the files are of.
    HubReader(std::shared_ptr<const HubApi> hub, std::shared_ptr<xet::AccessSource> access, std::size_t mostParallel);

    /// Each with its own outcome, in their order. Errors: those of xet::Reader and of PlainReader.
    std::vector<Result<void>> readMany(const std::vector<HubRange>& ranges, TaskContext& task);
    HubReads reads() const;
    /// Of what came through the Xet protocol. Plain bytes prove nothing.
    ReadProof proofOf(const HubIdentity& identity) const;

private:
    std::vector<Result<void>> readXet(const std::vector<HubRange>& ranges, const std::vector<std::size_t>& which,
                                      TaskContext& task);
    Result<void> readPlain(const HubRange& range, const Error* before, TaskContext& task);
    bool avoidsXet() const;

    const std::shared_ptr<const HubApi> m_hub;
    const std::size_t m_mostParallel;
    xet::Reader m_xet;
    PlainReader m_plain;
    std::atomic<std::uint64_t> m_xetBytes = 0, m_plainBytes = 0;
    std::atomic<std::int64_t> m_plainUntil = INT64_MIN; ///< of the steady clock: the Xet servers cannot be reached
};

} // namespace deltascope::hub

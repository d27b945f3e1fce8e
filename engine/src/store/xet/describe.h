#pragma once

#include "store/xet/cas_client.h"
#include "store/xet/reconstruction.h"

#include <atomic>
#include <cstdint>

namespace deltascope::xet {

/// Asks a content-addressed store how files are put together. Any thread.
class Describer {
public:
    explicit Describer(CasClient& cas)
        : m_cas(cas)
    {
    }

    /// Of bytes [begin, end) of a file. `form`: the one to try first; where the store does not have v2 it is v1.
    /// Errors: NotFound, Truncated (there are no bytes at `begin`), Hostile, and those of the store.
    Result<Reconstruction> describe(const Hash& file, std::uint64_t begin, std::uint64_t end, ReconstructionForm form,
                                    TaskContext& task);

private:
    Result<Reconstruction> describeOnce(const Hash& file, std::uint64_t begin, std::uint64_t end,
                                        ReconstructionForm form, TaskContext& task);
    Result<http::Response> ask(const Hash& file, std::uint64_t begin, std::uint64_t end, ReconstructionForm form,
                               TaskContext& task, std::string& address);

    CasClient& m_cas;
    std::atomic<bool> m_hasV2 = true;
};

} // namespace deltascope::xet

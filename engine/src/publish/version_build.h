#pragma once

#include "deltascope/engine/backend.h"
#include "deltascope/engine/operations.h"
#include "deltascope/engine/version_writer.h"
#include "ops/judge_state.h"

#include <memory>
#include <optional>
#include <string>

namespace deltascope {

/// What walking the states of a version showed.
struct BuiltVersion {
    std::uint64_t changedElements = 0; ///< all of an anchor
    std::string fromRoot; ///< fast DSM1 roots, hex; of an anchor only the second
    std::string toRoot;
};

/// Walks states tensor by tensor and block by block into a writer, several tensors at a time. Holds one block of each
/// side per thread, never a tensor.
class VersionBuild {
public:
    explicit VersionBuild(WalkMeans means)
        : m_means(std::move(means))
    {
    }

    const WalkMeans& means() const noexcept { return m_means; }
    const std::shared_ptr<const Backend>& backend() const noexcept { return m_means.backend; }
    /// `judge`: sees what is read; null: nobody does. Errors: also SuspectValues, as soon as a tensor is suspect.
    Result<BuiltVersion> anchor(VersionWriter& writer, const State& state, StateJudge* judge, TaskContext& task);
    /// `judge`: of `to`, beside `from`. Errors: BaseMismatch (the states do not have the same tensors), those of writer
    /// and replay.
    Result<BuiltVersion> delta(VersionWriter& writer, const State& from, const State& to, StateJudge* judge,
                               TaskContext& task);
    /// Hashes a state: its fast root.
    Result<std::string> rootOf(const State& state, TaskContext& task);

private:
    WalkMeans m_means;
};

} // namespace deltascope

#pragma once

#include "deltascope/engine/path_state.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

class CheckedReads;

/// The path that openPath() opens.
class Chain final : public PathState {
public:
    /// Errors: those of openPath(), before CheckedReads::reasonOf() looks for their reason.
    static Result<PathPtr> open(const Run& run, const Plan& plan, std::shared_ptr<CheckedReads> reads,
                                const ReadRules& rules, TaskContext& task);

    const std::vector<std::shared_ptr<const OpenVersion>>& links() const noexcept override { return m_links; }
    std::optional<std::size_t> versionOf(std::size_t link) const noexcept override { return m_versions[link]; }
    std::size_t formOf(std::size_t link) const noexcept override { return m_forms[link]; }
    bool isComplete(std::size_t link) const noexcept override { return m_complete[link]; }
    std::unique_ptr<StateWalk> replay(std::vector<TensorSlice> slices, WalkOptions options) const override;
    Result<void> expectSoundObjects(TaskContext& task) const override;
    Result<void> expectKnownObjects(TaskContext& task) const override;

    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); }
    StatePlace place() const override;
    std::optional<std::string_view> fileOf(std::size_t tensor) const override;
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override;
    bool hasDigests() const noexcept override;
    Result<void> checkWhole(TaskContext& task) const override;
    Result<std::optional<AdapterConfig>> adapterConfig(TaskContext& task) const override;
    Result<void> expectRecorded(const std::string& root, const WalkMeans& means, TaskContext& task) const override;
    Result<void> expectSoundReads(TaskContext& task) const override;
    Result<void> expectUnchanged(TaskContext& task) const override;
    Error reasonOf(Error error, TaskContext& task) const override;
    std::vector<std::string> rewritten() const override;
    std::vector<Error> readNotices() const override;

private:
    Chain() = default;
    Result<void> collectTensors();

    std::shared_ptr<CheckedReads> m_reads; ///< never null
    Replaced m_replaced = Replaced::Fails;
    std::vector<std::shared_ptr<const OpenVersion>> m_links;
    std::vector<std::optional<std::size_t>> m_versions;
    std::vector<std::size_t> m_forms;
    std::vector<bool> m_complete;
    std::vector<const TensorInfo*> m_tensors; ///< in the indices of the links
};

} // namespace deltascope

#pragma once

#include "deltascope/engine/object_store.h"
#include "deltascope/engine/path_state.h"
#include "deltascope/engine/state.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The tensors of one safetensors file, in whatever folder it lies.
class FileState final : public State {
public:
    /// Reads the header. `rules`: what reads are compared with, where a folder around the file was opened as a run and
    /// put it on record. Errors: NotFound, Rewritten, those of SafetensorsHeader::read.
    static Result<FileState> open(std::shared_ptr<const ObjectStore> store, const std::string& key, TaskContext& task,
                                  const ReadRules& rules = {});

    const ObjectStore& store() const noexcept;
    const ObjectInfo& object() const noexcept; ///< in store()
    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); }
    StatePlace place() const override;
    std::optional<std::string_view> fileOf(std::size_t tensor) const override;
    /// Of the file of weights that PEFT writes: the one beside it.
    Result<std::optional<AdapterConfig>> adapterConfig(TaskContext& task) const override;
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override;
    Result<void> expectSoundReads(TaskContext& task) const override;
    Result<void> expectUnchanged(TaskContext& task) const override;
    std::vector<std::string> rewritten() const override;
    std::vector<Error> readNotices() const override;
    Error reasonOf(Error error, TaskContext& task) const override;

private:
    struct Content;
    explicit FileState(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
    std::vector<const TensorInfo*> m_tensors; ///< by name; in the content
};

} // namespace deltascope

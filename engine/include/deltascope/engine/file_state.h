#pragma once

#include "deltascope/engine/object_store.h"
#include "deltascope/engine/state.h"

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The tensors of one safetensors file, in whatever folder it lies. Nothing is on record of it.
class FileState final : public State {
public:
    /// Reads the header. Errors: NotFound, those of SafetensorsHeader::read.
    static Result<FileState> open(std::shared_ptr<const ObjectStore> store, const std::string& key, TaskContext& task);

    const ObjectStore& store() const noexcept;
    const ObjectInfo& object() const noexcept; ///< in store()
    TensorRange tensors() const noexcept override { return TensorRange(m_tensors); }
    StatePlace place() const override;
    std::optional<std::string_view> fileOf(std::size_t tensor) const override;
    Result<std::unique_ptr<StateWalk>> walk(std::vector<TensorSlice> slices, WalkOptions options) const override;
    Result<void> expectUnchanged(TaskContext& task) const override;

private:
    struct Content;
    explicit FileState(std::shared_ptr<const Content> content);

    std::shared_ptr<const Content> m_content;
    std::vector<const TensorInfo*> m_tensors; ///< by name; in the content
};

} // namespace deltascope

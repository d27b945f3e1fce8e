#include "lineage/placeholders.h"

#include <cstddef>
#include <fmt/format.h>

namespace deltascope {

namespace {

std::string textOf(std::size_t placeholders, std::size_t tensors, const std::string& first)
{
    if (placeholders == 0)
        return {};
    return fmt::format("{} of {} {} {} no elements, {}{}: {} of a sharded save, no model", placeholders, tensors,
                       tensors == 1 ? "tensor" : "tensors", placeholders == 1 ? "holds" : "hold", first,
                       placeholders == 1 ? "" : " first", placeholders == 1 ? "a placeholder" : "placeholders");
}

}

Error placeholderNote(std::string text)
{
    return Error { Code::SuspectValues,
                   std::move(text),
                   {},
                   std::nullopt,
                   "gather the weights before they are saved (of DeepSpeed ZeRO-3: "
                   "stage3_gather_16bit_weights_on_model_save)" };
}

bool isPlaceholder(const TensorInfo& tensor) noexcept
{
    return tensor.elements() == 0 && (tensor.name.ends_with(".weight") || tensor.name.ends_with(".bias"));
}

std::string placeholdersIn(const VersionIndex& index)
{
    std::size_t placeholders = 0;
    std::string first;
    for (const TensorEntry& entry : index.tensors) {
        if (!entry.info() || !isPlaceholder(*entry.info()))
            continue;
        if (placeholders++ == 0)
            first = entry.name();
    }
    return textOf(placeholders, index.tensors.size(), first);
}

std::string placeholdersIn(const State& state, const State* before)
{
    std::size_t placeholders = 0;
    std::string first;
    for (const TensorInfo& tensor : state.tensors()) {
        const TensorInfo* const then = before ? before->find(tensor.name) : nullptr;
        if (tensor.elements() > 0 || (then ? then->elements() == 0 : !isPlaceholder(tensor)))
            continue;
        if (placeholders++ == 0)
            first = tensor.name;
    }
    return textOf(placeholders, state.tensors().size(), first);
}

} // namespace deltascope

#include "no_such_tensor.h"

#include "deltascope/base/nearest.h"
#include "deltascope/engine/tensor_view.h"

#include <fmt/format.h>

namespace deltascope {

namespace {

constexpr std::size_t MostNames = 3;

/// Names that hold what was typed: "lm_head" for "lm_head.weight".
std::vector<std::string> namesWith(std::string_view typed, const std::vector<std::string_view>& names)
{
    constexpr std::size_t LeastLetters = 3; // anything holds one letter
    std::vector<std::string> with;
    for (auto name = names.begin(); typed.size() >= LeastLetters && name != names.end() && with.size() < MostNames;
         ++name) {
        if (name->find(typed) != std::string_view::npos)
            with.emplace_back(*name);
    }
    return with;
}

}

std::string didYouMean(std::string_view typed, const std::vector<std::string_view>& names)
{
    std::vector<std::string> near = nearestWords(typed, names, MostNames);
    if (near.empty())
        near = namesWith(typed, names);
    if (near.empty())
        return {};
    std::string text = "; did you mean " + near.front();
    for (std::size_t i = 1; i < near.size(); ++i)
        text += (i + 1 == near.size() ? " or " : ", ") + near[i];
    return text + "?";
}

Error noSuchTensor(std::string_view name, std::optional<std::int64_t> step, std::string where,
                   const std::vector<std::string_view>& names)
{
    return Error { Code::NotFound,
                   fmt::format("{} has no tensor {}{}", step ? fmt::format("step {}", *step) : "the checkpoint", name,
                               didYouMean(name, names)),
                   std::move(where), step, "show lists the tensors of a step" };
}

Result<const TensorInfo*> tensorIn(const State& state, std::string_view name)
{
    if (const TensorInfo* tensor = state.find(name))
        return tensor;
    std::vector<std::string_view> names;
    names.reserve(state.tensors().size());
    for (const TensorInfo& tensor : state.tensors())
        names.push_back(tensor.name);
    StatePlace place = state.place();
    return fail(noSuchTensor(name, place.step, std::move(place.where), names));
}

} // namespace deltascope

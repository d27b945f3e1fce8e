#include "fused_projections.h"

#include "correspondence.h"
#include "state/rounding.h"
#include "state/view_state.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <set>
#include <string_view>
#include <utility>

namespace deltascope {

namespace {

struct Rule {
    std::string_view fused;
    std::vector<std::string_view> apart; ///< in the order of their rows
};

const std::array<Rule, 2>& rules()
{
    static const std::array<Rule, 2> all = { Rule { "qkv_proj", { "q_proj", "k_proj", "v_proj" } },
                                             Rule { "gate_up_proj", { "gate_proj", "up_proj" } } };
    return all;
}

/// Where a module's name stands in that of a tensor: "q_proj" in "layers.0.q_proj.weight". Nothing: it does not.
std::optional<std::size_t> moduleIn(std::string_view name, std::string_view module)
{
    const std::size_t at = name.rfind(module);
    const auto isDot = [&](std::size_t position) { return position < name.size() && name[position] == '.'; };
    return at != std::string_view::npos && at > 0 && isDot(at - 1) && isDot(at + module.size()) ? std::optional(at)
                                                                                                : std::nullopt;
}

std::string withModule(std::string_view name, std::size_t at, std::string_view module, std::string_view other)
{
    return fmt::format("{}{}{}", name.substr(0, at), other, name.substr(at + module.size()));
}

/// Weights and biases have their rows in the first dimension; packed and quantized ones, scales and adapters need not.
bool hasRows(const TensorInfo& tensor)
{
    return !tensor.shape.empty() && (tensor.name.ends_with(".weight") || tensor.name.ends_with(".bias"))
        && tensor.name.find(".lora_") == std::string::npos;
}

/// The tensors that a rule puts below the one of its first module, with it; empty: not all of them fit together.
std::vector<std::size_t> partsBelow(const State& state, const TensorInfo& first, std::size_t at, const Rule& rule)
{
    std::vector<std::size_t> parts;
    for (const std::string_view module : rule.apart) {
        const std::optional<std::size_t> part = state.indexOf(withModule(first.name, at, rule.apart[0], module));
        if (!part)
            return {};
        const TensorInfo& info = state.tensors()[*part];
        if (info.dtype != first.dtype || info.shape.size() != first.shape.size()
            || !std::equal(info.shape.begin() + 1, info.shape.end(), first.shape.begin() + 1))
            return {};
        parts.push_back(*part);
    }
    return parts;
}

/// One tensor of a rule, put together.
struct Fused {
    const Rule* rule;
    TensorRecipe recipe;
};

std::vector<Fused> allThatFit(const State& apart, const State& other)
{
    std::vector<Fused> found;
    for (const Rule& rule : rules()) {
        const auto isFused = [&](const TensorInfo& tensor) { return moduleIn(tensor.name, rule.fused).has_value(); };
        const TensorRange theirs = other.tensors();
        if (std::none_of(theirs.begin(), theirs.end(), isFused))
            continue;
        for (const TensorInfo& first : apart.tensors()) {
            const std::optional<std::size_t> at = moduleIn(first.name, rule.apart[0]);
            if (!at || !hasRows(first) || other.find(first.name))
                continue;
            Fused fused { &rule, { first, {} } };
            fused.recipe.info.name = withModule(first.name, *at, rule.apart[0], rule.fused);
            fused.recipe.info.shape[0] = 0;
            for (const std::size_t part : partsBelow(apart, first, *at, rule)) {
                const TensorInfo& info = apart.tensors()[part];
                fused.recipe.info.shape[0] += info.shape[0];
                fused.recipe.parts.push_back({ part, 0, info.elements() });
            }
            if (!fused.recipe.parts.empty() && checkedSize(fused.recipe.info) && !apart.find(fused.recipe.info.name))
                found.push_back(std::move(fused));
        }
    }
    return found;
}

std::unique_ptr<State> withFused(const State& apart, const std::vector<Fused>& fused)
{
    std::vector<bool> isPart(apart.tensors().size());
    std::vector<TensorRecipe> recipes;
    recipes.reserve(isPart.size());
    for (const Fused& one : fused) {
        recipes.push_back(one.recipe);
        for (const ViewPart& part : one.recipe.parts)
            isPart[*part.tensor] = true;
    }
    for (std::size_t i = 0; i < isPart.size(); ++i) {
        if (!isPart[i])
            recipes.push_back(wholeTensor(apart, i));
    }
    return viewOf(apart, std::move(recipes)).value(); // allThatFit() leaves nothing to refuse
}

std::optional<PrefixMap> turned(const std::optional<PrefixMap>& map)
{
    return map ? std::optional(PrefixMap { map->b, map->a }) : std::nullopt;
}

}

std::optional<FusedState> fusedLike(const State& apart, const State& other, const std::optional<PrefixMap>& prefixes)
{
    std::vector<Fused> fused = allThatFit(apart, other);
    if (fused.empty())
        return std::nullopt;
    FusedState result { withFused(apart, fused), {}, {} };
    std::set<std::string, std::less<>> met;
    for (const auto& [ours, theirs] : correspond(*result.state, other, true, prefixes).pairs) {
        if (ours->shape == theirs->shape && commonDtype(ours->dtype, theirs->dtype))
            met.insert(ours->name);
    }
    const std::size_t left =
        std::erase_if(fused, [&](const Fused& one) { return !met.contains(one.recipe.info.name); });
    if (fused.empty())
        return std::nullopt;
    if (left > 0) {
        result.state.reset(); // there may be a million tensors: it makes room
        result.state = withFused(apart, fused);
    }
    for (const Rule& rule : rules()) {
        FormDifference form { FormDifference::Kind::Fused, fmt::format("{}", fmt::join(rule.apart, ", ")),
                              std::string(rule.fused), 0, 0 };
        for (const Fused& one : fused) {
            if (one.rule != &rule)
                continue;
            ++form.tensors;
            for (const ViewPart& part : one.recipe.parts)
                result.parts[one.recipe.info.name].push_back(apart.tensors()[*part.tensor].name);
        }
        if (form.tensors > 0)
            result.forms.push_back(std::move(form));
    }
    return result;
}

FusedSides::FusedSides(const State& a, const State& b, bool acrossForms, const std::optional<PrefixMap>& prefixes)
    : m_a(a)
    , m_b(b)
{
    if (!acrossForms)
        return;
    m_fusedA = fusedLike(a, b, prefixes);
    m_fusedB = fusedLike(b, this->a(), turned(prefixes));
}

const std::vector<std::string>* FusedSides::partsOf(const TensorInfo& tensor) const
{
    for (const std::optional<FusedState>* const side : { &m_fusedA, &m_fusedB }) {
        if (!*side)
            continue;
        if (const auto parts = (*side)->parts.find(tensor.name); parts != (*side)->parts.end())
            return &parts->second;
    }
    return nullptr;
}

bool FusedSides::areFusedBy(const FormDifference& form, const TensorInfo& tensor) const
{
    const bool isFusedA = form.a.find(", ") != std::string::npos; // A stores its parts
    return partsOf(tensor) && moduleIn(tensor.name, isFusedA ? form.b : form.a);
}

std::vector<FormDifference> FusedSides::forms() const
{
    std::vector<FormDifference> forms;
    if (m_fusedA)
        forms = m_fusedA->forms;
    if (m_fusedB) {
        for (FormDifference form : m_fusedB->forms) {
            std::swap(form.a, form.b);
            forms.push_back(std::move(form));
        }
    }
    return forms;
}

} // namespace deltascope

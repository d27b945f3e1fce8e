#include "publish/tensor_difference.h"

#include "ops/adapter_settings.h"
#include "ops/correspondence.h"
#include "ops/fused_projections.h"
#include "publish/published_names.h"

#include <algorithm>
#include <cctype>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <vector>

namespace deltascope {

namespace {

using TensorPair = std::pair<const TensorInfo*, const TensorInfo*>;

std::string shapeText(const TensorInfo& tensor) { return fmt::format("[{}]", fmt::join(tensor.shape, ", ")); }

/// Finds every way in which the tensors of two states differ.
class TensorDifferences {
public:
    TensorDifferences(const State& a, const State& b)
        : m_a(a)
        , m_b(b)
        , m_sides(a, b, true, std::nullopt)
        , m_all(correspond(m_sides.a(), m_sides.b(), true, std::nullopt))
    {
        const bool isAdapter = holdsAdapter(a);
        if (isAdapter != holdsAdapter(b) && !a.tensors().empty() && !b.tensors().empty()) {
            add(oneAdapterText(a, b, isAdapter),
                "Publish adapters behind adapters, and behind a model one that they were merged into "
                "(merge_and_unload)");
            return;
        }
        addNames();
        for (const FormDifference& fused : m_sides.forms())
            add(fused.reason() + exampleOf(fused), "Save the checkpoint with the tensors of the run");
        addDtypes();
        addShapes();
        if (!m_all.names || m_all.names->kind != FormDifference::Kind::Adapters) { // else they are the adapters
            addExtra("A", m_all.onlyInA, "B");
            addExtra("B", m_all.onlyInB, "A");
        }
    }

    std::optional<TensorDifference> take() const
    {
        if (m_reasons.empty())
            return std::nullopt;
        std::string remedy;
        for (const std::string& one : m_remedies) {
            remedy += remedy.empty() ? one : "; " + one;
            if (remedy.size() > one.size()) {
                char& first = remedy[remedy.size() - one.size()];
                first = static_cast<char>(std::tolower(static_cast<unsigned char>(first)));
            }
        }
        return TensorDifference { fmt::format("{}", fmt::join(m_reasons, "; ")), std::move(remedy) };
    }

private:
    void add(std::string reason, std::string remedy)
    {
        m_reasons.push_back(std::move(reason));
        if (std::find(m_remedies.begin(), m_remedies.end(), remedy) == m_remedies.end())
            m_remedies.push_back(std::move(remedy));
    }

    void addNames()
    {
        if (!m_all.names)
            return;
        const TensorPair& example = exampleOfNames();
        const std::string reason =
            fmt::format("{} ({} and {})", m_all.names->reason(), example.first->name, example.second->name);
        if (m_all.names->kind == FormDifference::Kind::Adapters)
            return add(reason, "Merge the adapters before the checkpoint is saved (merge_and_unload)");
        std::string remedy = "Save the model itself, without what wraps it (torch.compile keeps it as _orig_mod)";
        const PrefixMap map { m_all.names->b, m_all.names->a };
        if (const auto step = PublishedStep::of(nullptr, m_b, map); step && haveSameNames(m_a, step->to()))
            remedy += fmt::format(", or publish it with --map-prefix {}={}", map.a, map.b);
        add(reason, std::move(remedy));
    }

    /// Tensors that both sides store, where there are such; they come last.
    const TensorPair& exampleOfNames() const
    {
        const auto isStored = [&](const TensorPair& pair) {
            return pair.first->name != pair.second->name && !m_sides.partsOf(*pair.first)
                && !m_sides.partsOf(*pair.second);
        };
        const auto at = std::find_if(m_all.pairs.rbegin(), m_all.pairs.rend(), isStored);
        return at == m_all.pairs.rend() ? m_all.pairs.back() : *at;
    }

    /// " (layers.0.q_proj.weight and layers.0.qkv_proj.weight)": of what is fused, on both sides.
    std::string exampleOf(const FormDifference& fused) const
    {
        const auto first = std::find_if(m_all.pairs.begin(), m_all.pairs.end(),
                                        [&](const TensorPair& pair) { return m_sides.areFusedBy(fused, *pair.first); });
        if (first == m_all.pairs.end())
            return {};
        const auto stored = [&](const State& side, const TensorInfo& tensor) {
            return side.find(tensor.name) ? tensor.name : m_sides.partsOf(tensor)->front();
        };
        return fmt::format(" ({} and {})", stored(m_a, *first->first), stored(m_b, *first->second));
    }

    /// The dtypes that the tensors have in A, which is published.
    std::string asInA() const
    {
        std::set<Dtype> dtypes;
        std::map<Dtype, std::vector<const TensorInfo*>> others;
        for (const auto& [published, tensor] : m_all.pairs) {
            dtypes.insert(published->dtype);
            if (published->dtype != tensor->dtype)
                others[published->dtype].push_back(published);
        }
        if (dtypes.size() == 1)
            return fmt::format("Save the checkpoint as {}", word(*dtypes.begin()));
        std::vector<std::string> parts;
        for (const auto& [dtype, tensors] : others)
            parts.push_back(fmt::format(
                "{}{} as {}", tensors.front()->name,
                tensors.size() == 1 ? std::string() : fmt::format(" and {} more", tensors.size() - 1), word(dtype)));
        return fmt::format("Save each tensor in the dtype that it has in A, where they are mixed: {}",
                           fmt::join(parts, ", "));
    }

    void addDtypes()
    {
        const auto differ = [](const TensorPair& pair) { return pair.first->dtype != pair.second->dtype; };
        const auto first = std::find_if(m_all.pairs.begin(), m_all.pairs.end(), differ);
        if (first == m_all.pairs.end())
            return;
        add(fmt::format("tensor {} is {} in A and {} in B{}", first->first->name, word(first->first->dtype),
                        word(first->second->dtype), others(std::count_if(first, m_all.pairs.end(), differ), "dtype")),
            asInA());
    }

    void addShapes()
    {
        const auto differ = [](const TensorPair& pair) { return pair.first->shape != pair.second->shape; };
        const auto first = std::find_if(m_all.pairs.begin(), m_all.pairs.end(), differ);
        if (first == m_all.pairs.end())
            return;
        add(fmt::format("tensor {} has the shape {} in A and {} in B{}", first->first->name, shapeText(*first->first),
                        shapeText(*first->second), others(std::count_if(first, m_all.pairs.end(), differ), "shape")),
            "Publish checkpoints of one model");
    }

    static std::string others(std::ptrdiff_t all, std::string_view what)
    {
        return all < 2
            ? std::string()
            : fmt::format(", and {} more {} another {}", all - 1, all == 2 ? "tensor has" : "tensors have", what);
    }

    void addExtra(std::string_view side, const std::vector<const TensorInfo*>& extra, std::string_view other)
    {
        if (!extra.empty())
            add(fmt::format("{} has {} tensor{} that {} lacks, as {}", side, extra.size(), extra.size() == 1 ? "" : "s",
                            other, extra.front()->name),
                "Publish checkpoints of one model");
    }

    const State& m_a;
    const State& m_b;
    FusedSides m_sides;
    Correspondence m_all;
    std::vector<std::string> m_reasons, m_remedies;
};

}

std::optional<TensorDifference> differenceOfTensors(const State& a, const State& b)
{
    return haveSameTensors(a, b) ? std::nullopt : TensorDifferences(a, b).take();
}

Result<void> expectSameTensors(const State& from, const State& to)
{
    const std::optional<TensorDifference> difference = differenceOfTensors(from, to);
    if (!difference)
        return {};
    return fail(Error { Code::BaseMismatch,
                        difference->reason + ": a delta cannot say that (A is the state before, B the one to publish)",
                        {},
                        std::nullopt,
                        difference->remedy + ", or publish it into a run of its own" });
}

} // namespace deltascope

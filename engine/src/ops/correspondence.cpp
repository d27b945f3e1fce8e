#include "correspondence.h"

#include "voted_prefixes.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <map>
#include <set>
#include <string_view>

namespace deltascope {

namespace {

constexpr std::string_view BaseLayer = ".base_layer"; ///< PEFT: what an adapter wraps
constexpr std::string_view AdapterPart = ".lora_"; ///< PEFT: lora_A, lora_B, lora_embedding_A

/// What torch.compile, activation checkpointing and FSDP put into the names of the modules that they wrap.
constexpr std::array<std::string_view, 3> WrapperParts = { "_orig_mod.", "_checkpoint_wrapped_module.",
                                                           "_fsdp_wrapped_module." };

/// The whole parts that all names begin with: "model." of "model.norm" and "model.layers.0".
std::string commonPrefix(const std::vector<const TensorInfo*>& tensors)
{
    if (tensors.empty())
        return {};
    std::string_view common = tensors.front()->name;
    for (const TensorInfo* tensor : tensors) {
        const std::string_view name = tensor->name;
        const auto differ = std::mismatch(common.begin(), common.end(), name.begin(), name.end());
        common = common.substr(0, static_cast<std::size_t>(differ.first - common.begin()));
    }
    const std::size_t dot = common.rfind('.');
    return std::string(common.substr(0, dot == std::string_view::npos ? 0 : dot + 1));
}

/// Without the parts that both end with: "model." and "_orig_mod.model." differ by "" and "_orig_mod.".
PrefixMap differing(std::string a, std::string b)
{
    const auto lastPart = [](const std::string& prefix) {
        const std::size_t dot = prefix.size() < 2 ? std::string::npos : prefix.rfind('.', prefix.size() - 2);
        return dot == std::string::npos ? 0 : dot + 1;
    };
    while (!a.empty() && !b.empty()) {
        const std::size_t inA = lastPart(a);
        const std::size_t inB = lastPart(b);
        if (std::string_view(a).substr(inA) != std::string_view(b).substr(inB))
            break;
        a.resize(inA);
        b.resize(inB);
    }
    return { std::move(a), std::move(b) };
}

/// "model.norm.weight" behind another prefix, or nothing.
std::optional<std::string> withPrefix(std::string_view name, std::string_view from, std::string_view to)
{
    if (!name.starts_with(from))
        return std::nullopt;
    return fmt::format("{}{}", to, name.substr(from.size()));
}

/// "layers.0.up_proj.weight" as an adapter leaves it: "layers.0.up_proj.base_layer.weight".
std::string wrapped(std::string_view name)
{
    const std::size_t dot = name.rfind('.');
    if (dot == std::string_view::npos)
        return std::string(name);
    return fmt::format("{}{}{}", name.substr(0, dot), BaseLayer, name.substr(dot));
}

bool isOfAdapter(const TensorInfo* tensor)
{
    return tensor->name.find(AdapterPart) != std::string::npos || tensor->name.find(BaseLayer) != std::string::npos;
}

using Pairs = std::vector<std::pair<const TensorInfo*, const TensorInfo*>>;

/// Some tensors of a state.
class AmongTensors {
public:
    explicit AmongTensors(std::vector<const TensorInfo*> tensors)
        : m_tensors(std::move(tensors))
    {
        std::sort(m_tensors.begin(), m_tensors.end());
    }
    bool hold(const TensorInfo* tensor) const { return std::binary_search(m_tensors.begin(), m_tensors.end(), tensor); }

private:
    std::vector<const TensorInfo*> m_tensors;
};

void removePaired(std::vector<const TensorInfo*>& left, std::vector<const TensorInfo*> paired)
{
    const AmongTensors gone(std::move(paired));
    std::erase_if(left, [&](const TensorInfo* tensor) { return gone.hold(tensor); });
}

/// Pairs of tensors that are left over: `theirs`, of which `all` is the state, under the names that the prefixes give
/// to those of `own`. `ofAdapters`: `theirs` is wrapped.
Pairs pairsBehind(const std::vector<const TensorInfo*>& own, const std::vector<const TensorInfo*>& theirs,
                  const State& all, const std::string& ownPrefix, const std::string& theirPrefix, bool ofAdapters)
{
    const AmongTensors left(theirs);
    const auto find = [&](const std::string& name) {
        const TensorInfo* const found = all.find(name);
        return left.hold(found) ? found : nullptr;
    };
    Pairs pairs;
    for (const TensorInfo* tensor : own) {
        const std::optional<std::string> name = withPrefix(tensor->name, ownPrefix, theirPrefix);
        const TensorInfo* other = name ? find(*name) : nullptr;
        if (!other && name && ofAdapters)
            other = find(wrapped(*name));
        if (other)
            pairs.emplace_back(tensor, other);
    }
    return pairs;
}

std::vector<std::string_view> partsOf(std::string_view prefix)
{
    std::vector<std::string_view> parts;
    while (!prefix.empty()) {
        const std::size_t end = std::min(prefix.find('.'), prefix.size() - 1) + 1;
        parts.push_back(prefix.substr(0, end));
        prefix.remove_prefix(end);
    }
    return parts;
}

/// Whether all parts of one prefix are among those of the other, in this order: "model." and "model.language_model.".
/// Else they may be two things: "lm_head." and "score.", "visual." and "audio.".
bool isWrapped(const PrefixMap& map)
{
    const std::vector<std::string_view> a = partsOf(map.a);
    const std::vector<std::string_view> b = partsOf(map.b);
    const auto holds = [](const std::vector<std::string_view>& more, const std::vector<std::string_view>& fewer) {
        auto at = more.begin();
        return std::all_of(fewer.begin(), fewer.end(), [&](std::string_view part) {
            at = std::find(at, more.end(), part);
            return at != more.end() && (++at, true);
        });
    };
    return holds(a, b) || holds(b, a);
}

/// Whether each has a number that the other one does not have: layers of one kind, and not one layer.
bool differInNumbers(const PrefixMap& map)
{
    const auto numbers = [](std::string_view prefix) {
        std::vector<std::string_view> all = partsOf(prefix);
        std::erase_if(all, [](std::string_view part) { return part.find_first_not_of("0123456789.") != part.npos; });
        return all;
    };
    const std::vector<std::string_view> a = numbers(map.a);
    const std::vector<std::string_view> b = numbers(map.b);
    return !a.empty() && !b.empty() && a != b;
}

std::vector<const TensorInfo*> firstOf(const Pairs& pairs)
{
    std::vector<const TensorInfo*> tensors;
    for (const auto& pair : pairs)
        tensors.push_back(pair.first);
    return tensors;
}

std::vector<const TensorInfo*> secondOf(const Pairs& pairs)
{
    std::vector<const TensorInfo*> tensors;
    for (const auto& pair : pairs)
        tensors.push_back(pair.second);
    return tensors;
}

/// Brings the tensors together whose names differ by a prefix.
Pairs correspondByPrefix(Correspondence& found, const State& a, const State& b, const std::optional<PrefixMap>& given)
{
    const auto adapterInA = std::find_if(found.onlyInA.begin(), found.onlyInA.end(), isOfAdapter);
    const auto adapterInB = std::find_if(found.onlyInB.begin(), found.onlyInB.end(), isOfAdapter);
    const bool wrapsA = adapterInA != found.onlyInA.end();
    const bool wrapsB = adapterInB != found.onlyInB.end();
    const auto pairsUnder = [&](const PrefixMap& map) {
        Pairs pairs;
        if (map.a == map.b && wrapsA == wrapsB)
            return pairs;
        if (!wrapsA || wrapsB)
            return pairsBehind(found.onlyInA, found.onlyInB, b, map.a, map.b, wrapsB);
        for (const auto& [theirs, own] : pairsBehind(found.onlyInB, found.onlyInA, a, map.b, map.a, true))
            pairs.emplace_back(own, theirs);
        return pairs;
    };
    const std::size_t fewerLeft = std::min(found.onlyInA.size(), found.onlyInB.size());
    const std::size_t fewer = std::min(a.tensors().size(), b.tensors().size());
    /// Not a name or two that fit; and of prefixes that may be two things, not a part of the model.
    const auto convince = [&](const PrefixMap& map, const Pairs& pairs) {
        return pairs.size() * 2 >= fewerLeft && !differInNumbers(map) && (isWrapped(map) || pairs.size() * 2 > fewer);
    };
    PrefixMap map = given ? *given : differing(commonPrefix(found.onlyInA), commonPrefix(found.onlyInB));
    Pairs pairs = pairsUnder(map);
    if (!given && !convince(map, pairs)) { // one side has more than that prefix, as a model with a second tower
        if (std::optional<PrefixMap> voted = votedPrefixes(found.onlyInA, found.onlyInB)) {
            map = std::move(*voted);
            pairs = pairsUnder(map);
        }
    }
    if (pairs.empty() || (!given && !convince(map, pairs)))
        return {};
    FormDifference difference { FormDifference::Kind::Names, map.a, map.b, pairs.size(), 0 };
    if (wrapsA != wrapsB) {
        difference.kind = FormDifference::Kind::Adapters;
        difference.a = wrapsA ? (*adapterInA)->name : std::string();
        difference.b = wrapsB ? (*adapterInB)->name : std::string();
    }
    found.names = std::move(difference);
    removePaired(found.onlyInA, firstOf(pairs));
    removePaired(found.onlyInB, secondOf(pairs));
    return pairs;
}

/// A name without the parts of wrappers; those that it has go into `parts`.
std::string unwrapped(std::string name, std::set<std::string_view>& parts)
{
    for (const std::string_view part : WrapperParts) {
        for (std::size_t at = name.find(part); at != std::string::npos; at = name.find(part, at)) {
            if (at > 0 && name[at - 1] != '.') {
                at += part.size();
                continue;
            }
            name.erase(at, part.size());
            parts.insert(part);
        }
    }
    return name;
}

bool isWrappedInside(const TensorInfo* tensor)
{
    return std::any_of(WrapperParts.begin(), WrapperParts.end(), [&](std::string_view part) {
        const std::size_t at = tensor->name.rfind(part);
        return at != std::string::npos && at > 0 && tensor->name[at - 1] == '.';
    });
}

/// Brings the tensors together whose names are the same without the parts of wrappers, where one has such a part behind
/// its beginning; else it is a prefix.
Pairs correspondUnwrapped(Correspondence& found)
{
    const auto isInside = [](const std::vector<const TensorInfo*>& side) {
        return std::any_of(side.begin(), side.end(), isWrappedInside);
    };
    if (!isInside(found.onlyInA) && !isInside(found.onlyInB))
        return {};
    std::map<std::string, const TensorInfo*> theirs; ///< null: not one alone
    std::set<std::string_view> none;
    for (const TensorInfo* tensor : found.onlyInB) {
        const auto [at, isNew] = theirs.try_emplace(unwrapped(tensor->name, none), tensor);
        if (!isNew)
            at->second = nullptr;
    }
    Pairs pairs;
    std::set<std::string_view> partsOfA, partsOfB;
    for (const TensorInfo* tensor : found.onlyInA) {
        const auto at = theirs.find(unwrapped(tensor->name, none));
        if (at == theirs.end() || !at->second)
            continue;
        unwrapped(tensor->name, partsOfA);
        unwrapped(at->second->name, partsOfB);
        pairs.emplace_back(tensor, std::exchange(at->second, nullptr));
    }
    if (pairs.empty())
        return pairs;
    found.names = FormDifference { FormDifference::Kind::Wrappers, fmt::format("{}", fmt::join(partsOfA, " and ")),
                                   fmt::format("{}", fmt::join(partsOfB, " and ")), pairs.size(), 0 };
    removePaired(found.onlyInA, firstOf(pairs));
    removePaired(found.onlyInB, secondOf(pairs));
    return pairs;
}

/// Brings the tensors of one name together.
void correspondByName(Correspondence& found, const State& b)
{
    const AmongTensors left(found.onlyInB);
    for (const TensorInfo* tensor : found.onlyInA) {
        const TensorInfo* const other = b.find(tensor->name);
        if (left.hold(other))
            found.pairs.emplace_back(tensor, other);
    }
    removePaired(found.onlyInA, firstOf(found.pairs));
    removePaired(found.onlyInB, secondOf(found.pairs));
}

}

Correspondence correspond(const State& a, const State& b, bool acrossForms, const std::optional<PrefixMap>& given)
{
    Correspondence found;
    for (const TensorInfo& tensor : a.tensors())
        found.onlyInA.push_back(&tensor);
    for (const TensorInfo& tensor : b.tensors())
        found.onlyInB.push_back(&tensor);
    Pairs behind;
    if (acrossForms && given) // before names: B may hold "norm" and "ema.norm"
        behind = correspondByPrefix(found, a, b, given);
    correspondByName(found, b);
    if (acrossForms && !given && !found.onlyInA.empty() && !found.onlyInB.empty())
        behind = correspondUnwrapped(found);
    if (acrossForms && !given && behind.empty() && !found.onlyInA.empty() && !found.onlyInB.empty())
        behind = correspondByPrefix(found, a, b, std::nullopt);
    found.pairs.insert(found.pairs.end(), behind.begin(), behind.end());
    if (found.names)
        found.names->ofTensors = found.pairs.size();
    return found;
}

void countCompared(std::vector<FormDifference>& forms, std::uint64_t tensors)
{
    for (FormDifference& form : forms) {
        if (form.kind == FormDifference::Kind::Dtypes || form.kind == FormDifference::Kind::Fused)
            form.ofTensors = tensors;
    }
}

Result<std::optional<PrefixMap>> parsePrefixMap(const std::string& text)
{
    if (text.empty())
        return std::nullopt;
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
        return fail(Code::Usage, "a map of prefixes (--map-prefix) is A=B, one of which may be empty", text);
    return PrefixMap { text.substr(0, equals), text.substr(equals + 1) };
}

std::string_view word(FormDifference::Kind kind) noexcept
{
    switch (kind) {
    case FormDifference::Kind::Wrappers:
        return "wrappers";
    case FormDifference::Kind::Adapters:
        return "adapters";
    case FormDifference::Kind::Dtypes:
        return "dtypes";
    case FormDifference::Kind::Fused:
        return "fused";
    case FormDifference::Kind::Names:
        break;
    }
    return "names";
}

std::string FormDifference::reason() const
{
    switch (kind) {
    case Kind::Wrappers: {
        const std::string names = fmt::format("the name{} of {} of {} tensors hold{}", tensors == 1 ? "" : "s", tensors,
                                              ofTensors, tensors == 1 ? "s" : "");
        if (a.empty() || b.empty())
            return fmt::format("{} {} in {} and not in {}", names, a.empty() ? b : a, a.empty() ? "B" : "A",
                               a.empty() ? "A" : "B");
        return fmt::format("{} {} in A and {} in B", names, a, b);
    }
    case Kind::Adapters:
        return fmt::format("{} is wrapped with adapters that were not merged, as {} shows", a.empty() ? "B" : "A",
                           a.empty() ? b : a);
    case Kind::Dtypes:
        return fmt::format("{} of {} tensor{} {} {} in A and {} in B", tensors, ofTensors, ofTensors == 1 ? "" : "s",
                           tensors == 1 ? "is" : "are", a, b);
    case Kind::Fused:
        return fmt::format("A stores {} where B stores {}", a, b);
    case Kind::Names:
        break;
    }
    if ((a.empty() || b.empty()) && tensors < ofTensors)
        return fmt::format("of {} tensors that both have, the name{} of {} begin{} with {} in {} and not in {}",
                           ofTensors, tensors == 1 ? "" : "s", tensors, tensors == 1 ? "s" : "", a.empty() ? b : a,
                           a.empty() ? "B" : "A", a.empty() ? "A" : "B");
    if (a.empty() || b.empty())
        return fmt::format("the names of {} begin with {} where those of {} do not", a.empty() ? "B" : "A",
                           a.empty() ? b : a, a.empty() ? "A" : "B");
    return fmt::format("names that begin with {} in A begin with {} in B", a, b);
}

std::string FormDifference::text() const
{
    switch (kind) {
    case Kind::Wrappers:
        return reason() + ": tensors are compared without it";
    case Kind::Adapters:
        return reason() + ": the layers that they wrap are compared, the adapters are listed";
    case Kind::Dtypes:
        return fmt::format("{}: {} compared as rounded to the narrower one", reason(),
                           tensors == 1 ? "it is" : "they are");
    case Kind::Fused:
        return reason() + ": they are compared as one tensor, with their rows below each other";
    case Kind::Names:
        break;
    }
    return reason()
        + (a.empty() || b.empty() ? ": tensors are compared without it"
                                  : ": they are compared as if both were the same");
}

bool haveSameTensors(const State& a, const State& b)
{
    return std::equal(a.tensors().begin(), a.tensors().end(), b.tensors().begin(), b.tensors().end(),
                      [](const TensorInfo& x, const TensorInfo& y) {
                          return x.name == y.name && x.dtype == y.dtype && x.shape == y.shape;
                      });
}

} // namespace deltascope

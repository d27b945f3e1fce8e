#include "publish/published_names.h"

#include "state/view_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>

namespace deltascope {

namespace {

/// Null: no name begins with the prefix.
Result<std::unique_ptr<State>> withPrefix(const State& state, const PrefixMap& prefixes)
{
    std::map<std::size_t, std::string> names;
    for (std::size_t i = 0; i < state.tensors().size(); ++i) {
        const std::string& name = state.tensors()[i].name;
        if (name.starts_with(prefixes.a))
            names[i] = prefixes.b + name.substr(prefixes.a.size());
    }
    return names.empty() ? std::unique_ptr<State>() : renamed(state, names);
}

}

bool haveSameNames(const State& a, const State& b)
{
    return std::equal(a.tensors().begin(), a.tensors().end(), b.tensors().begin(), b.tensors().end(),
                      [](const TensorInfo& x, const TensorInfo& y) { return x.name == y.name; });
}

Result<PublishedStep> PublishedStep::of(const State* from, const State& to, const std::optional<PrefixMap>& prefixes)
{
    PublishedStep step;
    step.m_from = from;
    step.m_to = &to;
    if (!prefixes || prefixes->a == prefixes->b)
        return step;
    DS_TRY(step.m_renamedTo, withPrefix(to, *prefixes));
    if (from && !haveSameNames(*from, step.to())) {
        DS_TRY(step.m_renamedFrom, withPrefix(*from, *prefixes));
    }
    // Between checkpoints with the prefix one without it is right, but a prefix that no checkpoint has is a mistake.
    if (!step.m_renamedTo && (!step.m_renamedFrom || !haveSameNames(*step.from(), to)))
        return fail(Error { Code::BaseMismatch,
                            fmt::format("no tensor has a name that begins with \"{}\"", prefixes->a), to.place().where,
                            to.place().step, "Name the prefix that the checkpoint has, or leave --map-prefix out" });
    return step;
}

} // namespace deltascope

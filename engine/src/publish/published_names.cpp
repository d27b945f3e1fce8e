#include "publish/published_names.h"

#include "state/view_state.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>

namespace deltascope {

namespace {

bool isPublishedAlready(std::string_view name, const PrefixMap& prefixes)
{
    return prefixes.b.size() > prefixes.a.size() && prefixes.b.starts_with(prefixes.a) && name.starts_with(prefixes.b);
}

}

Result<PublishedState> PublishedState::of(const State& state, const std::optional<PrefixMap>& prefixes)
{
    PublishedState published;
    published.m_state = &state;
    std::map<std::size_t, std::string> names;
    for (std::size_t i = 0; prefixes && i < state.tensors().size(); ++i) {
        const std::string& name = state.tensors()[i].name;
        if (name.starts_with(prefixes->a) && !isPublishedAlready(name, *prefixes))
            names[i] = prefixes->b + name.substr(prefixes->a.size());
    }
    if (!names.empty()) {
        DS_TRY(published.m_renamed, renamed(state, names));
    }
    return published;
}

Result<void> expectPrefix(const State& state, const PrefixMap& prefixes)
{
    const TensorRange tensors = state.tensors();
    if (std::any_of(tensors.begin(), tensors.end(), [&](const TensorInfo& tensor) {
            return tensor.name.starts_with(prefixes.a) || isPublishedAlready(tensor.name, prefixes);
        }))
        return {};
    return fail(Error { Code::NotFound, fmt::format("no tensor has a name that begins with \"{}\"", prefixes.a),
                        state.place().where, state.place().step,
                        "name the prefix that the checkpoints have, or leave --map-prefix out" });
}

} // namespace deltascope

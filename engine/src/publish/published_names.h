#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <optional>

namespace deltascope {

/// A state under the names that it is published with.
class PublishedState {
public:
    /// `state` outlives it. `prefixes`: names that begin with `a` begin with `b` instead; those that begin with `b`
    /// already stay, so that a state of the run itself is what it is. Nothing: all stay. Errors: Usage (two tensors
    /// would have one name).
    static Result<PublishedState> of(const State& state, const std::optional<PrefixMap>& prefixes);

    const State& operator*() const noexcept { return m_renamed ? *m_renamed : *m_state; }
    bool isRenamed() const noexcept { return m_renamed != nullptr; }

private:
    const State* m_state = nullptr;
    std::unique_ptr<State> m_renamed; ///< null: no name changes
};

/// Errors: NotFound: no tensor of the state begins with the prefix that is to be replaced, or with the one that
/// replaces it.
Result<void> expectPrefix(const State& state, const PrefixMap& prefixes);

} // namespace deltascope

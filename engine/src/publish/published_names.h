#pragma once

#include "deltascope/engine/operations.h"

#include <memory>
#include <optional>

namespace deltascope {

/// The states of a step under the names that they are published with.
class PublishedStep {
public:
    /// `from`: null where it is not at hand. Both outlive it. `prefixes`: names that begin with `a` begin with `b`
    /// instead, in `from` only if it does not have the names of what is published already, as a state of the run itself
    /// has; nothing: all names stay. Errors: BaseMismatch (no name of `to` begins with `a`, and they are not those that
    /// `from` gets), Usage (two tensors would have one name).
    static Result<PublishedStep> of(const State* from, const State& to, const std::optional<PrefixMap>& prefixes);

    const State* from() const noexcept { return m_renamedFrom ? m_renamedFrom.get() : m_from; }
    const State& to() const noexcept { return m_renamedTo ? *m_renamedTo : *m_to; }
    bool isFromRenamed() const noexcept { return m_renamedFrom != nullptr; }

private:
    const State* m_from = nullptr;
    const State* m_to = nullptr;
    std::unique_ptr<State> m_renamedFrom, m_renamedTo; ///< null: names stay
};

/// Whether two states have tensors of the same names.
bool haveSameNames(const State& a, const State& b);

} // namespace deltascope

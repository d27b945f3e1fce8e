#pragma once

#include "deltascope/base/code.h"

#include <cstdint>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace deltascope {

/// An error as a value: shown to the user, stored in facts, sent through queues.
struct Error {
    Code code = Code::Internal;
    std::string text; ///< what happened, in words a user of checkpoints understands
    std::string where; ///< object key, file or tensor; may be empty
    std::optional<std::int64_t> step; ///< the version concerned, if one is
    std::string action; ///< what to do about it; empty: the code's own remedy

    std::string_view remedyText() const noexcept { return action.empty() ? remedy(code) : std::string_view(action); }

    bool operator==(const Error&) const = default;
};

/// Either a value or an Error. Dropping one is a compile-time warning.
template <class T> class [[nodiscard]] Result : public tl::expected<T, Error> {
public:
    using Base = tl::expected<T, Error>;
    using Base::Base;
};

/// The failing half of a Result: `return fail(Code::Truncated, "…", key);`
inline tl::unexpected<Error> fail(Code code, std::string text, std::string where = {}, std::string action = {})
{
    return tl::unexpected<Error>(Error { code, std::move(text), std::move(where), std::nullopt, std::move(action) });
}

inline tl::unexpected<Error> fail(Error error) { return tl::unexpected<Error>(std::move(error)); }

/// Adds the version to an error that does not name one yet.
inline Error atStep(Error error, std::int64_t step)
{
    if (!error.step)
        error.step = step;
    return error;
}

} // namespace deltascope

#define DS_CONCAT_INNER(a, b) a##b
#define DS_CONCAT(a, b) DS_CONCAT_INNER(a, b)

/// Declares `decl` from the value of `expr`, or returns its error to the caller.
#define DS_TRY(decl, expr)                                                                                             \
    auto DS_CONCAT(dsResult, __LINE__) = (expr);                                                                       \
    if (!DS_CONCAT(dsResult, __LINE__))                                                                                \
        return ::deltascope::fail(std::move(DS_CONCAT(dsResult, __LINE__).error()));                                   \
    decl = std::move(*DS_CONCAT(dsResult, __LINE__))

/// For Result<void>: returns the error to the caller or goes on.
#define DS_CHECK(expr)                                                                                                 \
    do {                                                                                                               \
        if (auto dsOutcome = (expr); !dsOutcome)                                                                       \
            return ::deltascope::fail(std::move(dsOutcome.error()));                                                   \
    } while (false)

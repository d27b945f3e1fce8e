#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace deltascope {

/// What a placeholder of a form stood for.
struct LogField {
    std::string_view name; ///< of the form
    std::string_view text; ///< of the line
};

/// Where a form was found in a text.
struct LogMatch {
    std::size_t begin = 0;
    std::size_t end = 0;
};

/// Finds a form in a text at or behind `from`, and its fields in the order of the form.
/// A form is literal text with placeholders: {text} takes everything up to the literal behind it, every other {name} a
/// decimal number without sign. It begins with a literal, and a word of it does not begin inside a word of the text.
/// Time is linear in the text for each place where the first literal stands; no memory but for `fields`.
std::optional<LogMatch> findForm(std::string_view form, std::string_view text, std::size_t from,
                                 std::vector<LogField>& fields);

} // namespace deltascope

#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace deltascope {

/// The words that were probably meant: of `words` those that take the fewest edits (a letter too many, too few or
/// another one), in their own order, at most `most`. A '*' in `typed` stands for any letters. Empty if none is near: a
/// third of the letters may be wrong, two in short words, and never all. What is longer than any name that a person
/// types has nothing near it, and the work is bounded: of very many long words only the first ones are looked at.
std::vector<std::string> nearestWords(std::string_view typed, const std::vector<std::string_view>& words,
                                      std::size_t most);

} // namespace deltascope

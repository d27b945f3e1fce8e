#include "deltascope/base/ascii.h"
#include "deltascope/engine/beside.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

Result<void> checkRefName(std::string_view name)
{
    constexpr std::size_t MostCharacters = 64;
    const auto refuse = [&](std::string_view why) {
        return fail(Code::Usage, fmt::format("\"{}\" cannot be the name of a ref or pin: {}", name.substr(0, 80), why),
                    {}, "Choose 1 to 64 letters, digits, '.', '_' and '-', for example good-eval.");
    };
    if (name.empty() || name.size() > MostCharacters)
        return refuse(name.empty() ? "it is empty" : "it is longer than 64 characters");
    if (!std::all_of(name.begin(), name.end(), [](char c) { return isWordCharacter(c) || c == '-' || c == '.'; }))
        return refuse("it holds other characters than letters, digits, '.', '_' and '-'");
    if (name.front() == '.' || name.front() == '-')
        return refuse("it begins with a dot or a dash");
    if (name.find("..") != std::string_view::npos)
        return refuse("two dots mean a range of steps");
    if (std::all_of(name.begin(), name.end(), [](char c) { return c >= '0' && c <= '9'; }))
        return refuse("a number means a step");
    for (const std::string_view word : { "latest", "anchor", "pin", "undo", "head" }) {
        if (name == word)
            return refuse(fmt::format("{} has a meaning of its own", word));
    }
    return {};
}

const Ref* Annotations::find(std::string_view word) const noexcept
{
    const auto found = std::find_if(refs.begin(), refs.end(), [&](const Ref& ref) { return ref.word() == word; });
    return found == refs.end() ? nullptr : &*found;
}

RefMoves Annotations::movesOf(RefKind kind, std::string_view name) const noexcept
{
    RefMoves moves;
    for (const std::vector<Ref>* list : { &refs, &formerRefs }) {
        for (const Ref& ref : *list) {
            if (ref.kind != kind || ref.name != name)
                continue;
            (ref.isLocal ? moves.here : moves.inSource) = ref.number;
            if (list == &refs)
                moves.stands = ref.isLocal ? RefMoves::Stands::Here : RefMoves::Stands::InSource;
        }
    }
    return moves;
}

} // namespace deltascope

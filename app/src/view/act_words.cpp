#include "deltascope/app/view/act_words.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace deltascope::app {

namespace {

struct BesideNoun {
    std::string_view kind;
    std::string_view one;
    std::string_view many;
};

constexpr std::array<BesideNoun, 6> BesideNouns { {
    { "journal", "journal entry", "journal entries" },
    { "lease", "lease", "leases" },
    { "spans", "list of spans", "lists of spans" },
    { "refs", "ref", "refs" },
    { "pins", "pin", "pins" },
    { "notes", "note", "notes" },
} };

}

std::string besideWords(const ActPlanView& plan)
{
    std::string words;
    for (const auto& [kind, number] : plan.beside) {
        const auto* noun = std::find_if(BesideNouns.begin(), BesideNouns.end(),
                                        [&kind = kind](const BesideNoun& known) { return known.kind == kind; });
        words += (words.empty() ? "" : ", ") + number + " ";
        words += noun == BesideNouns.end() ? std::string_view(kind) : number == "1" ? noun->one : noun->many;
    }
    return words;
}

} // namespace deltascope::app

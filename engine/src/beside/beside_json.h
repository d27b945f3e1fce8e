#pragma once

#include "deltascope/engine/beside.h"

#include <optional>
#include <string>
#include <string_view>

namespace deltascope {

// As the objects hold them; each text ends with a line break. Unknown keys are passed over; nothing for a text that is
// none of ours. Number, name and isLocal are not in the text.
std::string refToText(const Ref& ref);
std::optional<Ref> refFromText(std::string_view text);
std::string noteToText(const Note& note);
std::optional<Note> noteFromText(std::string_view text);
std::string entryToText(const JournalEntry& entry);
std::optional<JournalEntry> entryFromText(std::string_view text);

} // namespace deltascope

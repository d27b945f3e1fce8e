#include "deltascope/app/view/evidence_words.h"

namespace deltascope::app {

std::string evidenceWords(const std::string& evidence)
{
    return evidence == "first_sight" ? "as it was first seen, and no digest vouches for all of it" : evidence;
}

} // namespace deltascope::app

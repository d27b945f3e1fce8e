#include "record_seals.h"

#include "deltascope/base/bytes.h"
#include "row_seals.h"

#include <fmt/format.h>
#include <span>

namespace deltascope {

std::string sealOfSight(const std::string& source, const std::string& key, const Records::Sight& sight)
{
    const std::string content = fmt::format("{}\n{}\n{}\n{} {} {} {}\n", source, key, sight.identity, sight.sizeBytes,
                                            sight.xxh3, sight.seenUs, sight.trusted)
        + std::string(asText(std::as_bytes(std::span(sight.leaves))));
    return seal(content);
}

std::string sealOfEvent(const std::string& source, std::int64_t seenUs, const std::string& what)
{
    return seal(fmt::format("{}\n{}\n{}", source, seenUs, what));
}

std::string sealOfContinuity(const std::string& source, const std::string& question, const Records::Continuity& answer)
{
    return seal(fmt::format("{}\n{}\n{} {}\n{}", source, question, answer.continues, answer.decidedUs, answer.why));
}

std::string sealOfAccepted(const std::string& source, const std::string& finding, std::int64_t acceptedUs)
{
    return seal(fmt::format("{}\n{}\n{}", source, finding, acceptedUs));
}

std::string sealOfMirror(const std::string& source, const std::string& address, std::int64_t namedUs)
{
    return seal(fmt::format("{}\n{}\n{}", source, address, namedUs));
}

std::string sealOfNumber(const std::string& source, const std::string& version, std::int64_t number)
{
    return seal(fmt::format("{}\n{}\n{}", source, version, number));
}

} // namespace deltascope

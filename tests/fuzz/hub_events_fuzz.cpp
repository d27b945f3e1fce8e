// The stream of events of a bucket: the first byte says where the rest is cut in two. Seeds:
// tests/fuzz/seeds/hub_events.

#include "store/hub/follow_event.h"
#include "store/hub/sse_parser.h"

#include <cstdint>
#include <cstdlib>

using namespace deltascope;
using namespace deltascope::hub;

namespace {

constexpr std::size_t MostEventBytes = 4096;

void requireThat(bool condition)
{
    if (!condition)
        std::abort();
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size == 0)
        return 0;
    const std::string_view text(reinterpret_cast<const char*>(data) + 1, size - 1);
    std::vector<ServerEvent> whole, cut;
    SseParser one(MostEventBytes), two(MostEventBytes);
    const bool isGood = one.take(text, whole).has_value();
    const std::size_t place = text.size() * data[0] / 255;
    const bool isGoodToo =
        two.take(text.substr(0, place), cut).has_value() && two.take(text.substr(place), cut).has_value();
    requireThat(isGood == isGoodToo);
    if (isGood)
        requireThat(whole == cut);
    for (const ServerEvent& event : whole) {
        requireThat(!event.name.empty() && event.data.size() <= MostEventBytes);
        const FollowEvent read = parseFollowEvent(event);
        requireThat(read.kind == FollowEvent::Kind::Changes || read.paths.empty());
        requireThat(read.kind != FollowEvent::Kind::Changes || read.cursor.has_value());
        requireThat(!read.cursor || !read.cursor->empty());
        requireThat(!concerns(read, "") || !read.paths.empty());
    }
    return 0;
}

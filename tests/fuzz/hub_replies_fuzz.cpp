// What a Hub answers: listings, batches, tokens, revisions, errors, links. Seeds: tests/fuzz/seeds/hub_replies.

#include "store/hub/hub_api.h"
#include "store/hub/hub_json.h"
#include "store/hub/hub_object.h"

#include <cstdint>
#include <cstdlib>

using namespace deltascope;
using namespace deltascope::hub;

namespace {

void requireThat(bool condition)
{
    if (!condition)
        std::abort();
}

void checkFile(const HubFile& file)
{
    requireThat(!file.path.empty() && file.path.size() <= 4096);
    requireThat(file.sizeBytes <= std::uint64_t { 1 } << 62);
    requireThat(file.xetHash.empty() || isHexText(file.xetHash, 64));
    const HubIdentity identity = HubIdentity::of(file);
    const std::optional<HubIdentity> back = HubIdentity::parse(identity.text());
    requireThat(back && *back == identity);
    requireThat(objectOf(file, file.path, 1).modifiedUs >= 0);
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text(reinterpret_cast<const char*>(data), size);
    if (const auto files = parseHubFiles(text)) {
        for (const HubFile& file : *files)
            checkFile(file);
    }
    if (const auto reply = parseBatchReply(text))
        requireThat(reply->success.has_value() || !reply->processed || *reply->processed < UINT64_MAX);
    if (const auto token = parseXetToken(text))
        requireThat(!token->accessToken.empty() && token->expiresAtSeconds >= 0);
    if (const auto revision = parseRevisionInfo(text))
        requireThat(isHexText(revision->commit, 40));
    if (const auto info = parseBucketInfo(text))
        requireThat(info->updatedAt.size() <= 64);
    if (const auto time = isoTimeUs(text))
        requireThat(*time >= 0);
    (void)HubIdentity::parse(text);
    (void)linkTarget({ { "Link", std::string(text) } }, "next");

    http::Response answer;
    answer.status = 400;
    answer.body = text;
    const Error error = hubError(answer, { "bucket", "" }, true);
    requireThat(error.text.size() < 500);
    for (const char c : error.text)
        requireThat(static_cast<unsigned char>(c) >= 0x20 && c != 0x7f);
    return 0;
}

// What an S3 server says in XML, and the config files of AWS: the input is one of them.

#include "base/percent_code.h"
#include "store/s3/config_files.h"
#include "store/s3/encoding.h"
#include "store/s3/read_ledger.h"
#include "store/s3/replies.h"
#include "store/s3/xml.h"

#include <cstdint>
#include <cstdlib>
#include <span>

using namespace deltascope;

namespace {

void requireThat(bool isTrue)
{
    if (!isTrue)
        std::abort();
}

std::size_t elementsOf(const s3::XmlElement& element)
{
    std::size_t count = 1;
    for (const s3::XmlElement& child : element.children)
        count += elementsOf(child);
    return count;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const std::string_view text = asText(std::as_bytes(std::span(data, size)));
    if (const Result<s3::XmlElement> root = s3::parseXml(text))
        requireThat(elementsOf(*root) <= size); // nothing is expanded
    if (const Result<s3::ListReply> reply = s3::parseListing(text)) {
        for (const s3::ListedObject& object : reply->objects)
            requireThat(!object.key.empty() && !object.etag.empty());
    }
    const s3::ErrorReply error = s3::parseErrorReply(text);
    requireThat(error.region.empty() || s3::isRegion(error.region));
    (void)s3::parseUploadId(text);
    (void)s3::parseCopyEtag(text);
    (void)s3::parseDeleteReply(text);
    (void)s3::parseHttpDate(text);
    (void)s3::parseIsoTime(text);
    if (const auto bytes = s3::parseBase64(text))
        requireThat(s3::base64Of(*bytes) == text);
    if (const auto decoded = percentDecode(text))
        requireThat(percentDecode(percentEncode(*decoded, "/")).value() == *decoded);
    (void)s3::checksumsOf({ { "x-amz-checksum-crc64nvme", std::string(text) } });
    s3::AwsConfig config;
    (void)s3::addConfigText(text, s3::ConfigKind::Config, "config", config);
    (void)s3::addConfigText(text, s3::ConfigKind::Credentials, "credentials", config);
    return 0;
}

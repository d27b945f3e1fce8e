#include "base64.h"

#include <algorithm>
#include <openssl/evp.h>

namespace deltascope::app {

std::string base64(std::string_view bytes)
{
    std::string text((bytes.size() + 2) / 3 * 4 + 1, '\0'); // and a terminating zero
    EVP_EncodeBlock(reinterpret_cast<unsigned char*>(text.data()), reinterpret_cast<const unsigned char*>(bytes.data()),
                    static_cast<int>(bytes.size()));
    text.pop_back();
    return text;
}

std::optional<std::vector<std::uint8_t>> fromBase64(std::string_view text)
{
    const std::size_t digits = std::min(text.find('='), text.size());
    const std::size_t padding = text.size() - digits;
    std::vector<std::uint8_t> bytes(text.size() / 4 * 3);
    const bool wellFormed = text.size() % 4 == 0 && padding <= 2 && text.find_first_not_of('=', digits) == text.npos
        && EVP_DecodeBlock(bytes.data(), reinterpret_cast<const unsigned char*>(text.data()),
                           static_cast<int>(text.size()))
            == static_cast<int>(bytes.size());
    if (!wellFormed)
        return std::nullopt;
    bytes.resize(bytes.size() - padding);
    return bytes;
}

} // namespace deltascope::app

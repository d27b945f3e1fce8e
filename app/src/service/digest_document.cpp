#include "digest_document.h"

#include "recorded/json_limits.h"

#include <charconv>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

namespace deltascope::app {

namespace {

using json = nlohmann::json;

tl::unexpected<Error> malformed(const std::string& path, const std::string& text)
{
    return fail(
        Error { Code::Malformed, text, path, std::nullopt, "write the document with: deltascope digest SRC --json" });
}

const json* member(const json& object, const char* name)
{
    const auto found = object.find(name);
    return found == object.end() ? nullptr : &*found;
}

/// Lower-case hexadecimal of exactly so many bytes; nothing: it is something else.
template <class Digest> std::optional<Digest> digestIn(const json* value)
{
    Digest digest;
    if (!value || !value->is_string())
        return std::nullopt;
    const std::string& hex = value->get_ref<const std::string&>();
    if (hex.size() != 2 * digest.size() || hex.find_first_not_of("0123456789abcdef") != std::string::npos)
        return std::nullopt;
    for (std::size_t i = 0; i < digest.size(); ++i) {
        unsigned byte = 0;
        std::from_chars(&hex[2 * i], &hex[2 * i] + 2, byte, 16);
        digest[i] = static_cast<std::byte>(byte);
    }
    return digest;
}

/// What a row says of a tensor, or why it cannot be understood.
std::string readTensor(const json& row, KnownTensor& tensor)
{
    const json* const dtype = row.is_object() ? member(row, "dtype") : nullptr;
    const json* const shape = row.is_object() ? member(row, "shape") : nullptr;
    if (!dtype || !dtype->is_string() || !shape || !shape->is_array())
        return "has no dtype and shape";
    const std::optional<Dtype> type = parseDtype(dtype->get_ref<const std::string&>());
    if (!type)
        return "has an unknown dtype";
    tensor.info.dtype = *type;
    for (const json& size : *shape) {
        if (!size.is_number_unsigned())
            return "has a shape that is no list of numbers";
        tensor.info.shape.push_back(size.get<std::uint64_t>());
    }
    const std::optional<Digest128> fast = digestIn<Digest128>(member(row, "xxh3_128"));
    if (!fast)
        return "has no XXH3-128";
    tensor.xxh3 = *fast;
    const json* const strong = member(row, "sha256");
    tensor.sha256 = digestIn<Digest256>(strong);
    if (strong && !strong->is_null() && !tensor.sha256)
        return "has a SHA-256 that is none";
    return {};
}

}

Result<std::unique_ptr<DigestState>> readDigestDocument(const FileSystem& disk, const std::string& path)
{
    DS_TRY(const std::string text, readTextFile(disk, path, MostDigestDocumentBytes));
    if (text.empty())
        return malformed(path, "the document is empty");
    if (!keepsJsonLimits(text))
        return malformed(path, fmt::format("this is no JSON, or has more than {} values", MostJsonValues));
    const json document = json::parse(text, nullptr, false);
    const json* const rows = document.is_object() ? member(document, "tensors") : nullptr;
    if (!rows || !rows->is_array() || !member(document, "strong_root"))
        return malformed(path, "this is no document of digests");
    std::vector<KnownTensor> tensors;
    tensors.reserve(rows->size());
    for (const json& row : *rows) {
        const json* const name = row.is_object() ? member(row, "name") : nullptr;
        if (!name || !name->is_string())
            return malformed(path, fmt::format("tensor {} of the document has no name", tensors.size()));
        KnownTensor& tensor = tensors.emplace_back();
        tensor.info.name = name->get<std::string>();
        if (const std::string fault = readTensor(row, tensor); !fault.empty())
            return malformed(path, fmt::format("tensor {} of the document {}", tensor.info.name, fault));
    }
    if (tensors.empty())
        return malformed(path, "the document has no tensors");
    return DigestState::of(path, std::move(tensors));
}

} // namespace deltascope::app

#include "digest_document.h"

#include "deltascope/base/hex.h"
#include "recorded/json_limits.h"

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

/// Nothing: it is no hexadecimal of so many bytes.
template <class Digest> std::optional<Digest> digestIn(const json* value)
{
    return value && value->is_string() ? bytesFromHex<sizeof(Digest)>(value->get_ref<const std::string&>())
                                       : std::nullopt;
}

/// Reads the row of a tensor, an object. Why it cannot be understood; empty: it can.
std::string readTensor(const json& row, KnownTensor& tensor)
{
    const json* const dtype = member(row, "dtype");
    const json* const shape = member(row, "shape");
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

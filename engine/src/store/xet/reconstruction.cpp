#include "store/xet/reconstruction.h"

#include "store/xet/chunker.h"
#include "store/xet/xorb_record.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <tuple>

namespace deltascope::xet {

namespace {

using nlohmann::json;

tl::unexpected<Error> badReconstruction(std::string_view what)
{
    return fail(Code::Hostile, fmt::format("the store describes a file in a way that makes no sense: {}", what));
}

const json* memberOf(const json& object, const char* name)
{
    if (!object.is_object())
        return nullptr;
    const auto at = object.find(name);
    return at == object.end() ? nullptr : &*at;
}

std::optional<std::uint64_t> wholeNumber(const json* value)
{
    if (!value || !value->is_number_unsigned())
        return std::nullopt;
    return value->get<std::uint64_t>();
}

std::optional<Hash> hashIn(const json* value)
{
    return value && value->is_string() ? Hash::parse(value->get_ref<const std::string&>()) : std::nullopt;
}

struct NumberRange {
    std::uint64_t start = 0;
    std::uint64_t end = 0;
};

std::optional<NumberRange> rangeIn(const json* value)
{
    if (!value)
        return std::nullopt;
    const auto start = wholeNumber(memberOf(*value, "start"));
    const auto end = wholeNumber(memberOf(*value, "end"));
    if (!start || !end)
        return std::nullopt;
    return NumberRange { *start, *end };
}

/// Numbers of chunks; the end is not one of them.
std::optional<NumberRange> chunkRange(const json* value)
{
    const auto range = rangeIn(value);
    return range && range->start < range->end && range->end <= MostXorbChunks ? range : std::nullopt;
}

std::optional<Term> termIn(const json& value)
{
    const auto xorb = hashIn(memberOf(value, "hash"));
    const auto bytes = wholeNumber(memberOf(value, "unpacked_length"));
    const auto chunks = chunkRange(memberOf(value, "range"));
    if (!xorb || !bytes || !chunks)
        return std::nullopt;
    const std::uint64_t count = chunks->end - chunks->start;
    if (*bytes < count || *bytes > std::min<std::uint64_t>(count * MostChunkBytes, MostXorbBytes))
        return std::nullopt;
    return Term { *xorb, static_cast<std::uint32_t>(chunks->start), static_cast<std::uint32_t>(chunks->end),
                  static_cast<std::uint32_t>(*bytes) };
}

std::optional<Piece> pieceIn(const Hash& xorb, const json* url, const json* chunkNumbers, const json* byteNumbers)
{
    const auto chunks = chunkRange(chunkNumbers);
    const auto bytes = rangeIn(byteNumbers); // the end is one of them
    if (!url || !url->is_string() || !chunks || !bytes || bytes->start > bytes->end || bytes->end >= MostXorbBytes)
        return std::nullopt;
    Piece piece { xorb,
                  static_cast<std::uint32_t>(chunks->start),
                  static_cast<std::uint32_t>(chunks->end),
                  url->get<std::string>(),
                  bytes->start,
                  bytes->end - bytes->start + 1 };
    if (piece.bytes <= (chunks->end - chunks->start) * RecordHeadBytes)
        return std::nullopt;
    return piece;
}

/// One entry of "fetch_info" (v1) or "xorbs" (v2). False if it makes no sense.
bool takePieces(const Hash& xorb, const json& entry, ReconstructionForm form, std::vector<Piece>& pieces)
{
    const json* const url = memberOf(entry, "url");
    const auto take = [&](std::optional<Piece> piece) {
        if (piece)
            pieces.push_back(std::move(*piece));
        return piece.has_value();
    };
    if (form == ReconstructionForm::V1)
        return take(pieceIn(xorb, url, memberOf(entry, "range"), memberOf(entry, "url_range")));
    const json* const ranges = memberOf(entry, "ranges");
    return ranges && ranges->is_array() && std::all_of(ranges->begin(), ranges->end(), [&](const json& range) {
               return take(pieceIn(xorb, url, memberOf(range, "chunks"), memberOf(range, "bytes")));
           });
}

bool takeAllPieces(const json* xorbs, ReconstructionForm form, std::vector<Piece>& pieces)
{
    if (!xorbs || !xorbs->is_object())
        return false;
    for (const auto& xorb : xorbs->items()) {
        const auto hash = Hash::parse(xorb.key());
        if (!hash || !xorb.value().is_array())
            return false;
        for (const json& entry : xorb.value()) {
            if (!takePieces(*hash, entry, form, pieces))
                return false;
        }
    }
    return true;
}

void orderPieces(std::vector<Piece>& pieces)
{
    const auto order = [](const Piece& piece) { return std::tie(piece.xorb, piece.first, piece.end); };
    std::stable_sort(pieces.begin(), pieces.end(),
                     [&order](const Piece& a, const Piece& b) { return order(a) < order(b); });
    pieces.erase(std::unique(pieces.begin(), pieces.end(),
                             [&order](const Piece& a, const Piece& b) { return order(a) == order(b); }),
                 pieces.end());
}

}

Result<Reconstruction> parseReconstruction(std::string_view text, ReconstructionForm form)
{
    const json document = json::parse(text, nullptr, false);
    const auto skipped = wholeNumber(memberOf(document, "offset_into_first_range"));
    const json* const terms = memberOf(document, "terms");
    if (!skipped || !terms || !terms->is_array())
        return badReconstruction("there are no terms");
    Reconstruction reconstruction { *skipped, {}, {} };
    for (const json& value : *terms) {
        const auto term = termIn(value);
        if (!term)
            return badReconstruction("a term is not well-formed");
        reconstruction.terms.push_back(*term);
    }
    if (reconstruction.terms.empty() ? *skipped > 0 : *skipped >= reconstruction.terms.front().bytes)
        return badReconstruction("it begins behind its first term");
    const char* const member = form == ReconstructionForm::V1 ? "fetch_info" : "xorbs";
    if (!takeAllPieces(memberOf(document, member), form, reconstruction.pieces))
        return badReconstruction("a range of a xorb is not well-formed");
    orderPieces(reconstruction.pieces);
    return reconstruction;
}

} // namespace deltascope::xet

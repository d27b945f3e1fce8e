#include "store/xet/read_plan.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <unordered_map>

namespace deltascope::xet {

namespace {

/// More is asked for in several requests, so that answers stay small and signed addresses fresh.
constexpr std::uint64_t MostClusterBytes = std::uint64_t { 256 } << 20;
/// Bytes between two ranges that may be described needlessly; it is less than one request costs.
constexpr std::uint64_t MostGapBytes = std::uint64_t { 256 } << 10;

void addPart(const FileRange& range, const WantedBytes& part, std::vector<ReadCluster>& clusters)
{
    if (!clusters.empty()) {
        ReadCluster& last = clusters.back();
        const bool isSame = last.file == range.file && last.fileBytes == range.fileBytes;
        const bool isNear = part.offset >= last.parts.back().offset && part.offset <= last.end() + MostGapBytes;
        if (isSame && isNear && part.end() - last.begin() <= MostClusterBytes) {
            last.parts.push_back(part);
            return;
        }
    }
    clusters.push_back({ range.file, range.fileBytes, { part }, 0 });
}

/// The piece with the fewest chunks that holds the term; null: none.
const Piece* pieceFor(const Term& term, const std::vector<Piece>& pieces)
{
    const auto from = std::partition_point(pieces.begin(), pieces.end(),
                                           [&term](const Piece& piece) { return piece.xorb < term.xorb; });
    const Piece* best = nullptr;
    for (auto at = from; at != pieces.end() && at->xorb == term.xorb && at->first <= term.first; ++at) {
        if (at->holds(term) && (!best || at->end - at->first < best->end - best->first))
            best = &*at;
    }
    return best;
}

bool isWanted(const ReadCluster& cluster, const PlacedTerm& placed)
{
    const std::uint64_t end = placed.offset + placed.term.bytes;
    return std::any_of(cluster.parts.begin(), cluster.parts.end(), [&placed, end](const WantedBytes& part) {
        return part.offset < end && placed.offset < part.end();
    });
}

}

std::uint64_t ReadCluster::end() const noexcept
{
    std::uint64_t end = 0;
    for (const WantedBytes& part : parts)
        end = std::max(end, part.end());
    return end;
}

std::vector<ReadCluster> clusterRanges(const std::vector<FileRange>& ranges, const std::vector<bool>& isLeftOut)
{
    std::vector<std::size_t> order(ranges.size());
    std::iota(order.begin(), order.end(), std::size_t { 0 });
    const auto place = [&ranges](std::size_t i) {
        return std::tie(ranges[i].file, ranges[i].fileBytes, ranges[i].offset);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&place](std::size_t a, std::size_t b) { return place(a) < place(b); });
    std::vector<ReadCluster> clusters;
    for (const std::size_t i : order) {
        const FileRange& range = ranges[i];
        for (std::uint64_t done = 0; !isLeftOut[i] && done < range.out.size(); done += MostClusterBytes) {
            const std::size_t count = std::min<std::uint64_t>(MostClusterBytes, range.out.size() - done);
            addPart(range, { range.offset + done, range.out.subspan(done, count), i }, clusters);
        }
    }
    return clusters;
}

Result<std::vector<PieceFetch>> planFetches(const ReadCluster& cluster, Reconstruction reconstruction)
{
    const auto bad = [&cluster](Code code, const char* text) { return fail(code, text, cluster.file.text()); };
    if (reconstruction.skippedBytes > cluster.begin())
        return bad(Code::Hostile, "the store describes a file that begins before its first byte");
    std::uint64_t offset = cluster.begin() - reconstruction.skippedBytes;
    std::vector<PieceFetch> fetches;
    std::unordered_map<const Piece*, std::size_t> places;
    for (const Term& term : reconstruction.terms) {
        const PlacedTerm placed { term, offset };
        offset += term.bytes;
        if (!isWanted(cluster, placed))
            continue;
        const Piece* const piece = pieceFor(term, reconstruction.pieces);
        if (!piece)
            return bad(Code::Hostile, "the store says of a part of the file not where its bytes are");
        const auto [at, isNew] = places.try_emplace(piece, fetches.size());
        if (isNew)
            fetches.push_back({ *piece, {} });
        fetches[at->second].terms.push_back(placed);
    }
    if (offset < cluster.end())
        return bad(Code::Truncated, "the file ends before the bytes that were asked for");
    return fetches;
}

std::optional<ReadCluster> restOfCluster(const ReadCluster& cluster, const std::vector<PlacedTerm>& terms)
{
    ReadCluster rest { cluster.file, cluster.fileBytes, {}, cluster.attempt + 1 };
    for (const PlacedTerm& placed : terms) {
        for (const WantedBytes& part : cluster.parts) {
            const std::uint64_t begin = std::max(part.offset, placed.offset);
            const std::uint64_t end = std::min(part.end(), placed.offset + placed.term.bytes);
            if (begin < end)
                rest.parts.push_back({ begin, part.out.subspan(begin - part.offset, end - begin), part.range });
        }
    }
    std::stable_sort(rest.parts.begin(), rest.parts.end(),
                     [](const WantedBytes& a, const WantedBytes& b) { return a.offset < b.offset; });
    return rest.parts.empty() ? std::nullopt : std::optional(std::move(rest));
}

} // namespace deltascope::xet

// What a server says of a file, and of a grant. Input: form and place of the range that was asked for (1 byte each),
// then the text. Seeds: tests/fuzz/seeds/xet_reconstruction.

#include "store/xet/chunker.h"
#include "store/xet/read_plan.h"
#include "store/xet/shard_answer.h"
#include "store/xet/xorb_grant.h"
#include "store/xet/xorb_record.h"

#include "patch_checks.h"

using namespace deltascope;
using namespace deltascope::xet;

namespace {

void checkReconstruction(const Reconstruction& reconstruction)
{
    require(reconstruction.skippedBytes < MostXorbBytes);
    for (const Term& term : reconstruction.terms) {
        require(term.first < term.end && term.end <= MostXorbChunks);
        require(term.bytes > 0 && term.bytes <= MostXorbBytes);
    }
    for (const Piece& piece : reconstruction.pieces) {
        require(piece.first < piece.end && piece.end <= MostXorbChunks);
        require(piece.bytes > 0 && piece.bytes <= MostXorbBytes && piece.offset < MostXorbBytes);
    }
}

void checkPlan(const ReadCluster& cluster, Reconstruction reconstruction)
{
    const auto fetches = planFetches(cluster, std::move(reconstruction));
    if (!fetches) {
        checkRefusal(fetches.error());
        return;
    }
    for (const PieceFetch& fetch : *fetches) {
        require(!fetch.terms.empty());
        for (const PlacedTerm& placed : fetch.terms)
            require(fetch.piece.holds(placed.term) && placed.offset < cluster.end()
                    && placed.offset + placed.term.bytes > cluster.begin());
    }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    if (size < 2)
        return 0;
    const ByteSpan text = std::as_bytes(std::span(data, size)).subspan(2);
    const auto grant = parseXorbGrant(asText(text));
    if (!grant)
        checkRefusal(grant.error());
    else
        require(!grant->url.empty() && grant->id.find('/') == std::string::npos);
    ShardAnswer answer;
    require(answer.take(text).has_value() || text.size() > (1U << 20));
    answer.end();

    auto reconstruction =
        parseReconstruction(asText(text), data[0] % 2 == 0 ? ReconstructionForm::V1 : ReconstructionForm::V2);
    if (!reconstruction) {
        checkRefusal(reconstruction.error());
        return 0;
    }
    checkReconstruction(*reconstruction);
    std::vector<std::byte> out(1000);
    const std::uint64_t begin = std::uint64_t { data[1] } * 8192;
    checkPlan({ {}, 1U << 30, { { begin, MutableByteSpan(out), 0 } }, 0 }, std::move(*reconstruction));
    return 0;
}

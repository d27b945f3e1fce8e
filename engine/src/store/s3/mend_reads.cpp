#include "deltascope/base/threads.h"
#include "deltascope/engine/hash_tree.h"
#include "encoding.h"
#include "s3_reading.h"

#include <algorithm>
#include <cstring>

namespace deltascope::s3 {

namespace {

constexpr int MostTurns = 3; ///< that reads are made again
constexpr std::uint64_t MostBytesAtOnce = std::uint64_t { 8 } << 20;

/// Whether a read means an object.
bool isOf(const RangeRead& read, const ObjectRef& object)
{
    return read.object.key == object.key && (read.object.identity.empty() || read.object.identity == object.identity);
}

bool isDigest(const Result<void>& outcome) { return !outcome && outcome.error().code == Code::Digest; }

Error mendedNotice(const ObjectRef& object)
{
    return { Code::Refetched, "bytes of it came wrong, as the checksum of the store proves, and were fetched again",
             std::string(object.key), std::nullopt,
             "Nothing has to be done; if it happens often, check the network and the memory of this machine." };
}

} // namespace

void ObjectReader::mendReads(const std::vector<RangeRead>& reads, std::uint64_t call,
                             std::vector<Result<void>>& outcomes, TaskContext& task)
{
    for (std::size_t i = 0; i < reads.size(); ++i) {
        if (!isDigest(outcomes[i]))
            continue;
        std::optional<RefutedReads> refuted = m_ledger.takeRefuted(reads[i].object);
        if (!refuted)
            continue;
        const ObjectInfo object { std::string(reads[i].object.key), 0, refuted->identity, 0, false };
        const Result<void> outcome = caught([&] { return mend(object, std::move(*refuted), call, reads, task); });
        for (std::size_t k = 0; k < reads.size(); ++k) {
            if (isDigest(outcomes[k]) && isOf(reads[k], object))
                outcomes[k] = outcome;
        }
    }
}

/// What this call has read is replaced. What earlier ones have read was used already: where it was wrong, that is an
/// error, even though it comes right now.
Result<void> ObjectReader::mend(const ObjectRef& object, RefutedReads refuted, std::uint64_t call,
                                const std::vector<RangeRead>& reads, TaskContext& task)
{
    std::uint64_t totalBytes = 0;
    for (const auto& [offset, piece] : refuted.pieces)
        totalBytes += piece.bytes;
    bool isAlwaysSame = true;
    const auto readAgain = [&](bool own) -> Result<void> {
        for (auto& [offset, piece] : refuted.pieces) {
            if ((piece.call == call) != own)
                continue;
            DS_TRY(RefutedReads::Piece now,
                   readPieceAgain(object, offset, piece.bytes, own ? reads : std::vector<RangeRead>(), task));
            isAlwaysSame = isAlwaysSame && now.crc64 == piece.crc64;
            now.call = piece.call;
            piece = now;
        }
        return {};
    };
    for (int turn = 0; turn < MostTurns; ++turn) {
        DS_CHECK(readAgain(true));
        if (refuted.isRight()) {
            m_ledger.noteProven(object, totalBytes, refuted.told);
            task.addNotice(mendedNotice(object));
            return {};
        }
        DS_CHECK(readAgain(false));
        if (refuted.isRight()) {
            task.addNotice(mendedNotice(object));
            return fail(Code::Digest,
                        "what was read of it before came wrong, as the checksum of the store proves, and comes right "
                        "now",
                        std::string(object.key), "Run the command again.");
        }
    }
    return fail(Code::Digest,
                isAlwaysSame ? "the store sends the same wrong bytes each time: they do not have the checksum that it "
                               "keeps of the object"
                             : "what the store sends does not have the checksum that it keeps of the object, and "
                               "differs each time",
                std::string(object.key),
                isAlwaysSame ? "The object is damaged: put it again from where it was published."
                             : "The way to the store changes bytes: check network, proxy and memory.");
}

Result<RefutedReads::Piece> ObjectReader::readPieceAgain(const ObjectRef& object, std::uint64_t offset,
                                                         std::uint64_t bytes, const std::vector<RangeRead>& into,
                                                         TaskContext& task)
{
    RefutedReads::Piece piece;
    std::vector<std::byte> room(static_cast<std::size_t>(std::min(bytes, MostBytesAtOnce)));
    while (piece.bytes < bytes) {
        const std::uint64_t at = offset + piece.bytes;
        const MutableByteSpan part =
            MutableByteSpan(room).first(static_cast<std::size_t>(std::min(bytes - piece.bytes, MostBytesAtOnce)));
        DS_TRY(const RangeReply reply, getRange(object, { at, part.size() }, part, task, true));
        if (reply.gotBytes != part.size())
            return fail(Code::Truncated, "the object ends before the bytes that it held", std::string(object.key));
        piece.append(ReadLedger::pieceOf(part, true));
        piece.sha256 = base64Of(sha256(part)); // of the only part, where it is compared
        for (const RangeRead& read : into) {
            const std::uint64_t first = std::max(at, read.offset);
            const std::uint64_t last = std::min(at + part.size(), read.offset + read.out.size());
            if (isOf(read, object) && first < last)
                std::memcpy(read.out.data() + (first - read.offset), part.data() + (first - at),
                            static_cast<std::size_t>(last - first));
        }
    }
    return piece;
}

} // namespace deltascope::s3

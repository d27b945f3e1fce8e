#include "read_ledger.h"

#include "../../hash/crc.h"
#include "deltascope/engine/hash_tree.h"
#include "encoding.h"

#include <algorithm>
#include <fmt/format.h>
#include <zlib.h>

namespace deltascope::s3 {

namespace {

constexpr std::size_t MostPieces = 4096; ///< of one object; far more than windows of a large one
constexpr std::size_t MostRefuted = 64; ///< that nobody has taken

/// The number in a header, its high byte first.
std::optional<std::uint64_t> bigEndianNumber(std::string_view header, std::size_t size)
{
    const auto bytes = parseBase64(trimBlanks(header)); // fails for "…-3", the form of composite ones
    if (!bytes || bytes->size() != size)
        return std::nullopt;
    std::uint64_t number = 0;
    for (const std::byte byte : *bytes)
        number = (number << 8) | static_cast<std::uint64_t>(byte);
    return number;
}

std::string ledgerName(const ObjectRef& object)
{
    std::string name(object.key);
    name += '\0';
    name += object.identity;
    return name;
}

tl::unexpected<Error> badBytes(std::string_view key)
{
    return fail(Code::Digest, "what was read does not have the checksum that the store keeps of the object",
                std::string(key), "Read it again; if it happens again, the object or the way to it is damaged.");
}

} // namespace

void RefutedReads::Piece::append(const Piece& tail)
{
    crc64 = combineCrc64Nvme(crc64, tail.crc64, tail.bytes);
    crc32 = static_cast<std::uint32_t>(::crc32_combine(crc32, tail.crc32, static_cast<z_off_t>(tail.bytes)));
    bytes += tail.bytes;
}

bool RefutedReads::isRight() const
{
    if (!told.hasCrc())
        return pieces.size() == 1 && pieces.begin()->second.sha256 == told.sha256;
    Piece whole;
    for (const auto& [offset, piece] : pieces)
        whole.append(piece);
    return told.crc64 ? *told.crc64 == whole.crc64 : told.crc32 == whole.crc32;
}

WholeChecksums checksumsOf(const http::Headers& headers)
{
    WholeChecksums checksums;
    if (equalsIgnoringCase(headers.find("x-amz-checksum-type").value_or(""), "COMPOSITE"))
        return checksums;
    if (const auto value = headers.find("x-amz-checksum-crc64nvme"))
        checksums.crc64 = bigEndianNumber(*value, 8);
    if (const auto value = headers.find("x-amz-checksum-crc32")) {
        if (const auto number = bigEndianNumber(*value, 4))
            checksums.crc32 = static_cast<std::uint32_t>(*number);
    }
    if (const auto value = headers.find("x-amz-checksum-sha256")) {
        const auto bytes = parseBase64(trimBlanks(*value));
        if (bytes && bytes->size() == sizeof(Digest256))
            checksums.sha256 = trimBlanks(*value);
    }
    return checksums;
}

Result<bool> ReadLedger::add(const ObjectRef& object, std::uint64_t totalBytes, std::uint64_t offset, ByteSpan bytes,
                             const WholeChecksums& told, std::uint64_t call)
{
    const bool isWhole = offset == 0 && bytes.size() == totalBytes;
    const std::string name = ledgerName(object);
    if (isWhole && !told.sha256.empty() && base64Of(sha256(bytes)) != told.sha256) {
        Piece piece = pieceOf(bytes, true);
        piece.call = call;
        const std::lock_guard lock(m_mutex);
        refute(name, { std::string(object.identity), told, { { 0, piece } } });
        return badBytes(object.key);
    }
    std::vector<Gap> gaps;
    bool isFull = false;
    bool needsCrc32 = true;
    {
        const std::lock_guard lock(m_mutex);
        Entry& entry = entryOf(name);
        entry.totalBytes = totalBytes;
        if (told.hasAny() && !entry.told.crc64)
            entry.told = told;
        if (isWhole && !told.sha256.empty()) { // says nothing of what other reads have brought
            entry.wasProven = true;
            return false;
        }
        if (entry.isUnprovable)
            return false;
        gaps = gapsOf(entry, offset, bytes.size());
        isFull = entry.pieces.size() >= MostPieces;
        needsCrc32 = !entry.told.crc64;
    }
    std::vector<Piece> pieces;
    for (const Gap& gap : gaps) { // without the lock: this is what takes time
        const ByteSpan part =
            bytes.subspan(static_cast<std::size_t>(gap.offset - offset), static_cast<std::size_t>(gap.bytes));
        pieces.push_back(pieceOf(part, needsCrc32));
        pieces.back().call = call;
    }
    const std::lock_guard lock(m_mutex);
    Entry& entry = entryOf(name);
    if (entry.isUnprovable)
        return false;
    entry.totalBytes = totalBytes; // it may have been forgotten meanwhile
    if (isFull) { // another pass may prove it
        entry.pieces.clear();
        entry.coveredBytes = 0;
    }
    for (std::size_t i = 0; i < pieces.size(); ++i)
        insert(entry, gaps[i].offset, pieces[i]);
    return judge(name, entry, object.key);
}

Result<void> ReadLedger::learn(const ObjectRef& object, const WholeChecksums& told)
{
    const std::string name = ledgerName(object);
    const std::lock_guard lock(m_mutex);
    const auto found = m_entries.find(name);
    if (found == m_entries.end() || found->second.isUnprovable)
        return {};
    found->second.told = told;
    found->second.wasAsked = true;
    DS_CHECK(judge(name, found->second, object.key));
    return {};
}

ReadProof ReadLedger::proofOf(const ObjectRef& object) const
{
    const std::lock_guard lock(m_mutex);
    const auto found = m_entries.find(ledgerName(object));
    if (found == m_entries.end())
        return ReadProof::Partial;
    const Entry& entry = found->second;
    if (entry.isUnprovable)
        return ReadProof::None;
    return entry.wasProven && entry.pieces.empty() ? ReadProof::Proven : ReadProof::Partial;
}

ReadLedger::Entry& ReadLedger::entryOf(const std::string& name)
{
    const auto [entry, isNew] = m_entries.try_emplace(name);
    if (isNew) {
        m_order.push_back(name);
        if (m_order.size() > m_mostObjects) {
            m_entries.erase(m_order.front());
            m_order.pop_front();
        }
    }
    return entry->second;
}

std::vector<ReadLedger::Gap> ReadLedger::gapsOf(const Entry& entry, std::uint64_t offset, std::uint64_t bytes)
{
    std::vector<Gap> gaps;
    const std::uint64_t end = offset + bytes;
    auto next = entry.pieces.upper_bound(offset);
    std::uint64_t at = offset;
    if (next != entry.pieces.begin()) {
        const auto before = std::prev(next);
        at = std::max(at, before->first + before->second.bytes);
    }
    for (; at < end; ++next) {
        const std::uint64_t stop = next == entry.pieces.end() ? end : std::min(end, next->first);
        if (stop > at)
            gaps.push_back({ at, stop - at });
        if (next == entry.pieces.end())
            break;
        at = std::max(at, next->first + next->second.bytes);
    }
    return gaps;
}

/// Both sums of a stretch while it is in the cache of the processor.
RefutedReads::Piece ReadLedger::pieceOf(ByteSpan bytes, bool needsCrc32)
{
    constexpr std::size_t Stretch = std::size_t { 16 } << 10;
    Piece piece;
    piece.bytes = bytes.size();
    for (; !bytes.empty(); bytes = bytes.subspan(std::min(Stretch, bytes.size()))) {
        const ByteSpan part = bytes.first(std::min(Stretch, bytes.size()));
        piece.crc64 = crc64Nvme(part, piece.crc64);
        piece.crc32 = needsCrc32 ? crc32Ieee(part, piece.crc32) : 0;
    }
    return piece;
}

void ReadLedger::insert(Entry& entry, std::uint64_t offset, const Piece& piece)
{
    const std::vector<Gap> free = gapsOf(entry, offset, piece.bytes);
    if (free.size() != 1 || free.front().bytes != piece.bytes) // another thread was faster with some of it
        return;
    entry.pieces.emplace(offset, piece);
    entry.coveredBytes += piece.bytes;
    if (entry.pieces.size() >= MostPieces)
        joinNeighbours(entry);
}

/// Then it is not known any more which read brought what.
void ReadLedger::joinNeighbours(Entry& entry)
{
    for (auto first = entry.pieces.begin(); first != entry.pieces.end();) {
        const auto second = std::next(first);
        if (second == entry.pieces.end())
            break;
        if (first->first + first->second.bytes != second->first) {
            first = second;
            continue;
        }
        first->second.append(second->second);
        first->second.call = 0;
        entry.pieces.erase(second);
    }
}

void ReadLedger::refute(const std::string& name, RefutedReads reads)
{
    if (m_refuted.size() >= MostRefuted)
        m_refuted.clear();
    m_refuted[name] = std::move(reads);
}

std::optional<RefutedReads> ReadLedger::takeRefuted(const ObjectRef& object)
{
    const std::lock_guard lock(m_mutex);
    const std::string name = ledgerName(object);
    const auto found = m_refuted.lower_bound(name);
    if (found == m_refuted.end() || !(object.identity.empty() ? found->first.starts_with(name) : found->first == name))
        return std::nullopt;
    std::optional<RefutedReads> reads = std::move(found->second);
    m_refuted.erase(found);
    return reads;
}

void ReadLedger::noteProven(const ObjectRef& object, std::uint64_t totalBytes, const WholeChecksums& told)
{
    const std::lock_guard lock(m_mutex);
    Entry& entry = entryOf(ledgerName(object));
    entry.totalBytes = totalBytes;
    entry.told = told;
    entry.wasProven = true;
}

Result<bool> ReadLedger::judge(const std::string& name, Entry& entry, std::string_view key)
{
    if (entry.coveredBytes != entry.totalBytes)
        return false;
    if (!entry.told.hasCrc()) {
        entry.isUnprovable = entry.wasAsked;
        return !entry.wasAsked;
    }
    RefutedReads seen { name.substr(key.size() + 1), entry.told, std::move(entry.pieces) };
    entry.pieces.clear();
    entry.coveredBytes = 0;
    if (!seen.isRight()) {
        m_order.erase(std::find(m_order.begin(), m_order.end(), name));
        m_entries.erase(name);
        refute(name, std::move(seen));
        return badBytes(key);
    }
    entry.wasProven = true;
    return false;
}

} // namespace deltascope::s3

#include "sent_xorbs.h"

#include <charconv>
#include <fmt/format.h>

namespace deltascope::hub {

namespace {

std::uint64_t bytesOfPiece(std::string_view piece)
{
    std::uint64_t bytes = 0;
    const std::size_t gap = piece.find(' ');
    if (gap != std::string_view::npos)
        std::from_chars(piece.data() + gap + 1, piece.data() + piece.size(), bytes);
    return bytes;
}

} // namespace

Result<void> SentXorbs::add(const xet::Hash& xorb, std::uint64_t bytes)
{
    std::string piece = fmt::format("{} {}", xorb.text(), bytes);
    const std::lock_guard lock(m_mutex);
    if (m_pieces.contains(piece)) // it is sent again
        return {};
    if (m_note) {
        DS_CHECK(m_note->add(piece));
    } else {
        DS_TRY(UploadJournal::Note note, m_journal.note({ m_store, m_key, { piece } }));
        m_note = std::move(note);
    }
    m_pieces.insert(std::move(piece));
    return {};
}

void SentXorbs::done()
{
    const std::lock_guard lock(m_mutex);
    if (!m_note)
        return;
    m_note->done();
    // A note that cannot be read stays, and is reported once more than necessary.
    static_cast<void>(m_journal.forEachOrphan(m_store, [&](const NotedUpload& upload) {
        std::vector<std::string> left = upload.pieces;
        std::erase_if(left, [&](const std::string& piece) { return m_pieces.contains(piece); });
        return Result<std::vector<std::string>>(std::move(left));
    }));
}

Result<std::vector<StrandedUpload>> strandedXorbs(const UploadJournal& journal, std::string_view store, bool forget)
{
    std::vector<StrandedUpload> found;
    DS_CHECK(journal.forEachOrphan(store, [&](const NotedUpload& upload) {
        StrandedUpload stranded { upload.key, upload.pieces.size(), 0 };
        for (const std::string& piece : upload.pieces)
            stranded.bytes += bytesOfPiece(piece);
        found.push_back(std::move(stranded));
        return Result<std::vector<std::string>>(forget ? std::vector<std::string>() : upload.pieces);
    }));
    return found;
}

} // namespace deltascope::hub

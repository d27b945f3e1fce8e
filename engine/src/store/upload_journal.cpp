#include "upload_journal.h"

#include "../base/errno_error.h"
#include "../base/folder_reader.h"
#include "../base/percent_code.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace deltascope {

namespace {

using nlohmann::json;

constexpr std::string_view NoteSuffix = ".upload";
constexpr std::size_t MostNoteBytes = std::size_t { 16 } << 20; ///< xorbs of about 3 TB

// A line of JSON for the upload, then one for each piece. Names that are no UTF-8 would not come back as they were.

std::string headLine(const NotedUpload& upload)
{
    const json head { { "store", percentEncode(upload.store, "/") }, { "key", percentEncode(upload.key, "/") } };
    return head.dump() + "\n";
}

std::string pieceLine(std::string_view piece) { return percentEncode(piece, "/") + "\n"; }

std::string noteText(const NotedUpload& upload)
{
    std::string text = headLine(upload);
    for (const std::string& piece : upload.pieces)
        text += pieceLine(piece);
    return text;
}

std::string noteMember(const json& note, const char* name)
{
    const auto member = note.is_object() ? note.find(name) : note.end();
    if (member == note.end() || !member->is_string())
        return {};
    return percentDecode(member->get<std::string>()).value_or("");
}

/// Up to the first line that is not whole: its writer was killed there.
std::optional<NotedUpload> parseNote(std::string_view text)
{
    NotedUpload upload;
    for (std::size_t end = text.find('\n'); end != std::string_view::npos; end = text.find('\n')) {
        const std::string_view line = text.substr(0, end);
        text.remove_prefix(end + 1);
        if (upload.store.empty()) {
            const json head = json::parse(line, nullptr, false);
            upload.store = noteMember(head, "store");
            upload.key = noteMember(head, "key");
            if (upload.store.empty() || upload.key.empty())
                return std::nullopt;
            continue;
        }
        Result<std::string> piece = percentDecode(line);
        if (!piece || piece->empty())
            break;
        upload.pieces.push_back(std::move(*piece));
    }
    return upload.pieces.empty() ? std::nullopt : std::optional(std::move(upload));
}

/// Whether nobody holds it any more; then we do.
bool isOrphan(const FileHandle& file) { return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0; }

Result<std::string> readNote(const FileHandle& file, const std::string& path)
{
    struct stat status = {};
    if (::fstat(file.get(), &status) != 0)
        return failErrno("fstat", errno, path);
    std::string text(std::min<std::size_t>(static_cast<std::size_t>(status.st_size), MostNoteBytes), '\0');
    DS_TRY(const std::size_t got, readAt(file, 0, std::as_writable_bytes(std::span(text)), path));
    text.resize(got);
    return text;
}

Result<void> rewrite(const FileHandle& file, const NotedUpload& upload, const std::string& path)
{
    const std::string text = noteText(upload); // shorter than before
    DS_CHECK(writeAt(file, 0, asBytes(text), path));
    return ::ftruncate(file.get(), static_cast<off_t>(text.size())) == 0 ? Result<void>()
                                                                         : failErrno("ftruncate", errno, path);
}

} // namespace

Result<void> UploadJournal::Note::add(std::string_view piece)
{
    if (!m_file)
        return {};
    const std::string line = pieceLine(piece);
    DS_CHECK(writeAt(m_file, m_bytes, asBytes(line), m_path));
    m_bytes += line.size();
    return {};
}

void UploadJournal::Note::done() noexcept
{
    if (m_file)
        ::unlink(m_path.c_str());
    m_file = FileHandle();
}

Result<UploadJournal::Note> UploadJournal::note(const NotedUpload& upload) const
{
    if (m_folder.empty())
        return Note();
    std::error_code failed;
    std::filesystem::create_directories(m_folder, failed);
    if (failed)
        return failErrno("mkdir", failed.value(), m_folder);
    std::random_device device;
    const std::uint64_t number = (std::uint64_t { device() } << 32) | device();
    const std::string path = fmt::format("{}/{:016x}{}", m_folder, number, NoteSuffix);
    // Locked before it has its name, so that nobody takes it for an orphan.
    FileHandle file = openAt(AT_FDCWD, (path + ".new").c_str(), O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    if (!file)
        return failErrno("open", errno, path);
    const std::string text = noteText(upload);
    Result<void> written;
    if (::flock(file.get(), LOCK_EX | LOCK_NB) != 0)
        written = failErrno("flock", errno, path);
    else
        written = writeAt(file, 0, asBytes(text), path);
    if (written && (::fsync(file.get()) != 0 || ::rename((path + ".new").c_str(), path.c_str()) != 0))
        written = failErrno("rename", errno, path);
    if (!written) {
        ::unlink((path + ".new").c_str());
        return fail(std::move(written.error()));
    }
    return Note(path, std::move(file), text.size());
}

Result<void> UploadJournal::forEachOrphan(std::string_view store, const End& end) const
{
    const FileHandle folder = openAt(AT_FDCWD, m_folder.c_str(), O_RDONLY | O_DIRECTORY);
    if (m_folder.empty() || (!folder && errno == ENOENT))
        return {};
    if (!folder)
        return failErrno("open", errno, m_folder);
    std::vector<std::string> names;
    DS_CHECK(readFolder(folder, m_folder, [&](std::string_view name, EntryKind) {
        if (name.ends_with(NoteSuffix))
            names.emplace_back(name);
    }));
    for (const std::string& name : names) {
        const FileHandle file = openAt(folder.get(), name.c_str(), O_RDWR | O_NOFOLLOW);
        if (!file || !isOrphan(file)) // it is gone, or its upload is under way
            continue;
        DS_TRY(const std::string text, readNote(file, name));
        const std::optional<NotedUpload> upload = parseNote(text);
        if (!upload || upload->store != store)
            continue;
        DS_TRY(std::vector<std::string> left, end(*upload));
        if (left.empty())
            ::unlinkat(folder.get(), name.c_str(), 0);
        else if (left != upload->pieces)
            DS_CHECK(rewrite(file, { upload->store, upload->key, std::move(left) }, name));
    }
    return {};
}

} // namespace deltascope

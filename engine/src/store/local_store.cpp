#include "../base/errno_error.h"
#include "../base/file_handle.h"
#include "../base/folder_reader.h"
#include "local_cleanup.h"
#include "local_listing.h"
#include "local_object.h"
#include "local_watch.h"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

namespace deltascope {

namespace {

/// Opening a file and its first read take about as long as reading so much of a file that the system keeps in memory.
constexpr std::uint64_t RequestBytes = 32 * 1024;
constexpr std::size_t PutChunkBytes = std::size_t { 1 } << 20;

struct FreeMemory {
    void operator()(void* memory) const noexcept { std::free(memory); }
};

std::string fileUri(std::string_view path)
{
    std::string uri = "file://";
    for (const char letter : path) {
        const bool plain = (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z')
            || (letter >= '0' && letter <= '9') || std::string_view("/-._~").find(letter) != std::string_view::npos;
        if (plain)
            uri += letter;
        else
            uri += fmt::format("%{:02X}", static_cast<unsigned char>(letter));
    }
    return uri;
}

Result<void> checkLocalKey(std::string_view key)
{
    DS_CHECK(checkKey(key));
    for (std::size_t begin = 0; begin < key.size();) {
        const std::size_t end = std::min(key.find('/', begin), key.size());
        if (isTemporaryName(key.substr(begin, end - begin)))
            return fail(Code::Usage, "the key has the form of a temporary name", std::string(key));
        begin = end + 1;
    }
    return {};
}

/// An open folder and a name in it.
struct Place {
    FileHandle folder;
    std::string name;
};

enum class Missing : std::uint8_t { IsError, IsCreated };

/// Whether a key may lead through a link to a folder elsewhere, as listings do. What is written never does.
enum class Links : std::uint8_t { NotFollowed, Followed };

/// The folder inside `parent`, never through a symbolic link. The result is not open if there is no such folder.
Result<FileHandle> enterFolder(const FileHandle& parent, const std::string& name, Missing missing, std::string_view key)
{
    // A folder that one may only search is enough to read from, but not to sync.
    const int flags = (missing == Missing::IsCreated ? O_RDONLY : O_PATH) | O_DIRECTORY | O_NOFOLLOW;
    FileHandle folder = openAt(parent.get(), name.c_str(), flags);
    if (folder || missing == Missing::IsError)
        return folder;
    if (errno != ENOENT)
        return failErrno("open", errno, key);
    if (::mkdirat(parent.get(), name.c_str(), 0755) != 0 && errno != EEXIST)
        return failErrno("mkdir", errno, key);
    DS_CHECK(syncEntries(parent, key));
    folder = openAt(parent.get(), name.c_str(), flags);
    if (!folder)
        return failErrno("open", errno, key);
    return folder;
}

/// A file that is being put. Removed again unless it got its final name. Where the file system can, one that may only
/// take a free place has no name before, so that a killed process leaves nothing behind.
class TemporaryFile {
public:
    TemporaryFile(const Place& place, std::string_view key, PutMode mode)
        : m_place(place)
        , m_key(key)
        , m_mode(mode)
    {
    }
    TemporaryFile(const TemporaryFile&) = delete;
    TemporaryFile& operator=(const TemporaryFile&) = delete;
    ~TemporaryFile() { discard(); }

    Result<void> fill(const Payload& bytes, TaskContext& task)
    {
        DS_CHECK(create());

        std::vector<std::byte> chunk(
            static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes.sizeBytes(), 1, PutChunkBytes)));
        std::uint64_t done = 0;
        for (;;) {
            DS_CHECK(task.checkpoint());
            DS_TRY(const std::size_t got, bytes.read(done, chunk));
            if (got == 0)
                break;
            DS_CHECK(writeAt(m_file, done, ByteSpan(chunk).first(got), m_key));
            done += got;
        }
        if (done != bytes.sizeBytes())
            return fail(Code::Truncated, fmt::format("the source gave {} bytes instead of {}", done, bytes.sizeBytes()),
                        std::string(m_key));
        if (::fsync(m_file.get()) != 0)
            return failErrno("fsync", errno, m_key);
        return {};
    }

    Result<void> publish()
    {
        DS_CHECK(m_mode == PutMode::Replace ? takePlace() : m_name.empty() ? nameIt() : takeFreePlace());
        return syncEntries(m_place.folder, m_key);
    }

    const FileHandle& file() const noexcept { return m_file; }

private:
    Result<void> create()
    {
        if (m_mode == PutMode::IfAbsent && ::access(OpenFiles, X_OK) == 0) // nameIt() needs it
            m_file = openAt(m_place.folder.get(), ".", O_WRONLY | O_TMPFILE, 0644);
        if (m_file)
            return {};
        m_name = temporaryName(m_place.name);
        m_file = openAt(m_place.folder.get(), m_name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0644);
        if (!m_file)
            return failErrno("open", errno, m_key);
        m_exists = true;
        return {};
    }

    Result<void> nameIt()
    {
        const std::string path = fmt::format("{}/{}", OpenFiles, m_file.get());
        if (::linkat(AT_FDCWD, path.c_str(), m_place.folder.get(), m_place.name.c_str(), AT_SYMLINK_FOLLOW) != 0)
            return failErrno("linkat", errno, m_key);
        return {};
    }

    Result<void> takePlace()
    {
        const int folder = m_place.folder.get();
        if (::renameat(folder, m_name.c_str(), folder, m_place.name.c_str()) != 0)
            return failErrno("rename", errno, m_key);
        m_exists = false;
        return {};
    }

    Result<void> takeFreePlace()
    {
        const int folder = m_place.folder.get();
        if (::renameat2(folder, m_name.c_str(), folder, m_place.name.c_str(), RENAME_NOREPLACE) == 0) {
            m_exists = false;
            return {};
        }
        if (errno != EINVAL && errno != ENOSYS)
            return failErrno("renameat2", errno, m_key);
        if (::linkat(folder, m_name.c_str(), folder, m_place.name.c_str(), 0) == 0) {
            discard();
            return {};
        }
        if (errno == EPERM || errno == EOPNOTSUPP || errno == ENOSYS)
            return fail(Code::Unsupported, "this file system cannot create a file only if there is none",
                        std::string(m_key), "Publish to a folder on a local disk instead.");
        return failErrno("link", errno, m_key);
    }

    void discard() noexcept
    {
        if (std::exchange(m_exists, false))
            ::unlinkat(m_place.folder.get(), m_name.c_str(), 0);
    }

    static constexpr const char* OpenFiles = "/proc/self/fd";

    const Place& m_place;
    std::string_view m_key;
    PutMode m_mode;
    std::string m_name; ///< empty while it has none
    FileHandle m_file;
    bool m_exists = false;
};

/// Holds the folder's path and opens it anew each time: a trainer may remove and create it again, and an open
/// descriptor would go on to serve the removed one. For the same reason no file stays open between calls.
class LocalStore final : public ObjectStore {
public:
    LocalStore(std::string root, bool pushesChanges)
        : m_root(std::move(root))
        , m_pushesChanges(pushesChanges)
    {
    }

    std::string uri() const override { return fileUri(m_root); }
    StoreTraits traits() const noexcept override
    {
        return {
            .conditionalPut = true, .pushesChanges = m_pushesChanges, .requestBytes = RequestBytes, .removes = true
        };
    }

    Result<ListPage> list(const ListRequest& request, TaskContext& task) const override
    {
        return listLocalFolder(m_root, request, task);
    }

    Result<ObjectInfo> stat(std::string_view key, TaskContext&) const override
    {
        DS_TRY(const Place place, find(key, Missing::IsError, Links::Followed));
        DS_TRY(std::optional<ObjectInfo> object, examineName(place.folder, place.name, std::string(key)));
        if (!object)
            return noSuchObject(key);
        return std::move(*object);
    }

    Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out, TaskContext&) const override
    {
        const std::string_view key = object.key;
        DS_TRY(const Place place, find(key, Missing::IsError, Links::Followed));
        const FileHandle file = openAt(place.folder.get(), place.name.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY);
        if (!file && meansAbsent(errno))
            return noSuchObject(key);
        if (!file)
            return failErrno("open", errno, key);
        struct stat status = {};
        if (::fstat(file.get(), &status) != 0)
            return failErrno("fstat", errno, key);
        if (!S_ISREG(status.st_mode))
            return noSuchObject(key);

        const auto size = static_cast<std::uint64_t>(status.st_size);
        if (!object.identity.empty() && identityOf(status) != object.identity)
            return rewritten(key);
        if (offset > size || out.size() > size - offset)
            return tooShort(key, offset, out.size(), size);
        DS_TRY(const std::size_t got, readAt(file, offset, out, key));
        if (!object.identity.empty()) {
            if (::fstat(file.get(), &status) != 0)
                return failErrno("fstat", errno, key);
            if (identityOf(status) != object.identity)
                return rewritten(key);
        }
        if (got != out.size()) // cut meanwhile
            return tooShort(key, offset, out.size(), offset + got);
        return {};
    }

    Result<bool> hasEmptyFolder(std::string_view key, TaskContext&) const override
    {
        Result<Place> place = find(key, Missing::IsError);
        if (!place && place.error().code == Code::NotFound)
            return false;
        if (!place)
            return fail(std::move(place.error()));
        const FileHandle folder = openAt(place->folder.get(), place->name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
        if (!folder && (meansAbsent(errno) || errno == ENOTDIR || errno == ELOOP))
            return false;
        if (!folder)
            return failErrno("open", errno, key);
        bool empty = true;
        DS_CHECK(readFolder(folder, key, [&](std::string_view, EntryKind) { empty = false; }));
        return empty;
    }

    Result<bool> leadsOutside(std::string_view key, TaskContext&) const override
    {
        DS_CHECK(checkLocalKey(key));
        return linkLeadsOutside(m_root, key);
    }

    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        DS_TRY(const Place place, find(key, Missing::IsCreated));
        struct stat status = {};
        if (mode == PutMode::IfAbsent
            && ::fstatat(place.folder.get(), place.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
            return failErrno("put", EEXIST, key);
        TemporaryFile temporary(place, key, mode);
        DS_CHECK(temporary.fill(bytes, task));
        DS_CHECK(temporary.publish());
        return describeFile(temporary.file(), std::string(key));
    }

    Result<std::unique_ptr<StoreWatch>> watch() const override { return watchLocalFolder(m_root); }

    std::vector<Result<void>> remove(const std::vector<ObjectRef>& objects, TaskContext& task) override
    {
        std::vector<Result<void>> outcomes;
        outcomes.reserve(objects.size());
        for (const ObjectRef& object : objects) {
            Result<void> going = task.checkpoint();
            outcomes.push_back(going ? removeFile(object) : std::move(going));
        }
        return outcomes;
    }

    Result<std::size_t> removeTemporaries(const std::function<bool(std::string_view folder)>& enters,
                                          TaskContext& task) override
    {
        return removeLocalTemporaries(m_root, enters, task);
    }

private:
    Result<void> removeFile(const ObjectRef& object) const
    {
        DS_TRY(const Place place, find(object.key, Missing::IsError));
        if (!object.identity.empty()) {
            DS_TRY(const auto there, examineName(place.folder, place.name, std::string(object.key)));
            if (there && there->identity != object.identity)
                return rewritten(object.key);
        }
        if (::unlinkat(place.folder.get(), place.name.c_str(), 0) == 0)
            return {};
        return meansAbsent(errno) ? noSuchObject(object.key) : failErrno("unlink", errno, object.key);
    }

    static tl::unexpected<Error> noSuchObject(std::string_view key)
    {
        return fail(Code::NotFound, "there is no such object", std::string(key));
    }

    static tl::unexpected<Error> rewritten(std::string_view key)
    {
        return fail(Code::Rewritten, "the object is not the one that was listed any more", std::string(key));
    }

    static tl::unexpected<Error> tooShort(std::string_view key, std::uint64_t offset, std::size_t wanted,
                                          std::uint64_t size)
    {
        return fail(
            Code::Truncated,
            fmt::format("the object ends after {} bytes; {} bytes from byte {} on were expected", size, wanted, offset),
            std::string(key));
    }

    Result<Place> find(std::string_view key, Missing missing, Links links = Links::NotFollowed) const
    {
        DS_CHECK(checkLocalKey(key));
        Place place;
        place.folder =
            openAt(AT_FDCWD, m_root.c_str(), (missing == Missing::IsCreated ? O_RDONLY : O_PATH) | O_DIRECTORY);
        if (!place.folder)
            return failErrno("open", errno, m_root);
        std::size_t begin = 0;
        for (;;) {
            const std::size_t slash = key.find('/', begin);
            place.name = key.substr(begin, slash - begin);
            if (slash == std::string_view::npos)
                return place;
            DS_TRY(FileHandle folder, enterFolder(place.folder, place.name, missing, key));
            if (!folder && links == Links::Followed && (errno == ENOTDIR || errno == ELOOP)) {
                links = Links::NotFollowed; // once
                const bool isFollowed =
                    !isNamedAsFile(place.name) && followedFolder(m_root, key.substr(0, slash)).has_value();
                if (!isFollowed)
                    return noSuchObject(key);
                folder = openAt(place.folder.get(), place.name.c_str(), O_PATH | O_DIRECTORY);
            }
            if (!folder && meansAbsent(errno))
                return noSuchObject(key);
            if (!folder)
                return failErrno("open", errno, key);
            place.folder = std::move(folder);
            begin = slash + 1;
        }
    }

    std::string m_root;
    bool m_pushesChanges;
};

} // namespace

Result<std::unique_ptr<ObjectStore>> openLocalStore(const std::string& folder)
{
    const std::unique_ptr<char, FreeMemory> real(::realpath(folder.c_str(), nullptr));
    if (!real && (errno == ENOTDIR || errno == ENOENT))
        return fail(Code::NotFound, "there is no such file or folder: it does not exist, or its disk is not mounted",
                    folder);
    if (!real)
        return failErrno("realpath", errno, folder);
    const FileHandle handle = openAt(AT_FDCWD, real.get(), O_RDONLY | O_DIRECTORY);
    if (!handle && errno == ENOTDIR)
        return fail(
            Code::Usage, "a folder is needed here, and this is a file", folder,
            "Name the folder that holds the run or checkpoint; only digest, diff and publish read one file by itself.");
    if (!handle)
        return failErrno("open", errno, folder);
    return std::make_unique<LocalStore>(real.get(), seesAllChanges(handle));
}

} // namespace deltascope

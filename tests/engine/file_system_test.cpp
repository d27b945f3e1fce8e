#include "deltascope/engine/file_system.h"
#include "support/child_process.h"
#include "support/faulty_file_system.h"
#include "support/temp_dir.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

namespace deltascope::test {

namespace {

namespace fs = std::filesystem;

class FileSystemTest : public testing::Test {
protected:
    TempDir m_folder;
    std::unique_ptr<FileSystem> m_disk = makeFileSystem();
};

template <class T> Code codeOf(const Result<T>& outcome) { return outcome ? Code::Internal : outcome.error().code; }

mode_t modeOf(const std::string& path)
{
    struct stat status = {};
    return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

} // namespace

TEST_F(FileSystemTest, WritesAndReadsAtAnyOffset)
{
    const auto file = std::move(*m_disk->create(m_folder.path("f")));
    ASSERT_TRUE(file->preallocate(8));
    ASSERT_TRUE(file->write(4, asBytes("5678")));
    ASSERT_TRUE(file->write(0, asBytes("1234")));
    file->startWriteback(0, 8);
    ASSERT_TRUE(file->sync());
    file->dropCache();
    std::string text(6, '\0');
    ASSERT_TRUE(file->read(1, std::as_writable_bytes(std::span(text))));
    EXPECT_EQ(text, "234567");
    EXPECT_EQ(codeOf(file->read(3, std::as_writable_bytes(std::span(text)))), Code::Truncated);
    EXPECT_EQ(*m_disk->sizeOf(m_folder.path("f")), 8U);
}

TEST_F(FileSystemTest, PreallocateNeverShrinks)
{
    const auto file = std::move(*m_disk->create(m_folder.path("f")));
    ASSERT_TRUE(file->preallocate(0));
    ASSERT_TRUE(file->write(0, asBytes("12345678")));
    ASSERT_TRUE(file->preallocate(4));
    EXPECT_EQ(m_folder.read("f"), "12345678");
    EXPECT_EQ(codeOf(file->preallocate(std::uint64_t { 1 } << 63)), Code::NoSpace);
}

TEST_F(FileSystemTest, PreallocateWorksWithoutHelpOfTheKernel)
{
    EXPECT_TRUE(inChild([&] {
        if (!denyCall(SYS_fallocate, EOPNOTSUPP))
            return true;
        const auto file = std::move(*m_disk->create(m_folder.path("f")));
        return file->preallocate(4096) && file->write(0, asBytes("x")) && file->preallocate(10)
            && *m_disk->sizeOf(m_folder.path("f")) == 4096;
    }));
}

TEST_F(FileSystemTest, CreatesPrivateFilesAndFolders)
{
    const mode_t old = ::umask(0);
    ASSERT_TRUE(m_disk->create(m_folder.path("f")));
    ASSERT_TRUE(m_disk->createFolder(m_folder.path("d")));
    ::umask(old);
    EXPECT_EQ(modeOf(m_folder.path("f")), 0600U);
    EXPECT_EQ(modeOf(m_folder.path("d")), 0700U);
}

TEST_F(FileSystemTest, NeverCreatesOverOrThroughSomething)
{
    m_folder.write("file", "x");
    fs::create_symlink(m_folder.path("target"), m_folder.path("dangling"));
    fs::create_symlink(m_folder.path("file"), m_folder.path("link"));
    for (const char* name : { "file", "dangling", "link" }) {
        EXPECT_EQ(codeOf(m_disk->create(m_folder.path(name))), Code::Exists) << name;
        EXPECT_EQ(codeOf(m_disk->createFolder(m_folder.path(name))), Code::Exists) << name;
        EXPECT_TRUE(m_disk->exists(m_folder.path(name))) << name;
    }
    EXPECT_FALSE(fs::exists(m_folder.path("target")));
    EXPECT_FALSE(m_disk->exists(m_folder.path("target")));
}

TEST_F(FileSystemTest, OpensOnlyRegularFilesAndNoLinks)
{
    m_folder.write("file", "x");
    fs::create_symlink(m_folder.path("file"), m_folder.path("link"));
    ASSERT_EQ(::mkfifo(m_folder.path("pipe").c_str(), 0600), 0);
    EXPECT_TRUE(m_disk->openExisting(m_folder.path("file")));
    EXPECT_TRUE(m_disk->openForRead(m_folder.path("file")));
    for (const char* name : { "link", "pipe", "." }) {
        EXPECT_EQ(codeOf(m_disk->openExisting(m_folder.path(name))), Code::Io) << name;
        EXPECT_EQ(codeOf(m_disk->openForRead(m_folder.path(name))), Code::Io) << name;
        EXPECT_EQ(codeOf(m_disk->sizeOf(m_folder.path(name))), Code::Io) << name;
    }
}

TEST_F(FileSystemTest, ErrorsNameCallAndPath)
{
    const std::string path = m_folder.path("no/such");
    const auto outcome = m_disk->create(path);
    ASSERT_FALSE(outcome);
    EXPECT_EQ(outcome.error().code, Code::NotFound);
    EXPECT_EQ(outcome.error().where, path);
    EXPECT_EQ(outcome.error().text, "open: No such file or directory");
    EXPECT_EQ(codeOf(m_disk->sizeOf(path)), Code::NotFound);
    EXPECT_EQ(codeOf(m_disk->list(path)), Code::NotFound);
    EXPECT_EQ(codeOf(m_disk->removeFile(path)), Code::NotFound);
    EXPECT_EQ(codeOf(m_disk->removeTree(path)), Code::NotFound);
    EXPECT_EQ(codeOf(m_disk->freeBytes(path)), Code::NotFound);
    EXPECT_EQ(codeOf(m_disk->lock(path)), Code::NotFound);
    EXPECT_EQ(codeOf(m_disk->syncFolder(path)), Code::NotFound);
}

TEST_F(FileSystemTest, ListsNamesSorted)
{
    for (const char* name : { "b", "a", ".c", "d/e" })
        m_folder.write(name, "x");
    EXPECT_EQ(*m_disk->list(m_folder.path()), (std::vector<std::string> { ".c", "a", "b", "d" }));
    EXPECT_GT(*m_disk->freeBytes(m_folder.path()), 0U);
    EXPECT_TRUE(m_disk->syncFolder(m_folder.path()));
}

TEST_F(FileSystemTest, RenameReplacesNothing)
{
    m_folder.write("from/x", "x");
    m_folder.write("file", "x");
    fs::create_directory(m_folder.path("empty"));
    fs::create_symlink("nowhere", m_folder.path("dangling"));
    for (const char* to : { "file", "empty", "dangling" })
        EXPECT_EQ(codeOf(m_disk->renameNoReplace(m_folder.path("from"), m_folder.path(to))), Code::Exists) << to;
    EXPECT_EQ(codeOf(m_disk->renameNoReplace(m_folder.path("no"), m_folder.path("new"))), Code::NotFound);
    ASSERT_TRUE(m_disk->renameNoReplace(m_folder.path("from"), m_folder.path("new")));
    EXPECT_EQ(m_folder.read("new/x"), "x");
}

TEST_F(FileSystemTest, RenameReplacesNothingWhereTheKernelCannotPromiseIt)
{
    m_folder.write("folder/x", "x");
    m_folder.write("file", "x");
    m_folder.write("taken", "old");
    fs::create_directory(m_folder.path("empty"));
    EXPECT_TRUE(inChild([&] {
        if (!denyCall(SYS_renameat2, EINVAL))
            return true;
        for (const char* from : { "folder", "file" }) {
            for (const char* to : { "taken", "empty" }) {
                if (codeOf(m_disk->renameNoReplace(m_folder.path(from), m_folder.path(to))) != Code::Exists)
                    return false;
            }
        }
        return m_disk->renameNoReplace(m_folder.path("folder"), m_folder.path("folder2"))
            && m_disk->renameNoReplace(m_folder.path("file"), m_folder.path("file2"))
            && codeOf(m_disk->renameNoReplace(m_folder.path("no"), m_folder.path("new"))) == Code::NotFound;
    }));
    EXPECT_EQ(m_folder.read("taken"), "old");
    if (fs::exists(m_folder.path("folder2"))) {
        EXPECT_EQ(m_folder.read("folder2/x"), "x");
        EXPECT_EQ(m_folder.read("file2"), "x");
        EXPECT_FALSE(fs::exists(m_folder.path("file")));
    }
}

TEST_F(FileSystemTest, RemoveTreeFollowsNoLinks)
{
    m_folder.write("outside/precious", "x");
    m_folder.write("tree/a/b/c", "x");
    fs::create_directory_symlink(m_folder.path("outside"), m_folder.path("tree/a/link"));
    fs::create_directory_symlink(m_folder.path("outside"), m_folder.path("top"));
    ASSERT_TRUE(m_disk->removeTree(m_folder.path("tree")));
    EXPECT_FALSE(m_disk->exists(m_folder.path("tree")));
    ASSERT_TRUE(m_disk->removeTree(m_folder.path("top/")));
    EXPECT_FALSE(m_disk->exists(m_folder.path("top")));
    EXPECT_EQ(m_folder.read("outside/precious"), "x");
    EXPECT_EQ(codeOf(m_disk->removeTree(m_folder.path("tree"))), Code::NotFound);
}

TEST_F(FileSystemTest, LockExcludesOthersUntilItsHolderEnds)
{
    {
        const auto held = m_disk->lock(m_folder.path());
        ASSERT_TRUE(held);
        EXPECT_EQ(codeOf(m_disk->lock(m_folder.path())), Code::Exists);
        EXPECT_TRUE(inChild([&] { return codeOf(m_disk->lock(m_folder.path())) == Code::Exists; }));
    }
    EXPECT_TRUE(m_disk->lock(m_folder.path()));

    std::array<int, 2> ready = {};
    ASSERT_EQ(::pipe(ready.data()), 0);
    const pid_t child = ::fork();
    if (child == 0) {
        const auto held = m_disk->lock(m_folder.path());
        const char answer = held ? 'y' : 'n';
        static_cast<void>(::write(ready[1], &answer, 1));
        for (;;)
            ::pause();
    }
    char answer = 0;
    ASSERT_EQ(::read(ready[0], &answer, 1), 1);
    EXPECT_EQ(answer, 'y');
    EXPECT_EQ(codeOf(m_disk->lock(m_folder.path())), Code::Exists);
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
    EXPECT_TRUE(m_disk->lock(m_folder.path()));
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_F(FileSystemTest, FileSizeLimitIsNoSpace)
{
    EXPECT_TRUE(inChild([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = { 4096, 4096 };
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto file = std::move(*m_disk->create(m_folder.path("f")));
        return codeOf(file->preallocate(8192)) == Code::NoSpace
            && codeOf(file->write(0, asBytes(std::string(8192, 'x')))) == Code::NoSpace
            && codeOf(writeTextFile(*m_disk, m_folder.path("g"), std::string(8192, 'x'))) == Code::NoSpace
            && !m_disk->exists(m_folder.path("g"));
    }));
}

TEST_F(FileSystemTest, FileIsLostAfterAFailedSync)
{
    EXPECT_TRUE(inChild([&] {
        const auto file = std::move(*m_disk->create(m_folder.path("f")));
        if (!file->write(0, asBytes("x")) || !file->sync())
            return false;
        if (!denyCall(SYS_fsync, EIO))
            return true;
        const auto first = file->sync();
        const auto second = file->sync();
        return codeOf(first) == Code::Io && codeOf(second) == Code::Io && first.error().text != second.error().text;
    }));
}

TEST_F(FileSystemTest, TextFilesRoundTrip)
{
    const std::string path = m_folder.path("progress.json");
    ASSERT_TRUE(writeTextFile(*m_disk, path, "{}"));
    EXPECT_EQ(*readTextFile(*m_disk, path, 2), "{}");
    EXPECT_EQ(codeOf(readTextFile(*m_disk, path, 1)), Code::Hostile);
    EXPECT_EQ(codeOf(readTextFile(*m_disk, m_folder.path("no"), 1)), Code::NotFound);
    EXPECT_EQ(codeOf(writeTextFile(*m_disk, path, "other")), Code::Exists);
    EXPECT_EQ(m_folder.read("progress.json"), "{}");
}

TEST_F(FileSystemTest, FaultyDiskFailsTheNthCallAndCounts)
{
    FaultyFileSystem disk;
    const Error error { Code::Io, "injected", {}, {}, {} };
    disk.failNth(DiskOperation::Sync, 1, error);
    EXPECT_EQ(writeTextFile(disk, m_folder.path("a"), "x").error(), error);
    EXPECT_FALSE(disk.exists(m_folder.path("a")));
    EXPECT_TRUE(writeTextFile(disk, m_folder.path("a"), "x"));
    EXPECT_EQ(disk.calls(DiskOperation::Sync), 2U);
    EXPECT_EQ(disk.calls(DiskOperation::RemoveFile), 1U);
    disk.failNth(DiskOperation::Any, 2, error, Repeat::Forever);
    EXPECT_TRUE(disk.list(m_folder.path()));
    EXPECT_FALSE(disk.list(m_folder.path()));
    EXPECT_FALSE(disk.removeTree(m_folder.path("a")));
    disk.clearFaults();
    EXPECT_EQ(*readTextFile(disk, m_folder.path("a"), 10), "x");
    EXPECT_EQ(disk.faults(), 3U);
}

TEST_F(FileSystemTest, FaultyDiskRunsOutOfSpace)
{
    FaultyFileSystem disk;
    disk.limitBytes(10);
    EXPECT_EQ(*disk.freeBytes(m_folder.path()), 10U);
    const auto file = std::move(*disk.create(m_folder.path("f")));
    ASSERT_TRUE(file->preallocate(6));
    ASSERT_TRUE(file->write(0, asBytes("123456"))); // room that was reserved costs nothing again
    EXPECT_EQ(codeOf(file->write(6, asBytes("7890AB"))), Code::NoSpace);
    EXPECT_EQ(m_folder.read("f"), "1234567890");
    EXPECT_EQ(codeOf(file->preallocate(11)), Code::NoSpace);
    EXPECT_EQ(*disk.freeBytes(m_folder.path()), 0U);
    EXPECT_TRUE(file->write(0, asBytes("abc")));
    EXPECT_EQ(disk.bytesWritten(), 13U);
}

class FileSystemBelow : public FileSystemTest {
protected:
    FileSystemBelow()
    {
        fs::create_directories(m_folder.path("root/real"));
        fs::create_directories(m_folder.path("elsewhere"));
        fs::create_directory_symlink(m_folder.path("elsewhere"), m_folder.path("root/link"));
        m_below = makeFileSystemBelow(m_folder.path("root"));
    }
    std::string in(const std::string& name) const { return m_folder.path("root/" + name); }

    std::unique_ptr<FileSystem> m_below;
};

TEST_F(FileSystemBelow, WorksInItsFolder)
{
    ASSERT_TRUE(m_below->createFolder(in("real/new")));
    ASSERT_TRUE(writeTextFile(*m_below, in("real/new/file"), "text"));
    EXPECT_EQ(readTextFile(*m_below, in("real/new/file"), 9).value(), "text");
    EXPECT_EQ(m_below->list(in("real/new/")).value(), std::vector<std::string> { "file" });
    EXPECT_EQ(m_below->list(m_folder.path("root")).value(), (std::vector<std::string> { "link", "real" }));
    EXPECT_TRUE(m_below->exists(in("real//./new")));
    EXPECT_EQ(m_below->sizeOf(in("real/new/file")).value(), 4U);
    EXPECT_TRUE(m_below->freeBytes(in("real")));
    EXPECT_TRUE(m_below->lock(in("real")));
    EXPECT_TRUE(m_below->syncFolder(in("real")));
    ASSERT_TRUE(m_below->renameNoReplace(in("real/new"), in("moved")));
    EXPECT_EQ(codeOf(m_below->renameNoReplace(in("moved"), in("real"))), Code::Exists);
    ASSERT_TRUE(m_below->removeFile(in("moved/file")));
    ASSERT_TRUE(m_below->removeTree(in("moved")));
}

TEST_F(FileSystemBelow, FollowsNoLinkAnywhere)
{
    std::ofstream(m_folder.path("elsewhere/file")) << "x";
    const std::string file = in("link/file");
    EXPECT_EQ(codeOf(m_below->createFolder(in("link/new"))), Code::Auth);
    EXPECT_EQ(codeOf(m_below->create(in("link/new"))), Code::Auth);
    EXPECT_EQ(codeOf(m_below->openExisting(file)), Code::Auth);
    EXPECT_EQ(codeOf(m_below->openForRead(file)), Code::Auth);
    EXPECT_EQ(codeOf(m_below->list(in("link"))), Code::Auth);
    EXPECT_FALSE(m_below->exists(file));
    EXPECT_EQ(codeOf(m_below->sizeOf(file)), Code::Auth);
    EXPECT_EQ(codeOf(m_below->freeBytes(in("link"))), Code::Auth);
    EXPECT_EQ(codeOf(m_below->renameNoReplace(in("real"), in("link/real"))), Code::Auth);
    EXPECT_EQ(codeOf(m_below->renameNoReplace(file, in("stolen"))), Code::Auth);
    EXPECT_EQ(codeOf(m_below->syncFolder(in("link"))), Code::Auth);
    EXPECT_EQ(codeOf(m_below->removeFile(file)), Code::Auth);
    EXPECT_EQ(codeOf(m_below->removeTree(file)), Code::Auth);
    EXPECT_EQ(codeOf(m_below->lock(in("link"))), Code::Auth);
    EXPECT_EQ(m_disk->list(m_folder.path("elsewhere")).value(), std::vector<std::string> { "file" });
    EXPECT_NE(m_below->createFolder(in("link/new")).error().text.find("\"link\" is a symbolic link"),
              std::string::npos);
}

TEST_F(FileSystemBelow, AFolderThatBecomesALinkLeadsNowhere)
{
    ASSERT_TRUE(writeTextFile(*m_below, in("real/one"), "1"));
    fs::rename(in("real"), in("was"));
    fs::create_directory_symlink(m_folder.path("elsewhere"), in("real"));
    EXPECT_EQ(codeOf(writeTextFile(*m_below, in("real/two"), "2")), Code::Auth);
    EXPECT_TRUE(fs::is_empty(m_folder.path("elsewhere")));
}

TEST_F(FileSystemBelow, NothingElseIsReached)
{
    for (const std::string& path : { m_folder.path("elsewhere"), m_folder.path("."), m_folder.path("rooty"),
                                     in("../elsewhere/x"), in("real/../../elsewhere/x"), std::string("root/real") })
        EXPECT_EQ(codeOf(m_below->createFolder(path)), Code::Usage) << path;
}

TEST_F(FileSystemBelow, ItsOwnFolderMayBeBehindALink)
{
    fs::create_directory_symlink(m_folder.path("root"), m_folder.path("way"));
    const auto below = makeFileSystemBelow(m_folder.path("way/"));
    EXPECT_TRUE(below->createFolder(m_folder.path("way/new")));
    EXPECT_EQ(codeOf(below->createFolder(m_folder.path("way/link/new"))), Code::Auth);
}

TEST_F(FileSystemBelow, MissingFoldersAreMadeAndLinksAreNotTakenForThem)
{
    const std::string root = m_folder.path("root");
    EXPECT_TRUE(createFoldersBelow(*m_below, root, in("real/a/b")));
    EXPECT_TRUE(createFoldersBelow(*m_below, root, in("real/a/b")));
    EXPECT_TRUE(fs::is_directory(in("real/a/b")));
    EXPECT_EQ(codeOf(createFoldersBelow(*m_below, root, in("link/a"))), Code::Auth);
    EXPECT_TRUE(createFoldersBelow(*m_below, root, root)) << "it is there";
}

} // namespace deltascope::test

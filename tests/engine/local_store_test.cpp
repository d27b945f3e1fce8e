#include "local_store_fixture.h"
#include "support/any_task.h"
#include "support/child_process.h"
#include "support/memory_store.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

// Stores in folders: what they list, read and write, and what is in their way.

namespace deltascope::test {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

} // namespace

TEST_F(LocalStoreTest, LinksToFilesAreObjectsOthersAreCalledWhatTheyAre)
{
    TempDir elsewhere;
    elsewhere.write("blob", "content");
    elsewhere.write("folder/inner", "x");
    fs::create_symlink(elsewhere.path("blob"), m_folder.path("link"));
    fs::create_symlink(elsewhere.path("folder"), m_folder.path("linked_folder"));
    fs::create_symlink("nowhere", m_folder.path("dangling"));
    fs::create_symlink("loop", m_folder.path("loop"));

    EXPECT_EQ(oddities(),
              (Names { "dangling: a link that leads nowhere (nowhere)",
                       "link: ", "linked_folder/inner: ", "loop: a link that leads nowhere (loop)" }));
    const auto bytes = readWhole(*m_store, "link", 100, anyTask());
    ASSERT_TRUE(bytes);
    EXPECT_EQ(asText(*bytes), "content");
    const auto inner = readWhole(*m_store, "linked_folder/inner", 100, anyTask());
    ASSERT_TRUE(inner);
    EXPECT_EQ(asText(*inner), "x");
    for (const char* key : { "linked_folder", "dangling", "loop" })
        EXPECT_EQ(m_store->stat(key, anyTask()).error().code, Code::NotFound) << key;
    EXPECT_FALSE(putText(*m_store, "linked_folder/new", "x"));
    EXPECT_FALSE(fs::exists(elsewhere.path("folder/new")));
}

TEST_F(LocalStoreTest, ReplacingALinkLeavesItsTargetAlone)
{
    TempDir elsewhere;
    elsewhere.write("blob", "content");
    fs::create_symlink(elsewhere.path("blob"), m_folder.path("link"));
    ASSERT_TRUE(putText(*m_store, "link", "new"));
    EXPECT_EQ(elsewhere.read("blob"), "content");
    EXPECT_EQ(m_folder.read("link"), "new");
}

TEST_F(LocalStoreTest, PipesDoNotHang)
{
    ASSERT_EQ(::mkfifo(m_folder.path("pipe").c_str(), 0600), 0);
    std::byte byte {};
    EXPECT_EQ(oddities(), Names { "pipe: a FIFO" });
    EXPECT_EQ(m_store->stat("pipe", anyTask()).error().code, Code::NotFound);
    EXPECT_EQ(m_store->read("pipe", 0, MutableByteSpan(&byte, 1), anyTask()).error().code, Code::NotFound);
}

TEST_F(LocalStoreTest, WhatIsNoFileIsCalledWhatItIs)
{
    fs::create_symlink("/dev/zero", m_folder.path("device"));
    fs::create_directory(m_folder.path("step_000004.safetensors"));
    fs::create_directory(m_folder.path("checkpoint-4"));
    EXPECT_EQ(oddities(), (Names { "device: a link to a device", "step_000004.safetensors: a folder" }));
}

TEST_F(LocalStoreTest, ALinkToAFolderOfTheStoreIsNothing)
{
    m_folder.write("run_1/object", "x");
    fs::create_directory_symlink("run_1", m_folder.path("latest"));
    EXPECT_EQ(oddities(), Names { "run_1/object: " });
}

TEST_F(LocalStoreTest, AFolderElsewhereIsFollowedOnceAndCyclesAreCut)
{
    TempDir elsewhere;
    TempDir third;
    third.write("object", "third");
    elsewhere.write("inner/object", "x");
    fs::create_directory_symlink("inner", elsewhere.path("alias")); // of what is listed
    fs::create_directory_symlink(third.path(), elsewhere.path("further"));
    fs::create_directory_symlink(m_folder.path(), elsewhere.path("back"));
    m_folder.write("own/object", "y");
    fs::create_directory_symlink(elsewhere.path(), m_folder.path("other"));
    fs::create_directory_symlink("..", m_folder.path("own/up"));
    EXPECT_EQ(oddities(),
              (Names { "other/back: a link to a folder", "other/further: a link to a folder",
                       "other/inner/object: ", "own/object: " }));
    EXPECT_TRUE(m_store->stat("other/inner/object", anyTask()));
    for (const char* key :
         { "other/further/object", "other/back/own/object", "other/alias/object", "own/up/own/object" })
        EXPECT_EQ(m_store->stat(key, anyTask()).error().code, Code::NotFound) << key;
    EXPECT_EQ(m_store->leadsOutside("other/inner/object", anyTask()), false);
    // The same page by page, and nothing is written or removed through the link.
    std::vector<std::string> keys;
    ListRequest request;
    request.maxKeys = 1;
    for (bool more = true; more;) {
        const auto page = m_store->list(request, m_task);
        ASSERT_TRUE(page);
        for (const ObjectInfo& object : page->objects)
            keys.push_back(object.key);
        more = page->more;
        request.startAfter = keys.back();
    }
    EXPECT_EQ(keys, (Names { "other/back", "other/further", "other/inner/object", "own/object" }));
    EXPECT_FALSE(putText(*m_store, "other/inner/object", "new"));
    EXPECT_FALSE(m_store->remove({ ObjectRef("other/inner/object") }, m_task).front());
    EXPECT_EQ(elsewhere.read("inner/object"), "x");
}

TEST_F(LocalStoreTest, LinksThatLeadOutsideAreKnown)
{
    TempDir elsewhere;
    elsewhere.write("secret", "x");
    m_folder.write("config.json", "{}");
    fs::create_directory(m_folder.path("checkpoint-1"));
    fs::create_symlink("../config.json", m_folder.path("checkpoint-1/shared.json"));
    fs::create_symlink(elsewhere.path("secret"), m_folder.path("checkpoint-1/leaves.json"));
    EXPECT_EQ(m_store->leadsOutside("config.json", anyTask()), false);
    EXPECT_EQ(m_store->leadsOutside("checkpoint-1/shared.json", anyTask()), false);
    EXPECT_EQ(m_store->leadsOutside("checkpoint-1/leaves.json", anyTask()), true);
}

TEST_F(LocalStoreTest, BlobsOfItsOwnRepositoryAreNotOutsideOfASnapshot)
{
    m_folder.write("models--a--b/blobs/1", "{}");
    m_folder.write("models--a--c/blobs/2", "{}");
    fs::create_directories(m_folder.path("models--a--b/snapshots/1f"));
    fs::create_symlink("../../blobs/1", m_folder.path("models--a--b/snapshots/1f/config.json"));
    fs::create_symlink("../../../models--a--c/blobs/2", m_folder.path("models--a--b/snapshots/1f/tokenizer.json"));
    const auto snapshot = std::move(*openLocalStore(m_folder.path("models--a--b/snapshots/1f")));
    EXPECT_EQ(snapshot->leadsOutside("config.json", anyTask()), false);
    EXPECT_EQ(snapshot->leadsOutside("tokenizer.json", anyTask()), true) << "a blob of another repository";
}

TEST_F(LocalStoreTest, HolesOfFreshFilesAreUnwrittenParts)
{
    const std::string path = m_folder.write("model", std::string(4096, 'x'));
    ASSERT_EQ(::truncate(path.c_str(), 1 << 20), 0);
    EXPECT_TRUE(m_store->stat("model", anyTask())->hasUnwrittenPart);
    EXPECT_TRUE(m_store->list({}, m_task)->objects.front().hasUnwrittenPart);

    m_folder.write("model", std::string(1 << 20, '\0')); // zeros that were written are no hole
    EXPECT_FALSE(m_store->stat("model", anyTask())->hasUnwrittenPart);
}

TEST_F(LocalStoreTest, PreallocatedFilesHaveUnwrittenPartsUntilFilled)
{
    const int file = ::open(m_folder.path("model").c_str(), O_CREAT | O_RDWR, 0600);
    ASSERT_GE(file, 0);
    if (::fallocate(file, 0, 0, 1 << 20) != 0) {
        ::close(file);
        GTEST_SKIP() << "no fallocate here";
    }
    EXPECT_TRUE(m_store->stat("model", anyTask())->hasUnwrittenPart);
    const std::string content(1 << 20, 'x');
    ASSERT_EQ(::pwrite(file, content.data(), content.size(), 0), static_cast<ssize_t>(content.size()));
    ::close(file);
    EXPECT_FALSE(m_store->stat("model", anyTask())->hasUnwrittenPart);
}

TEST_F(LocalStoreTest, RewriteInPlaceChangesTheIdentity)
{
    m_folder.write("object", "first");
    const auto before = m_store->stat("object", anyTask());
    std::this_thread::sleep_for(20ms); // more than the grain of the kernel's clock
    m_folder.write("object", "other");
    EXPECT_NE(m_store->stat("object", anyTask())->identity, before->identity);
}

TEST_F(LocalStoreTest, TemporaryNamesNeverShow)
{
    m_folder.write(".model.ds-tmp-1234-00ff", "half");
    m_folder.write("step/.model.safetensors.ds-tmp-1-2", "half");
    m_folder.write(".ds-tmp", "a user's own");
    EXPECT_EQ(keys(), Names { ".ds-tmp" });
    EXPECT_EQ(m_store->stat(".model.ds-tmp-1234-00ff", anyTask()).error().code, Code::Usage);
    EXPECT_EQ(putText(*m_store, "a/.b.ds-tmp-1", "x").error().code, Code::Usage);
}

TEST_F(LocalStoreTest, PutLeavesNothingBehindWhenTheNameIsTaken)
{
    m_folder.write("folder/file", "x");
    EXPECT_FALSE(putText(*m_store, "folder", "x")); // a folder is in the way
    EXPECT_EQ(putText(*m_store, "folder", "x", PutMode::IfAbsent).error().code, Code::Exists);
    EXPECT_FALSE(putText(*m_store, "folder/file/below", "x"));
    std::size_t entries = 0;
    for ([[maybe_unused]] const auto& entry : fs::recursive_directory_iterator(m_folder.path()))
        ++entries;
    EXPECT_EQ(entries, 2U);
}

TEST_F(LocalStoreTest, PutTakesNamesOfFullLength)
{
    const std::string longest(255, 'n');
    ASSERT_TRUE(putText(*m_store, longest, "x"));
    EXPECT_EQ(keys(), Names { longest });
    EXPECT_FALSE(putText(*m_store, longest + "n", "x"));
    EXPECT_EQ(keys(), Names { longest });
}

TEST_F(LocalStoreTest, FileSizeLimitIsNoSpaceAndLeavesNothing)
{
    EXPECT_TRUE(inChild([&] {
        ::signal(SIGXFSZ, SIG_IGN);
        const rlimit limit = { 4096, 4096 };
        ::setrlimit(RLIMIT_FSIZE, &limit);
        const auto outcome = putText(*m_store, "big", std::string(100'000, 'x'));
        return !outcome && outcome.error().code == Code::NoSpace;
    }));
    EXPECT_TRUE(fs::is_empty(m_folder.path()));
}

TEST_F(LocalStoreTest, FailedSyncLeavesTheOldObject)
{
    ASSERT_TRUE(putText(*m_store, "object", "old"));
    EXPECT_TRUE(inChild([&] {
        if (!denyCall(SYS_fsync, EIO))
            return true;
        const auto outcome = putText(*m_store, "object", "new");
        return !outcome && outcome.error().code == Code::Io;
    }));
    EXPECT_EQ(m_folder.read("object"), "old");
    EXPECT_EQ(std::distance(fs::directory_iterator(m_folder.path()), {}), 1);
}

TEST_F(LocalStoreTest, IfAbsentWorksByASecondNameWhereRenameCannotPromiseIt)
{
    EXPECT_TRUE(inChild([&] {
        if (!denyCall(SYS_renameat2, EINVAL))
            return true;
        const auto first = putText(*m_store, "object", "first", PutMode::IfAbsent);
        const auto status = m_store->stat("object", anyTask());
        return first && status && first->identity == status->identity
            && !putText(*m_store, "object", "second", PutMode::IfAbsent) && m_folder.read("object") == "first";
    }));
    for (const auto& entry : fs::directory_iterator(m_folder.path()))
        EXPECT_EQ(entry.path().filename(), "object");
}

TEST_F(LocalStoreTest, RemovedFolderIsAnErrorNotAnEmptyListing)
{
    m_folder.write("object", "x");
    fs::remove_all(m_folder.path());
    EXPECT_EQ(codeOfList(), Code::NotFound);
    EXPECT_FALSE(m_store->stat("object", anyTask()));
    EXPECT_FALSE(putText(*m_store, "object", "x"));

    m_folder.write("object2", "x"); // and it works again once the trainer made it anew
    EXPECT_EQ(keys(), Names { "object2" });
}

TEST_F(LocalStoreTest, UnreadableFolderIsAnErrorNotAShorterListing)
{
    if (::geteuid() == 0)
        GTEST_SKIP() << "root reads everything";
    m_folder.write("a", "x");
    m_folder.write("closed/b", "x");
    fs::permissions(m_folder.path("closed"), fs::perms::none);
    EXPECT_EQ(codeOfList(), Code::Auth);
    EXPECT_EQ(keys({ "a", "", 4096 }), Names { "a" });
    fs::permissions(m_folder.path("closed"), fs::perms::owner_all);
}

TEST_F(LocalStoreTest, ListingSurvivesFilesThatComeAndGo)
{
    for (int i = 0; i < 50; ++i)
        m_folder.write("stays/" + std::to_string(i), "x");
    std::atomic<bool> finished = false;
    std::thread writer([&] {
        for (int i = 0; !finished; ++i) {
            const std::string name = "comes/" + std::to_string(i % 20);
            m_folder.write(name, "x");
            fs::remove(m_folder.path("comes/" + std::to_string((i + 10) % 20)));
        }
    });
    for (int i = 0; i < 100; ++i) {
        const auto objects = listAll(*m_store, "stays/", m_task);
        EXPECT_TRUE(objects && objects->size() == 50);
        EXPECT_TRUE(listAll(*m_store, {}, m_task));
    }
    finished = true;
    writer.join();
}

TEST_F(LocalStoreTest, ListingNeverMissesWhatAReplacedFolderHolds)
{
    for (int i = 0; i < 20; ++i)
        m_folder.write("other/run/" + std::to_string(i), "x");
    m_folder.write("deltas/step", "x");
    std::atomic<bool> finished = false;
    std::thread writer([&] { // renameat2 exchange: there is a folder of that name at all times
        while (!finished)
            ::renameat2(AT_FDCWD, m_folder.path("other").c_str(), AT_FDCWD, m_folder.path("deltas").c_str(), 2);
    });
    for (int i = 0; i < 300; ++i) {
        const auto page = m_store->list({ "deltas/", "", 4096 }, m_task);
        if (page)
            EXPECT_TRUE(page->objects.size() == 1 || page->objects.size() == 20);
        else
            EXPECT_EQ(page.error().code, Code::Transient);
    }
    finished = true;
    writer.join();
}

} // namespace deltascope::test

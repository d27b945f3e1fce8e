#include "deltascope/engine/object_store.h"
#include "deltascope/engine/stores.h"
#include "support/any_task.h"
#include "support/child_process.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/memory_store.h"
#include "support/temp_dir.h"

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <memory>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>
#include <unistd.h>

namespace deltascope::test {

namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

class LocalStoreTest : public testing::Test {
protected:
    std::vector<std::string> keys(const ListRequest& request = {})
    {
        const auto page = m_store->list(request, m_task);
        if (!page)
            return { "error: " + std::string(word(page.error().code)) };
        std::vector<std::string> names;
        for (const ObjectInfo& object : page->objects)
            names.push_back(object.key);
        return names;
    }

    Code codeOfList()
    {
        const auto page = m_store->list({}, m_task);
        return page ? Code::Internal : page.error().code;
    }

    bool waitFor(StoreWatch& watch, std::chrono::milliseconds timeout = 2s)
    {
        const auto outcome = watch.wait(timeout, m_task);
        return outcome && *outcome;
    }

    void settle(StoreWatch& watch)
    {
        while (waitFor(watch, 50ms)) { }
    }

    /// "key: what it is instead of a file"
    std::vector<std::string> oddities()
    {
        std::vector<std::string> all;
        const ListPage page = *m_store->list({}, m_task);
        for (const ObjectInfo& object : page.objects)
            all.push_back(object.key + ": " + object.oddity);
        return all;
    }

    TempDir m_folder;
    std::unique_ptr<ObjectStore> m_store = std::move(*openLocalStore(m_folder.path()));
    TaskContext m_task;
};

using Names = std::vector<std::string>;

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

TEST_F(LocalStoreTest, WatchSeesWritesRenamesAndRemovals)
{
    m_folder.write("a/object", "x");
    const auto watch = std::move(*m_store->watch());
    EXPECT_FALSE(waitFor(*watch, 60ms));
    m_folder.write("a/object", "longer");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    fs::rename(m_folder.path("a/object"), m_folder.path("a/renamed"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    fs::remove(m_folder.path("a/renamed"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("a/.x.ds-tmp-1-1", "x");
    EXPECT_FALSE(waitFor(*watch, 60ms));
}

TEST_F(LocalStoreTest, WatchFollowsFoldersThatAreMovedIn)
{
    TempDir elsewhere;
    elsewhere.write("step/deep/object", "x");
    const auto watch = std::move(*m_store->watch());
    fs::rename(elsewhere.path("step"), m_folder.path("step"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("step/deep/object", "more");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    fs::rename(m_folder.path("step"), m_folder.path("moved"));
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("moved/deep/new/object", "x");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("moved/deep/new/second", "x");
    EXPECT_TRUE(waitFor(*watch));
}

TEST_F(LocalStoreTest, WatchSurvivesRemovalOfTheFolder)
{
    m_folder.write("a/b", "x");
    const auto watch = std::move(*m_store->watch());
    fs::remove_all(m_folder.path());
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("a/b", "x");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("a/c", "x");
    EXPECT_TRUE(waitFor(*watch));
}

TEST_F(LocalStoreTest, WatchSurvivesMoreEventsThanTheKernelKeeps)
{
    const auto watch = std::move(*m_store->watch());
    fs::create_directories(m_folder.path("other"));
    settle(*watch);
    // two files in turn, so that the kernel cannot join equal events
    const int first = ::open(m_folder.path("1").c_str(), O_CREAT | O_WRONLY, 0600);
    const int second = ::open(m_folder.path("2").c_str(), O_CREAT | O_WRONLY, 0600);
    for (int i = 0; i < 20'000; ++i) {
        ASSERT_EQ(::pwrite(first, "x", 1, 0), 1);
        ASSERT_EQ(::pwrite(second, "x", 1, 0), 1);
    }
    ::close(first);
    ::close(second);
    m_folder.write("unnoticed/object", "x");
    EXPECT_TRUE(waitFor(*watch));
    settle(*watch);
    m_folder.write("unnoticed/object", "more");
    EXPECT_TRUE(waitFor(*watch));
}

TEST_F(LocalStoreTest, WatchPollsWhereLinksHideChanges)
{
    TempDir elsewhere;
    elsewhere.write("blob", "content");
    fs::create_symlink(elsewhere.path("blob"), m_folder.path("link"));
    const auto watch = std::move(*m_store->watch());
    EXPECT_TRUE(waitFor(*watch, 20ms));
}

TEST(Stores, OpensPathsAndFileAddresses)
{
    TempDir folder;
    folder.write("with space %/model.safetensors", "x");
    const std::string path = folder.path("with space %");
    Stores stores;
    const auto plain = stores.open(path);
    ASSERT_TRUE(plain);
    const std::string uri = (*plain)->uri();
    EXPECT_TRUE(uri.starts_with("file:///"));
    EXPECT_TRUE(uri.ends_with("/with%20space%20%25"));
    for (const std::string& address : { uri, "FILE://localhost" + uri.substr(7), path + "/", uri + "/" }) {
        const auto store = stores.open(address);
        ASSERT_TRUE(store) << address;
        EXPECT_EQ((*store)->uri(), uri) << address;
        EXPECT_TRUE((*store)->stat("model.safetensors", anyTask())) << address;
    }
}

TEST(Stores, AModelInTheCacheOfTheHubIsTheSnapshotOfItsMainRevision)
{
    TempDir cache;
    cache.write("refs/main", "abc\n");
    cache.write("blobs/1", "old");
    cache.write("blobs/2", "new");
    fs::create_directories(cache.path("snapshots/abc"));
    fs::create_symlink("../../blobs/2", cache.path("snapshots/abc/model.safetensors"));
    fs::create_symlink("../../blobs/3", cache.path("snapshots/abc/config.json"));
    Stores stores;
    const auto store = stores.open(cache.path());
    ASSERT_TRUE(store) << store.error().text;
    const auto bytes = readWhole(**store, "model.safetensors", 10, anyTask());
    ASSERT_TRUE(bytes);
    EXPECT_EQ(asText(*bytes), "new");
    const auto listing = listAll(**store, "", anyTask());
    ASSERT_TRUE(listing);
    const Error broken = noFileError(listing->front());
    EXPECT_EQ(broken.code, Code::Unfinished);
    EXPECT_NE(broken.text.find("config.json is a link that leads nowhere (../../blobs/3)"), std::string::npos)
        << broken.text;
    EXPECT_NE(broken.text.find("blob is not in the cache"), std::string::npos);
    // The only snapshot is meant, of several none.
    cache.write("refs/main", "def");
    EXPECT_TRUE(stores.open(cache.path()));
    fs::create_directories(cache.path("snapshots/old"));
    const auto several = stores.open(cache.path());
    ASSERT_FALSE(several);
    EXPECT_EQ(several.error().code, Code::Layout);
    EXPECT_NE(several.error().text.find("snapshots/abc, snapshots/old"), std::string::npos) << several.error().text;
    // Without blobs it is any folder.
    fs::remove_all(cache.path("blobs"));
    EXPECT_TRUE(stores.open(cache.path()));
}

TEST(Stores, ResolvesLinksAndRelativePaths)
{
    TempDir folder;
    folder.write("run_1/object", "x");
    fs::create_directory_symlink("run_1", folder.path("latest"));
    Stores stores;
    EXPECT_EQ((*stores.open(folder.path("latest")))->uri(), "file://" + folder.path("run_1"));
    EXPECT_EQ((*stores.open("."))->uri(), (*openLocalStore(fs::current_path().string()))->uri());
}

TEST(Stores, SaysWhatItCannotOpen)
{
    TempDir folder;
    folder.write("file", "x");
    Stores stores;
    const auto codeOf = [&](const std::string& address) {
        const auto store = stores.open(address);
        return store ? Code::Internal : store.error().code;
    };
    EXPECT_EQ(codeOf(""), Code::Usage);
    EXPECT_EQ(codeOf(folder.path("missing")), Code::NotFound);
    EXPECT_EQ(codeOf(folder.path("file/below")), Code::NotFound);
    EXPECT_EQ(codeOf("s3://"), Code::Usage);
    EXPECT_EQ(codeOf("hf://model"), Code::Usage);
    EXPECT_EQ(codeOf("gs://bucket"), Code::Unsupported);
    for (const char* address :
         { "file://otherhost/x", "file:///a%2", "file:///a%zz", "file:///a%00b", "file://relative" })
        EXPECT_EQ(codeOf(address), Code::Usage) << address;
    EXPECT_EQ(codeOf(folder.path("file")), Code::Usage) << "the folder around a file is another source";
    EXPECT_EQ(codeOf("file://" + folder.path("file")), Code::Usage);
}

TEST(ListAll, AnErrorInAnyPageDiscardsTheListing)
{
    // A page holds 4096 keys, so 5000 need two.
    MemoryStore memory;
    for (int i = 0; i < 5000; ++i)
        ASSERT_TRUE(putText(memory, std::to_string(i), "x"));
    TaskContext task;
    FaultyStore store(memory);
    EXPECT_EQ(listAll(store, {}, task)->size(), 5000U);
    EXPECT_EQ(store.calls(StoreOperation::List), 2U);
    store.failNth(StoreOperation::List, 2, Error { Code::Transient, "page lost", {}, {}, {} });
    EXPECT_EQ(listAll(store, {}, task).error().code, Code::Transient);
    EXPECT_EQ(store.faults(), 1U);
    EXPECT_EQ(listAll(store, {}, task)->size(), 5000U);
    store.dropTailAfter(10);
    EXPECT_EQ(listAll(store, {}, task)->size(), 10U);
}

TEST(FaultyStore, FailsOnceOrForever)
{
    MemoryStore memory;
    ASSERT_TRUE(putText(memory, "key", "text"));
    FaultyStore store(memory);
    const Error error { Code::Io, "injected", {}, {}, {} };
    store.failNth(StoreOperation::Stat, 2, error);
    EXPECT_TRUE(store.stat("key", anyTask()));
    EXPECT_EQ(store.stat("key", anyTask()).error(), error);
    EXPECT_TRUE(store.stat("key", anyTask()));
    store.failNth(StoreOperation::Any, 1, error, Repeat::Forever);
    EXPECT_FALSE(store.stat("key", anyTask()));
    EXPECT_FALSE(putText(store, "key", "x"));
    store.clearFaults();
    EXPECT_TRUE(store.stat("key", anyTask()));
    EXPECT_EQ(store.calls(StoreOperation::Stat), 5U);
    EXPECT_EQ(store.calls(StoreOperation::Any), 6U);
}

TEST(FaultyStore, FlipsABitOfReadsThatCoverIt)
{
    MemoryStore memory;
    ASSERT_TRUE(putText(memory, "key", "aaaa"));
    FaultyStore store(memory);
    store.flipBit("key", 2, 1);
    EXPECT_EQ(asText(*readWhole(store, "key", 10, anyTask())), "aaca");
    std::byte first {};
    ASSERT_TRUE(store.read("key", 0, MutableByteSpan(&first, 1), anyTask()));
    EXPECT_EQ(first, std::byte { 'a' });
}

TEST(ReadWhole, NoticesThatTheObjectChangedMeanwhile)
{
    /// Replaces the object behind the reader's back.
    class ChangingStore final : public ForwardingStore {
    public:
        using ForwardingStore::ForwardingStore;
        Result<void> read(const ObjectRef& object, std::uint64_t offset, MutableByteSpan out,
                          TaskContext& task) const override
        {
            DS_CHECK(putText(inner(), object.key, "TEXT"));
            return inner().read(object, offset, out, task);
        }
    };
    const auto memory = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*memory, "key", "text"));
    EXPECT_EQ(readWhole(ChangingStore(memory), "key", 10, anyTask()).error().code, Code::Transient);
}

TEST(ReadWhole, SaysWhatTheStoreSaidOfAnObjectThatIsStillTheSame)
{
    /// As a store does that knows from an earlier sight that the object held other bytes.
    class RefusingStore final : public ForwardingStore {
    public:
        using ForwardingStore::ForwardingStore;
        Result<void> read(const ObjectRef& object, std::uint64_t, MutableByteSpan, TaskContext&) const override
        {
            return fail(Code::Rewritten, "other bytes than at first sight", std::string(object.key));
        }
    };
    const auto memory = std::make_shared<MemoryStore>();
    ASSERT_TRUE(putText(*memory, "key", "text"));
    const Error error = readWhole(RefusingStore(memory), "key", 10, anyTask()).error();
    EXPECT_EQ(error.code, Code::Rewritten);
    EXPECT_EQ(error.text, "other bytes than at first sight");
}

} // namespace deltascope::test

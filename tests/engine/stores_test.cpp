#include "deltascope/engine/object_store.h"
#include "deltascope/engine/stores.h"
#include "support/any_task.h"
#include "support/faulty_store.h"
#include "support/forwarding_store.h"
#include "support/memory_store.h"
#include "support/temp_dir.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <memory>

// Stores are opened by addresses, and objects and listings are read as wholes from any of them.

namespace deltascope::test {

namespace {

namespace fs = std::filesystem;

} // namespace

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

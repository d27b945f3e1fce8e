#include "store/cache/disk_cache.h"

#include "store/cache/leaf_file.h"
#include "support/child_process.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <thread>

// Leaves on disk: what comes back is what was kept, or nothing.

namespace deltascope {
namespace {

namespace fs = std::filesystem;
using test::TempDir;

RawBytes bytesOf(std::uint64_t leaf, std::size_t count)
{
    RawBytes bytes(count);
    for (std::size_t i = 0; i < count; ++i)
        bytes[i] = static_cast<std::byte>((leaf + 1) * 31 + i * 7);
    return bytes;
}

std::vector<std::byte> leafFile(std::string_view object, const LeafRange& leaves, ByteSpan payload)
{
    std::vector<std::byte> file;
    const Result<void> written = writeLeafFile(object, leaves, payload, [&](ByteSpan piece) -> Result<void> {
        file.insert(file.end(), piece.begin(), piece.end());
        return {};
    });
    EXPECT_TRUE(written);
    return file;
}

class DiskCacheTest : public testing::Test {
protected:
    std::string leafPath(std::uint64_t leaf = 0) const { return root() + "/leaves-1/" + leafFilePath(Object, leaf); }
    std::string root() const { return m_folder.path("cache"); }
    std::vector<fs::path> files() const
    {
        std::vector<fs::path> found;
        for (const auto& entry : fs::recursive_directory_iterator(root() + "/leaves-1")) {
            if (entry.is_regular_file())
                found.push_back(entry.path());
        }
        return found;
    }
    std::string contentOf(const std::string& path) const
    {
        return m_folder.read(fs::relative(path, m_folder.path()).string());
    }
    void overwrite(const std::string& path, const std::string& content) const
    {
        m_folder.write(fs::relative(path, m_folder.path()).string(), content);
    }
    static void setAge(const std::string& path, std::int64_t seconds)
    {
        fs::last_write_time(path, fs::file_time_type::clock::now() - std::chrono::seconds(seconds));
    }

    static void keep(DiskCache& cache, std::uint64_t leaf, ByteSpan bytes)
    {
        keepUnsettled(cache, { leaf, 1 }, RawBytes(bytes.begin(), bytes.end()));
        settle(cache);
    }
    static void keepUnsettled(DiskCache& cache, const LeafRange& leaves, RawBytes bytes,
                              std::string_view object = Object)
    {
        cache.keep(object, leaves, std::make_shared<RawBytes>(std::move(bytes)));
        cache.finish();
    }
    static void settle(DiskCache& cache, std::string_view object = Object)
    {
        cache.settle(object);
        cache.finish();
    }

    static constexpr std::string_view Object { "store\0object\0identity", 21 };
    TempDir m_folder;
};

TEST_F(DiskCacheTest, GivesBackWhatWasKept)
{
    DiskCache cache(root());
    EXPECT_FALSE(cache.read(Object, 3, 100));
    EXPECT_FALSE(cache.mayHave(Object, 3));
    keep(cache, 3, bytesOf(3, 100));
    EXPECT_TRUE(cache.mayHave(Object, 3));
    EXPECT_EQ(cache.read(Object, 3, 100), bytesOf(3, 100));
    EXPECT_FALSE(cache.read(Object, 2, 100));
    EXPECT_FALSE(cache.read("another object", 3, 100));
    EXPECT_FALSE(cache.problem());
    DiskCache later(root());
    EXPECT_EQ(later.read(Object, 3, 100), bytesOf(3, 100));
}

class DiskCacheOfNeighbors : public DiskCacheTest {
protected:
    /// Leaves of a window with an object that ends in its last one.
    static constexpr std::uint64_t LastBytes = 1000;
    static std::uint64_t bytesOfLeaf(std::uint64_t leaf) { return leaf == 7 ? LastBytes : CacheLeafBytes; }
    static RawBytes window(std::uint64_t first, std::uint64_t count)
    {
        RawBytes bytes;
        for (std::uint64_t leaf = first; leaf < first + count; ++leaf) {
            const RawBytes one = bytesOf(leaf, bytesOfLeaf(leaf));
            bytes.insert(bytes.end(), one.begin(), one.end());
        }
        return bytes;
    }
    static void keepWindow(DiskCache& cache, std::uint64_t first, std::uint64_t count)
    {
        keepUnsettled(cache, { first, count }, window(first, count));
        settle(cache);
    }
    static bool has(DiskCache& cache, std::uint64_t leaf)
    {
        const bool mayHave = cache.mayHave(Object, leaf);
        const std::optional<RawBytes> bytes = cache.read(Object, leaf, bytesOfLeaf(leaf));
        EXPECT_EQ(mayHave, bytes.has_value()) << leaf;
        EXPECT_TRUE(!bytes || *bytes == bytesOf(leaf, bytesOfLeaf(leaf))) << leaf;
        return bytes.has_value();
    }
};

TEST_F(DiskCacheOfNeighbors, AreOneFileAndAreReadOneByOne)
{
    DiskCache cache(root());
    for (std::uint64_t first = 4; first < 8; ++first) {
        for (std::uint64_t count = 1; first + count <= 8; ++count) {
            fs::remove_all(root() + "/leaves-1");
            DiskCache fresh(root());
            keepWindow(fresh, first, count);
            EXPECT_EQ(files().size(), 1U);
            for (std::uint64_t leaf = 0; leaf < 12; ++leaf)
                EXPECT_EQ(has(fresh, leaf), leaf >= first && leaf < first + count)
                    << first << ' ' << count << ' ' << leaf;
        }
    }
}

TEST_F(DiskCacheOfNeighbors, FilesOfAWindowCompleteEachOther)
{
    DiskCache cache(root());
    keepWindow(cache, 4, 1);
    keepWindow(cache, 6, 2);
    EXPECT_TRUE(has(cache, 4) && !has(cache, 5) && has(cache, 6) && has(cache, 7));
    keepWindow(cache, 5, 1);
    EXPECT_TRUE(has(cache, 4) && has(cache, 5) && has(cache, 6) && has(cache, 7));
    EXPECT_EQ(files().size(), 3U);
}

TEST_F(DiskCacheOfNeighbors, DamageOfOneLeafLosesItsFile)
{
    DiskCache cache(root());
    keepWindow(cache, 4, 4);
    const std::string sound = contentOf(leafPath(4));
    const std::size_t head = sound.size() - 3 * CacheLeafBytes - LastBytes - 4 * sizeof(Digest128);
    const auto damage = [&](std::size_t at) {
        std::string damaged = sound;
        damaged[at] = static_cast<char>(damaged[at] ^ 1);
        overwrite(leafPath(4), damaged);
    };
    for (std::uint64_t leaf = 4; leaf < 8; ++leaf) {
        for (const std::size_t at :
             { head + (leaf - 4) * CacheLeafBytes, head + (leaf - 4) * CacheLeafBytes + bytesOfLeaf(leaf) - 1,
               sound.size() - (8 - leaf) * sizeof(Digest128) }) {
            damage(at);
            EXPECT_TRUE(cache.read(Object, leaf == 4 ? 7 : 4, bytesOfLeaf(leaf == 4 ? 7 : 4))) << leaf;
            EXPECT_FALSE(cache.read(Object, leaf, bytesOfLeaf(leaf))) << leaf << ' ' << at;
            EXPECT_FALSE(fs::exists(leafPath(4))) << leaf << ' ' << at;
        }
    }
    for (const std::size_t length :
         { sound.size() - 1, sound.size() - LastBytes, 2 * CacheLeafBytes, head, head - 1 }) {
        overwrite(leafPath(4), sound.substr(0, length));
        for (std::uint64_t leaf = 7; leaf >= 4; --leaf)
            EXPECT_FALSE(cache.read(Object, leaf, bytesOfLeaf(leaf))) << leaf << ' ' << length;
        EXPECT_FALSE(fs::exists(leafPath(4))) << length;
    }
    std::string swapped = sound; // leaves 4 and 5, and their digests
    std::swap_ranges(swapped.begin() + static_cast<std::ptrdiff_t>(head),
                     swapped.begin() + static_cast<std::ptrdiff_t>(head + CacheLeafBytes),
                     swapped.begin() + static_cast<std::ptrdiff_t>(head + CacheLeafBytes));
    const auto digests = swapped.end() - 4 * sizeof(Digest128);
    std::swap_ranges(digests, digests + sizeof(Digest128), digests + sizeof(Digest128));
    overwrite(leafPath(4), swapped);
    EXPECT_FALSE(cache.read(Object, 5, CacheLeafBytes));
}

TEST_F(DiskCacheOfNeighbors, TheFirstBytesOfALeafAreKept)
{
    DiskCache cache(root());
    keepUnsettled(cache, { 5, 2 }, window(5, 2));
    for (const LeafRange& again : { LeafRange { 4, 2 }, LeafRange { 5, 1 }, LeafRange { 6, 2 }, LeafRange { 4, 4 } })
        keepUnsettled(cache, again, RawBytes(bytesOfLeaves(again, 7 * CacheLeafBytes + LastBytes)));
    keepUnsettled(cache, { 7, 1 }, window(7, 1));
    EXPECT_EQ(files().size(), 2U);
    settle(cache);
    EXPECT_TRUE(!has(cache, 4) && has(cache, 5) && has(cache, 6) && has(cache, 7));
}

TEST_F(DiskCacheTest, WhatIsNotSettledIsNotThere)
{
    {
        DiskCache cache(root());
        keepUnsettled(cache, { 0, 1 }, bytesOf(0, 100));
        keepUnsettled(cache, { 0, 1 }, bytesOf(9, 100)); // was fetched again
        keepUnsettled(cache, { 0, 1 }, bytesOf(0, 100), "another");
        EXPECT_FALSE(cache.mayHave(Object, 0));
        EXPECT_FALSE(cache.read(Object, 0, 100));
        cache.discard("another");
        settle(cache, "another");
        EXPECT_FALSE(cache.read("another", 0, 100));
        settle(cache);
        EXPECT_EQ(cache.read(Object, 0, 100), bytesOf(0, 100));
        keepUnsettled(cache, { 1, 1 }, bytesOf(1, 100));
    }
    EXPECT_EQ(files().size(), 1U); // what waited is gone with who wrote it
}

TEST_F(DiskCacheTest, WhatIsAskedForIsDoneInItsOrder)
{
    const auto payload = [](std::uint64_t leaf) { return std::make_shared<RawBytes>(bytesOf(leaf, 100)); };
    {
        DiskCache cache(root());
        cache.keep(Object, { 0, 1 }, payload(9));
        cache.discard(Object);
        cache.keep(Object, { 0, 1 }, payload(0));
        cache.settle(Object);
        cache.keep(Object, { 1, 1 }, payload(1));
        cache.discard(Object);
        cache.settle(Object);
    } // carries it out
    DiskCache cache(root());
    EXPECT_EQ(cache.read(Object, 0, 100), bytesOf(0, 100));
    EXPECT_FALSE(cache.read(Object, 1, 100));
}

TEST_F(DiskCacheTest, WhatWaitsTakesHalfOfTheCap)
{
    constexpr std::uint64_t Cap = 1 << 20;
    DiskCache cache(root(), Cap);
    for (std::uint64_t leaf = 0; leaf < 100; ++leaf)
        keepUnsettled(cache, { leaf, 1 }, bytesOf(leaf, 30'000));
    std::uint64_t bytes = 0;
    for (const fs::path& file : files())
        bytes += fs::file_size(file);
    EXPECT_LE(bytes, Cap / 2);
    EXPECT_GT(bytes, Cap / 3);
    settle(cache);
    keepUnsettled(cache, { 100, 1 }, bytesOf(100, 30'000));
    settle(cache);
    EXPECT_TRUE(cache.read(Object, 100, 30'000));
}

/// The digests are of the xxhash package of Python.
TEST_F(DiskCacheTest, FilesAreAsTheirFormatSays)
{
    std::vector<std::byte> payload(10);
    for (std::size_t i = 0; i < payload.size(); ++i)
        payload[i] = static_cast<std::byte>(i);
    EXPECT_EQ(
        toHex(leafFile(Object, { 3, 1 }, payload)),
        "44534c454146310a150000000a000000030000000000000073746f7265006f626a656374006964656e746974790001020304050607"
        "0809086a1cb32ee1939e0fc65975da71a2b4");
    EXPECT_EQ(leafFilePath(Object, 3), "43/fda3a15c7ed69e3dd25c88cb20481b");
}

TEST_F(DiskCacheTest, NobodyElseCanReadWhatIsKept)
{
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, 100));
    for (const auto& entry : fs::recursive_directory_iterator(m_folder.path())) {
        struct stat status = {};
        ASSERT_EQ(::stat(entry.path().c_str(), &status), 0);
        EXPECT_EQ(status.st_mode & 077U, 0U) << entry.path();
    }
}

TEST_F(DiskCacheTest, DamageAnywhereIsNoLeaf)
{
    constexpr std::size_t Bytes = 100;
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, Bytes));
    const std::string sound = contentOf(leafPath());
    ASSERT_EQ(sound.size(), leafFileBytes(Object, Bytes));
    for (std::size_t at = 0; at < sound.size(); ++at) {
        for (unsigned bit = 0; bit < 8; ++bit) {
            std::string damaged = sound;
            damaged[at] = static_cast<char>(damaged[at] ^ (1U << bit));
            overwrite(leafPath(), damaged);
            ASSERT_FALSE(cache.read(Object, 0, Bytes)) << at << ' ' << bit;
            ASSERT_FALSE(fs::exists(leafPath())) << at << ' ' << bit;
        }
    }
    for (std::size_t length = 0; length < sound.size(); ++length) {
        overwrite(leafPath(), sound.substr(0, length));
        ASSERT_FALSE(cache.read(Object, 0, Bytes)) << length;
    }
    overwrite(leafPath(), sound + '\0');
    EXPECT_FALSE(cache.read(Object, 0, Bytes));
    overwrite(leafPath(), sound);
    EXPECT_EQ(cache.read(Object, 0, Bytes), bytesOf(0, Bytes));
    EXPECT_FALSE(cache.problem());
}

TEST_F(DiskCacheTest, ALeafInThePlaceOfAnotherIsNone)
{
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, 100));
    for (const auto& [name, leaf] : { std::pair(std::string(Object), 1), std::pair(std::string(Object) + "2", 0) }) {
        const auto other = leafFile(name, { static_cast<std::uint64_t>(leaf), 1 }, bytesOf(1, 100));
        overwrite(leafPath(), std::string(asText(other)));
        EXPECT_FALSE(cache.read(Object, 0, 100)) << leaf;
    }
    const auto longer = leafFile(Object, { 0, 1 }, bytesOf(0, 101));
    overwrite(leafPath(), std::string(asText(longer)));
    EXPECT_FALSE(cache.read(Object, 0, 100));
}

TEST_F(DiskCacheTest, LinksAndFoldersAreNoLeaves)
{
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, 100));
    const std::string kept = m_folder.path("elsewhere");
    fs::rename(leafPath(), kept);
    fs::create_symlink(kept, leafPath());
    EXPECT_FALSE(cache.read(Object, 0, 100));
    fs::remove(leafPath());
    fs::create_directory(leafPath());
    EXPECT_FALSE(cache.read(Object, 0, 100));
    keep(cache, 0, bytesOf(0, 100)); // cannot, and says so
    EXPECT_TRUE(cache.problem());
}

TEST_F(DiskCacheTest, AFolderThatOthersMayWriteToIsNotUsed)
{
    fs::create_directories(root());
    ASSERT_EQ(::chmod(root().c_str(), 0777), 0);
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, 100));
    EXPECT_FALSE(cache.read(Object, 0, 100));
    ASSERT_TRUE(cache.problem());
    EXPECT_EQ(cache.problem()->code, Code::Auth);
    EXPECT_TRUE(fs::is_empty(root()));
}

TEST_F(DiskCacheTest, AFileInThePlaceOfTheFolderKeepsNothing)
{
    m_folder.write("cache", "a file");
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, 100));
    EXPECT_FALSE(cache.read(Object, 0, 100));
    EXPECT_TRUE(cache.problem());
}

TEST_F(DiskCacheTest, AFolderThatGoesAwayIsNoError)
{
    DiskCache cache(root());
    keep(cache, 0, bytesOf(0, 100));
    fs::remove_all(root());
    EXPECT_FALSE(cache.read(Object, 0, 100));
    keep(cache, 0, bytesOf(0, 100));
    EXPECT_FALSE(cache.read(Object, 0, 100));
}

TEST_F(DiskCacheTest, AFullDiskKeepsNothingAndLeavesNothing)
{
    EXPECT_TRUE(test::inChild([&] {
        DiskCache cache(root());
        keep(cache, 0, bytesOf(0, 100));
        if (!test::denyCall(SYS_pwrite64, ENOSPC))
            return false;
        keep(cache, 1, bytesOf(1, 100));
        const auto problem = cache.problem();
        return !cache.read(Object, 1, 100) && cache.read(Object, 0, 100) == bytesOf(0, 100) && problem
            && problem->code == Code::NoSpace;
    }));
    EXPECT_EQ(files().size(), 1U);
}

TEST_F(DiskCacheTest, WhatWasNotUsedForTheLongestTimeGoesFirst)
{
    constexpr std::size_t Bytes = 64 << 10;
    constexpr std::uint64_t Cap = 1 << 20;
    {
        DiskCache cache(root(), Cap);
        for (std::uint64_t leaf = 0; leaf < 10; ++leaf) {
            keep(cache, leaf, bytesOf(leaf, Bytes));
            setAge(leafPath(leaf), static_cast<std::int64_t>(1000 - leaf));
        }
        EXPECT_EQ(files().size(), 10U);
        EXPECT_TRUE(cache.read(Object, 0, Bytes)); // used now
    }
    DiskCache smaller(root(), Cap / 2); // of which an eighth stays free: six leaves fit, and what they take beside
    keep(smaller, 100, bytesOf(100, Bytes));
    EXPECT_TRUE(smaller.read(Object, 0, Bytes));
    for (const std::uint64_t gone : { 1U, 2U, 3U, 4U })
        EXPECT_FALSE(smaller.read(Object, gone, Bytes)) << gone;
    for (const std::uint64_t left : { 5U, 6U, 7U, 8U, 9U, 100U })
        EXPECT_TRUE(smaller.read(Object, left, Bytes)) << left;
}

TEST_F(DiskCacheTest, StaysBelowItsCap)
{
    constexpr std::uint64_t Cap = 3 << 20;
    DiskCache cache(root(), Cap);
    DiskCache another(root(), Cap);
    std::uint64_t most = 0;
    for (std::uint64_t leaf = 0; leaf < 60; ++leaf) {
        keep(leaf % 2 == 0 ? cache : another, leaf, bytesOf(leaf, (leaf % 3 + 1) * 100'000));
        std::uint64_t bytes = 0;
        for (const fs::path& file : files())
            bytes += fs::file_size(file);
        most = std::max(most, bytes);
    }
    EXPECT_LE(most, Cap);
    EXPECT_GT(most, Cap / 2);
    EXPECT_TRUE(another.read(Object, 59, 100'000 * (59 % 3 + 1)));
    DiskCache tiny(m_folder.path("tiny"), 1000);
    keep(tiny, 0, bytesOf(0, 900));
    EXPECT_FALSE(tiny.read(Object, 0, 900));
}

TEST_F(DiskCacheTest, LeftoversOfDeadWritersGoAndForeignFilesStay)
{
    {
        DiskCache cache(root());
        keep(cache, 0, bytesOf(0, 100));
    }
    const std::string folder = fs::path(leafPath()).parent_path().string();
    const std::string old = folder + "/.abc.ds-tmp-1-0123456789abcdef";
    const std::string young = folder + "/.abd.ds-tmp-1-0123456789abcdef";
    const std::string foreign = folder + "/notes.txt";
    for (const std::string& path : { old, young, foreign })
        overwrite(path, "x");
    setAge(old, 4000);
    setAge(foreign, 400'000);
    DiskCache cache(root(), 40 << 10);
    keep(cache, 1, bytesOf(1, 100));
    EXPECT_FALSE(fs::exists(old));
    EXPECT_TRUE(fs::exists(young));
    EXPECT_TRUE(fs::exists(foreign));
}

TEST_F(DiskCacheTest, ProcessesMayShareAFolder)
{
    constexpr std::size_t Bytes = 50'000;
    constexpr std::uint64_t Cap = 1 << 20; // less than all leaves take, so that both remove what the other reads
    const auto useIt = [&](std::uint64_t step) {
        DiskCache cache(root(), Cap);
        bool isRight = true;
        std::size_t found = 0;
        for (std::uint64_t i = 0; i < 600; ++i) {
            const std::uint64_t leaf = i * step % 31;
            if (const auto bytes = cache.read(Object, leaf, Bytes)) {
                isRight = isRight && *bytes == bytesOf(leaf, Bytes);
                ++found;
            } else {
                keep(cache, leaf, bytesOf(leaf, Bytes));
            }
        }
        return isRight && found > 0;
    };
    const pid_t child = ::fork();
    if (child == 0)
        ::_exit(useIt(7) ? 0 : 1);
    EXPECT_TRUE(useIt(3));
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    for (const fs::path& file : files())
        EXPECT_FALSE(file.filename().string().starts_with('.')) << file;
}

TEST_F(DiskCacheTest, ThreadsMayShareAFolder)
{
    DiskCache cache(root(), 600'000);
    std::atomic<int> wrong = 0;
    std::vector<std::thread> threads;
    for (std::uint64_t n = 1; n <= 4; ++n) {
        threads.emplace_back([&, n] {
            for (std::uint64_t i = 0; i < 100; ++i) {
                const std::uint64_t leaf = i * n % 17;
                const auto bytes = cache.read(Object, leaf, 50'000);
                if (bytes && *bytes != bytesOf(leaf, 50'000))
                    ++wrong;
                if (!bytes)
                    keep(cache, leaf, bytesOf(leaf, 50'000));
            }
        });
    }
    for (std::thread& thread : threads)
        thread.join();
    EXPECT_EQ(wrong, 0);
}

} // namespace
} // namespace deltascope

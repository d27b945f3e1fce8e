#include "deltascope/base/address.h"
#include "deltascope/engine/stores.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <string>
#include <string_view>
#include <unistd.h>
#include <vector>

// One object of a store, moved as the program moves it: `get ADDRESS KEY` reads it whole, in batches, into memory that
// is reused; `put ADDRESS KEY FILE` puts a file. Prints the seconds that this took, without the start
// of the process.

namespace deltascope {
namespace {

/// Larger than what the cache keeps, which is measured by what uses it: the store cuts and fetches such a read itself.
constexpr std::uint64_t BatchBytes = std::uint64_t { 256 } << 20;

Result<std::uint64_t> get(ObjectStore& store, const std::string& key, TaskContext& task)
{
    DS_TRY(const ObjectInfo object, store.stat(key, task));
    std::vector<std::byte> room(std::min(BatchBytes, object.sizeBytes));
    for (std::uint64_t at = 0; at < object.sizeBytes; at += BatchBytes)
        DS_CHECK(
            store.read(object, at, MutableByteSpan(room).first(std::min(BatchBytes, object.sizeBytes - at)), task));
    return object.sizeBytes;
}

class FilePayload final : public Payload {
public:
    explicit FilePayload(const std::string& path)
        : m_file(open(path.c_str(), O_RDONLY | O_CLOEXEC))
        , m_bytes(std::filesystem::file_size(path))
    {
    }
    ~FilePayload() override { close(m_file); }
    std::uint64_t sizeBytes() const noexcept override { return m_bytes; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        const ssize_t got = pread(m_file, out.data(), out.size(), static_cast<off_t>(offset));
        return got < 0 ? Result<std::size_t>(fail(Code::Io, "the file cannot be read")) : static_cast<std::size_t>(got);
    }

private:
    int m_file;
    std::uint64_t m_bytes;
};

Result<std::uint64_t> put(ObjectStore& store, const std::string& key, const std::string& file, TaskContext& task)
{
    DS_TRY(const ObjectInfo object, store.put(key, FilePayload(file), PutMode::Replace, task));
    return object.sizeBytes;
}

int run(const std::vector<std::string>& words)
{
    if (words.size() < 3 || (words[0] != "get" && words.size() < 4)) {
        std::fputs("usage: deltascope-bench-store get ADDRESS KEY | put ADDRESS KEY FILE\n", stderr);
        return 2;
    }
    Stores stores;
    TaskContext task;
    const auto moved = [&]() -> Result<std::pair<std::uint64_t, double>> {
        DS_TRY(const std::shared_ptr<ObjectStore> store, stores.open(Address(words[1]), StoreUse { true }));
        const auto begin = std::chrono::steady_clock::now();
        DS_TRY(const std::uint64_t bytes,
               words[0] == "get" ? get(*store, words[2], task) : put(*store, words[2], words[3], task));
        return std::pair(bytes, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }();
    if (!moved) {
        std::fputs(fmt::format("{}: {}\n", word(moved.error().code), moved.error().text).c_str(), stderr);
        return 1;
    }
    std::fputs(fmt::format("{{\"bytes\": {}, \"seconds\": {}}}\n", moved->first, moved->second).c_str(), stdout);
    return 0;
}

} // namespace
} // namespace deltascope

int main(int count, char** words) { return deltascope::run(std::vector<std::string>(words + 1, words + count)); }

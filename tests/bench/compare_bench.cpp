#include "deltascope/engine/file_state.h"
#include "deltascope/engine/operations.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <memory>
#include <openssl/evp.h>
#include <random>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>
#include <xxhash.h>

// How fast `diff` compares two checkpoints that are in the page cache, against reading both with pread in blocks of 128
// KiB and xoring them: the same files, the same number of threads, alternately in one run.
//
// Then how fast a walk hashes one of them, against reading it likewise and hashing it with the libraries: the root of
// XXH3, and `digest` (both roots, XXH3 of each tensor) against XXH3 and SHA-256 of each block one after the other.
//
//   deltascope-bench-compare [FOLDER [MIB [ROUNDS]]]
//
// Writes two checkpoints of MIB (1024) into FOLDER, for each dtype, and prints a line for each dtype, density of
// changes and number of threads: median speed of both over the bytes of both files, their ratio, and the spread
// (largest over smallest) of the reading.

namespace deltascope {
namespace {

constexpr std::size_t BlockBytes = std::size_t { 128 } << 10;
constexpr std::size_t Tensors = 64;

using Clock = std::chrono::steady_clock;

double secondsOf(const auto& work)
{
    const Clock::time_point began = Clock::now();
    work();
    return std::chrono::duration<double>(Clock::now() - began).count();
}

double medianOf(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

[[noreturn]] void fail(const std::string& what)
{
    fmt::print(stderr, "{}\n", what);
    std::exit(1);
}

/// Elements whose values are those of weights: normal, small, none special.
template <class Word> std::vector<Word> weights(std::size_t count, std::mt19937_64& random)
{
    std::normal_distribution<float> normal(0, 0.02F);
    std::vector<Word> out(count);
    for (Word& element : out) {
        const float value = normal(random);
        std::uint32_t bits = 0;
        std::memcpy(&bits, &value, sizeof bits);
        element = static_cast<Word>(sizeof(Word) == 2 ? bits >> 16 : bits);
    }
    return out;
}

/// One safetensors file of equal tensors; `perMille` of the elements are a step of the last bit away from the weights.
template <class Word>
void writeCheckpoint(const std::string& path, std::size_t bytes, const std::vector<Word>& elements, int perMille)
{
    const std::size_t each = bytes / Tensors;
    std::string header = "{";
    for (std::size_t i = 0; i < Tensors; ++i)
        header += fmt::format("{}\"layers.{}.weight\":{{\"dtype\":\"{}\",\"shape\":[{}],\"data_offsets\":[{},{}]}}",
                              i == 0 ? "" : ",", i, sizeof(Word) == 2 ? "BF16" : "F32", each / sizeof(Word), i * each,
                              (i + 1) * each);
    header += '}';
    header.resize((header.size() + 7) / 8 * 8, ' ');
    std::FILE* const file = std::fopen(path.c_str(), "wb");
    if (file == nullptr)
        fail(fmt::format("{} cannot be written", path));
    const std::uint64_t length = header.size();
    bool written = std::fwrite(&length, sizeof length, 1, file) == 1
        && std::fwrite(header.data(), 1, header.size(), file) == header.size();
    std::mt19937_64 random(static_cast<std::uint64_t>(perMille));
    std::vector<Word> tensor(each / sizeof(Word));
    for (std::size_t i = 0; i < Tensors; ++i) {
        for (std::size_t at = 0; at < tensor.size(); at += elements.size())
            std::copy_n(elements.begin(), std::min(elements.size(), tensor.size() - at),
                        tensor.begin() + static_cast<std::ptrdiff_t>(at));
        if (perMille > 0) {
            std::geometric_distribution<std::size_t> gap(perMille / 1000.0);
            for (std::size_t at = gap(random); at < tensor.size(); at += 1 + gap(random))
                ++tensor[at];
        }
        written = written && std::fwrite(tensor.data(), 1, each, file) == each;
    }
    if (std::fclose(file) != 0 || !written)
        fail(fmt::format("{} cannot be written", path));
}

/// What all threads made together, once they are done.
std::uint64_t joined(std::vector<std::thread>& threads, const std::vector<std::uint64_t>& sums)
{
    for (std::thread& thread : threads)
        thread.join();
    std::uint64_t all = 0;
    for (const std::uint64_t sum : sums)
        all ^= sum;
    return all;
}

/// All that a comparison must read, and the least work on it. Each thread takes every n-th stretch.
std::uint64_t readBoth(const std::array<std::string, 2>& paths, unsigned threads)
{
    std::vector<std::uint64_t> sums(threads);
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
            const int a = open(paths[0].c_str(), O_RDONLY | O_CLOEXEC);
            const int b = open(paths[1].c_str(), O_RDONLY | O_CLOEXEC);
            std::vector<std::uint64_t> left(BlockBytes / 8);
            std::vector<std::uint64_t> right(BlockBytes / 8);
            std::array<std::uint64_t, 8> sum {};
            for (off_t at = static_cast<off_t>(thread * BlockBytes);; at += static_cast<off_t>(threads * BlockBytes)) {
                const ssize_t got = pread(a, left.data(), BlockBytes, at);
                if (got <= 0 || pread(b, right.data(), BlockBytes, at) != got)
                    break;
                for (std::size_t i = 0; i + 8 <= static_cast<std::size_t>(got) / 8; i += 8) {
                    for (std::size_t k = 0; k < 8; ++k)
                        sum[k] ^= left[i + k] ^ right[i + k];
                }
            }
            for (const std::uint64_t part : sum)
                sums[thread] ^= part;
            close(a);
            close(b);
        });
    return joined(running, sums);
}

/// The least that hashes a file: each thread takes every n-th MiB, as the leaves of a tensor are cut.
std::uint64_t readAndHash(const std::string& path, unsigned threads, TensorHashes hashes)
{
    const bool strong = hashes == TensorHashes::Xxh3AndSha256;
    constexpr std::size_t LeafBytes = std::size_t { 1 } << 20;
    std::vector<std::uint64_t> sums(threads);
    std::vector<std::thread> running;
    for (unsigned thread = 0; thread < threads; ++thread)
        running.emplace_back([&, thread] {
            const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
            std::vector<std::byte> block(BlockBytes);
            XXH3_state_t* const state = XXH3_createState();
            EVP_MD_CTX* const sha256 = EVP_MD_CTX_new();
            std::array<unsigned char, EVP_MAX_MD_SIZE> digest {};
            for (std::size_t leaf = thread;; leaf += threads) {
                XXH3_128bits_reset(state);
                if (strong)
                    EVP_DigestInit_ex(sha256, EVP_sha256(), nullptr);
                bool any = false;
                for (std::size_t at = 0; at < LeafBytes; at += BlockBytes) {
                    const ssize_t got =
                        pread(file, block.data(), BlockBytes, static_cast<off_t>(leaf * LeafBytes + at));
                    if (got <= 0)
                        break;
                    any = true;
                    XXH3_128bits_update(state, block.data(), static_cast<std::size_t>(got));
                    if (strong)
                        EVP_DigestUpdate(sha256, block.data(), static_cast<std::size_t>(got));
                }
                if (!any)
                    break;
                sums[thread] ^= XXH3_128bits_digest(state).low64;
                if (strong)
                    EVP_DigestFinal_ex(sha256, digest.data(), nullptr);
                sums[thread] ^= digest[0];
            }
            EVP_MD_CTX_free(sha256);
            XXH3_freeState(state);
            close(file);
        });
    return joined(running, sums);
}

FileState openedState(Workbench& bench, const std::string& folder, const char* name)
{
    TaskContext task;
    Result<std::shared_ptr<ObjectStore>> store = bench.stores->open(Address(folder));
    if (!store)
        fail(store.error().text);
    Result<FileState> state = FileState::open(*store, name, task);
    if (!state)
        fail(state.error().text);
    return std::move(*state);
}

/// A byte of the root.
std::uint64_t hash(Workbench& bench, const std::string& folder)
{
    TaskContext task;
    const FileState state = openedState(bench, folder, "a.safetensors");
    const Result<CheckpointRoot> root = rootOfState(bench, state, LeafHasher::Strength::Fast, task);
    if (!root)
        fail(root.error().text);
    return std::to_integer<std::uint64_t>(root->fast[0]);
}

/// A byte of what `digest` prints, or with SHA-256 of each tensor what `digest --json` does.
std::uint64_t digest(Workbench& bench, const std::string& folder, TensorHashes hashes)
{
    TaskContext task;
    const FileState state = openedState(bench, folder, "a.safetensors");
    const Result<CheckpointDigest> made = digestState(bench, state, task, hashes);
    if (!made)
        fail(made.error().text);
    return std::to_integer<std::uint64_t>(made->root.strong[0])
        ^ std::to_integer<std::uint64_t>(made->tensors[0].xxh3[0]);
}

/// Elements that differ.
std::uint64_t compare(Workbench& bench, const std::string& folder)
{
    TaskContext task;
    const FileState a = openedState(bench, folder, "a.safetensors");
    const FileState b = openedState(bench, folder, "b.safetensors");
    const Result<DiffReport> report = diffStates(bench, a, b, {}, task);
    if (!report)
        fail(report.error().text);
    return report->elementsDifferent();
}

/// Runs both by turns and prints their median speeds over `bytes`.
void against(const std::string& what, const char* least, double bytes, int rounds, const auto& ours, const auto& theirs)
{
    std::vector<double> own;
    std::vector<double> other;
    std::uint64_t sum = ours() ^ theirs();
    for (int round = 0; round < rounds; ++round) {
        own.push_back(secondsOf([&] { sum ^= ours(); }));
        other.push_back(secondsOf([&] { sum ^= theirs(); }));
    }
    const auto [fastest, slowest] = std::minmax_element(other.begin(), other.end());
    fmt::print("{} {:.2f} GB/s, {} {:.2f} GB/s, ratio {:.2f}, spread {:.2f}{}\n", what, bytes / 1e9 / medianOf(own),
               least, bytes / 1e9 / medianOf(other), medianOf(other) / medianOf(own), *slowest / *fastest,
               sum == 1 ? "." : ""); // so that reading is not optimized away
    std::fflush(stdout);
}

template <class Word> void run(const std::string& folder, std::size_t bytes, int rounds)
{
    std::mt19937_64 random(1);
    const std::vector<Word> elements = weights<Word>(std::size_t { 1 } << 20, random);
    const std::array<std::string, 2> paths = { folder + "/a.safetensors", folder + "/b.safetensors" };
    writeCheckpoint(paths[0], bytes, elements, 0);
    for (const int perMille : { 0, 10, 20, 200 }) {
        writeCheckpoint(paths[1], bytes, elements, perMille);
        for (const unsigned threads : { 1U, 2U }) {
            Workbench bench;
            bench.layouts = builtinLayouts();
            bench.threads = threads;
            against(
                fmt::format("{} {} of 1000 changed ({}), {} threads: diff", sizeof(Word) == 2 ? "BF16" : "F32",
                            perMille, compare(bench, folder), threads),
                "reading", 2 * static_cast<double>(bytes), rounds, [&] { return compare(bench, folder); },
                [&] { return readBoth(paths, threads); });
            if (perMille > 0)
                continue;
            against(
                fmt::format("{} threads: root", threads), "reading and XXH3", static_cast<double>(bytes), rounds,
                [&] { return hash(bench, folder); },
                [&] { return readAndHash(paths[0], threads, TensorHashes::Xxh3); });
            for (const TensorHashes hashes : { TensorHashes::Xxh3, TensorHashes::Xxh3AndSha256 })
                against(
                    fmt::format("{} threads: digest{}", threads, hashes == TensorHashes::Xxh3 ? "" : " --json"),
                    "reading, XXH3 and SHA-256", static_cast<double>(bytes), rounds,
                    [&] { return digest(bench, folder, hashes); },
                    [&] { return readAndHash(paths[0], threads, TensorHashes::Xxh3AndSha256); });
        }
    }
    std::filesystem::remove(paths[0]);
    std::filesystem::remove(paths[1]);
}

} // namespace
} // namespace deltascope

int main(int count, char** words)
{
    const std::string folder = count > 1 ? words[1] : "/tmp/deltascope-bench-compare";
    const auto bytes = (count > 2 ? std::stoul(words[2]) : 1024) << 20;
    const int rounds = count > 3 ? std::stoi(words[3]) : 7;
    std::filesystem::create_directories(folder);
    deltascope::run<std::uint16_t>(folder, bytes, rounds);
    deltascope::run<std::uint32_t>(folder, bytes, rounds);
    return 0;
}

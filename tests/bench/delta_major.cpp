// deltascope-bench-replay: the plain way, as the peer of the engine in benchmarks. Nothing of the engine is in it.
//
//   deltascope-bench-replay --source DIR --step N --out FILE [--threads T]
//       Reads the nearest TRL anchor into memory, applies each gap_delta file behind it to the whole model, one after
//       another, and writes the result with fsync: what TRL's receiver does, without its Python.
//   deltascope-bench-replay --scan DIR
//       Lists a run and parses the header of every object: opening a run without a catalog. Prints how many there are.

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <filesystem>
#include <fmt/format.h>
#include <functional>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <sys/stat.h>
#include <system_error>
#include <thread>
#include <unistd.h>
#include <vector>

namespace {

namespace fs = std::filesystem;

struct Tensor {
    std::string dtype;
    std::uint64_t begin = 0, end = 0; ///< bytes of the file
};

struct Buffer {
    std::unique_ptr<char[]> bytes;
    std::uint64_t size = 0;
};

[[noreturn]] void failed(const std::string& what) { throw std::system_error(errno, std::generic_category(), what); }

class File {
public:
    File(const std::string& path, int flags)
        : m_path(path)
        , m_file(::open(path.c_str(), flags | O_CLOEXEC, 0644))
    {
        if (m_file < 0)
            failed(path);
    }
    ~File() { ::close(m_file); }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    std::uint64_t size() const
    {
        struct stat st { };
        if (::fstat(m_file, &st) != 0)
            failed(m_path);
        return static_cast<std::uint64_t>(st.st_size);
    }
    void read(char* out, std::uint64_t bytes)
    {
        for (std::uint64_t done = 0; done < bytes;) {
            const ssize_t n = ::read(m_file, out + done, bytes - done);
            if (n <= 0)
                failed(m_path);
            done += static_cast<std::uint64_t>(n);
        }
    }
    void write(const char* bytes, std::uint64_t size)
    {
        for (std::uint64_t done = 0; done < size;) {
            const ssize_t n = ::write(m_file, bytes + done, size - done);
            if (n < 0)
                failed(m_path);
            done += static_cast<std::uint64_t>(n);
        }
    }
    void sync()
    {
        if (::fsync(m_file) != 0)
            failed(m_path);
    }

private:
    std::string m_path;
    int m_file;
};

Buffer readFile(const std::string& path)
{
    File file(path, O_RDONLY);
    Buffer out;
    out.size = file.size();
    out.bytes.reset(new char[out.size]);
    file.read(out.bytes.get(), out.size);
    return out;
}

std::map<std::string, Tensor> parseHeader(const char* json, std::uint64_t length)
{
    std::map<std::string, Tensor> out;
    const auto header = nlohmann::json::parse(json, json + length);
    for (const auto& [name, info] : header.items()) {
        if (name == "__metadata__")
            continue;
        const auto& offsets = info.at("data_offsets");
        out[name] = { info.at("dtype"), 8 + length + offsets.at(0).get<std::uint64_t>(),
                      8 + length + offsets.at(1).get<std::uint64_t>() };
    }
    return out;
}

std::map<std::string, Tensor> headerOf(const Buffer& file)
{
    std::uint64_t length = 0;
    std::memcpy(&length, file.bytes.get(), 8);
    return parseHeader(file.bytes.get() + 8, length);
}

template <class Gap> void scatter(std::uint16_t* target, const char* gaps, const char* values, std::uint64_t count)
{
    const auto* gap = reinterpret_cast<const Gap*>(gaps);
    const auto* value = reinterpret_cast<const std::uint16_t*>(values);
    std::uint64_t at = 0;
    for (std::uint64_t i = 0; i < count; ++i) {
        at += gap[i];
        target[at++] = value[i];
    }
}

void inParallel(unsigned threads, std::size_t count, const std::function<void(std::size_t)>& work)
{
    std::atomic<std::size_t> next = 0;
    const auto loop = [&] {
        for (std::size_t i = next++; i < count; i = next++)
            work(i);
    };
    std::vector<std::thread> pool;
    for (unsigned i = 1; i < threads; ++i)
        pool.emplace_back(loop);
    loop();
    for (std::thread& thread : pool)
        thread.join();
}

void applyDelta(Buffer& state, const std::map<std::string, Tensor>& layout, const std::string& path, unsigned threads)
{
    const Buffer delta = readFile(path);
    const auto stored = headerOf(delta);
    std::vector<std::pair<std::string, Tensor>> values;
    for (const auto& [name, tensor] : stored)
        if (name.ends_with(".val"))
            values.emplace_back(name.substr(0, name.size() - 4), tensor);
    inParallel(threads, values.size(), [&](std::size_t i) {
        const auto& [name, value] = values[i];
        const Tensor& index = stored.at(name + ".idx");
        auto* target = reinterpret_cast<std::uint16_t*>(state.bytes.get() + layout.at(name).begin);
        const auto apply = index.dtype == "U16" ? scatter<std::uint16_t> : scatter<std::uint32_t>;
        apply(target, delta.bytes.get() + index.begin, delta.bytes.get() + value.begin, (value.end - value.begin) / 2);
    });
}

void replay(const std::string& source, std::uint64_t step, const std::string& out, unsigned threads)
{
    const auto path = [&](const char* folder, std::uint64_t n) {
        return fmt::format("{}/{}/step_{:06}.safetensors", source, folder, n);
    };
    std::uint64_t anchor = step;
    while (anchor > 0 && !fs::exists(path("anchors", anchor)))
        --anchor;
    Buffer state = readFile(path("anchors", anchor));
    const auto layout = headerOf(state);
    for (std::uint64_t n = anchor + 1; n <= step; ++n)
        applyDelta(state, layout, path("deltas", n), threads);
    File file(out, O_WRONLY | O_CREAT | O_TRUNC);
    file.write(state.bytes.get(), state.size);
    file.sync();
}

std::size_t scan(const std::string& source)
{
    std::size_t tensors = 0, objects = 0;
    std::vector<char> json;
    for (const auto& entry : fs::recursive_directory_iterator(source)) {
        if (!entry.is_regular_file() || entry.path().extension() != ".safetensors")
            continue;
        File file(entry.path().string(), O_RDONLY);
        std::uint64_t length = 0;
        file.read(reinterpret_cast<char*>(&length), 8);
        if (8 + length > file.size())
            throw std::runtime_error(entry.path().string() + ": the header is longer than the file");
        json.resize(length);
        file.read(json.data(), length);
        tensors += parseHeader(json.data(), length).size();
        ++objects;
    }
    fmt::print("{} objects, {} entries\n", objects, tensors);
    return objects;
}

} // namespace

int main(int argc, char** argv)
{
    std::map<std::string, std::string> options { { "--threads", "1" } };
    for (int i = 1; i + 1 < argc; i += 2)
        options[argv[i]] = argv[i + 1];
    try {
        if (options.count("--scan") != 0)
            return scan(options["--scan"]) > 0 ? 0 : 1;
        replay(options.at("--source"), std::stoull(options.at("--step")), options.at("--out"),
               static_cast<unsigned>(std::stoul(options["--threads"])));
        return 0;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "deltascope-bench-replay: %s\n", error.what());
        return 1;
    }
}

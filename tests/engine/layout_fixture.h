#pragma once

#include "deltascope/engine/hash_tree.h"
#include "deltascope/engine/layout.h"
#include "deltascope/engine/safetensors.h"

#include "support/any_task.h"
#include "support/backends.h"
#include "support/golden.h"
#include "support/memory_store.h"

#include <algorithm>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace deltascope::layout_test {

using test::expectedOf;
using test::goldenPath;
using test::MemoryStore;
using test::putText;

using Json = nlohmann::json;
using Metadata = std::map<std::string, std::string, std::less<>>;

/// "80 3f 0040" as bytes.
inline std::string fromHex(std::string_view text)
{
    std::string digits;
    std::copy_if(text.begin(), text.end(), std::back_inserter(digits), [](char c) { return c != ' '; });
    std::string bytes;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2)
        bytes += static_cast<char>(std::stoi(digits.substr(i, 2), nullptr, 16));
    return bytes;
}

inline std::string hexOf(std::string_view bytes) { return toHex(asBytes(bytes)); }

inline MutableByteSpan writable(std::string& bytes)
{
    return std::as_writable_bytes(std::span(bytes.data(), bytes.size()));
}

/// The tensor of the worked examples in docs/formats.
inline TensorInfo tensor(std::string name, std::vector<std::uint64_t> shape = { 2, 4 }, Dtype dtype = Dtype::BF16)
{
    return TensorInfo { std::move(name), dtype, std::move(shape) };
}

using Bits = std::vector<std::uint16_t>; ///< of BF16 values

inline constexpr std::uint16_t Nan = 0x7fc0; ///< of BF16

struct FileTensor {
    TensorInfo info;
    std::string data;
};

inline std::string safetensorsFile(const std::vector<FileTensor>& tensors, const Metadata& metadata = {})
{
    std::vector<TensorInfo> infos;
    for (const FileTensor& tensor : tensors)
        infos.push_back(tensor.info);
    std::string file = writeSafetensorsHeader(infos, metadata);
    for (const FileTensor& tensor : tensors)
        file += tensor.data;
    return file;
}

/// A file whose header is given as text.
inline std::string rawFile(std::string_view header, std::size_t spaces, std::string_view data)
{
    std::string file(8, '\0');
    storeLe<std::uint64_t>(writable(file), 0, header.size() + spaces);
    return file.append(header).append(spaces, ' ').append(data);
}

/// A source in memory.
class Source {
public:
    Source& put(std::string_view key, std::string_view text)
    {
        EXPECT_TRUE(putText(m_store, key, text)) << key;
        return *this;
    }
    MemoryStore& store() { return m_store; }
    std::vector<ObjectInfo> listing()
    {
        auto objects = listAll(m_store, "", task);
        EXPECT_TRUE(objects);
        return objects ? *objects : std::vector<ObjectInfo>();
    }

    TaskContext task;

private:
    MemoryStore m_store;
};

inline std::vector<std::int64_t> stepsOf(const std::vector<VersionObjects>& versions)
{
    std::vector<std::int64_t> steps;
    for (const VersionObjects& version : versions)
        steps.push_back(version.step);
    return steps;
}

inline std::vector<std::string> keysOf(const VersionObjects& version)
{
    std::vector<std::string> keys;
    for (const ObjectInfo& object : version.objects)
        keys.push_back(object.key);
    return keys;
}

inline std::size_t countNotes(const std::vector<Error>& notes, Code code)
{
    return static_cast<std::size_t>(
        std::count_if(notes.begin(), notes.end(), [&](const Error& note) { return note.code == code; }));
}

/// The only version of a source.
inline VersionObjects onlyVersion(const Layout& layout, Source& source)
{
    std::vector<VersionObjects> versions = layout.group(source.listing());
    EXPECT_EQ(versions.size(), 1U);
    return versions.empty() ? VersionObjects() : versions.front();
}

inline Result<VersionIndex> indexOnly(const Layout& layout, Source& source)
{
    return layout.index(source.store(), onlyVersion(layout, source), source.task);
}

/// Reads the stream of an entry block by block and applies it to `state`.
inline Result<PatchCounts> applyEntry(const Layout& layout, const ObjectStore& store, const VersionObjects& version,
                                      const VersionIndex& index, const TensorEntry& entry, const TensorInfo& target,
                                      MutableByteSpan state, std::uint64_t blockBytes = 0, StreamOptions options = {})
{
    options.task = &test::anyTask();
    DS_TRY(const std::unique_ptr<PatchStream> stream, layout.open(store, version, index, entry, target, options));
    PatchCounts counts;
    const std::uint64_t step = blockBytes != 0 ? blockBytes : blockBytesOf(target.dtype);
    for (std::uint64_t begin = 0; begin < state.size(); begin += step) {
        const std::uint64_t end = std::min<std::uint64_t>(state.size(), begin + step);
        DS_TRY(const PatchPiece piece, stream->next(begin, end));
        counts += test::applyPiece(piece, state.subspan(begin, end - begin), target.dtype);
    }
    DS_CHECK(stream->finish());
    return counts;
}

/// The same for the one tensor of the one version of a source.
inline Result<PatchCounts> applyOnly(const Layout& layout, Source& source, const TensorInfo& target, std::string& state,
                                     std::uint64_t blockBytes = 0, StreamOptions options = {})
{
    const VersionObjects version = onlyVersion(layout, source);
    DS_TRY(const VersionIndex index, layout.index(source.store(), version, source.task));
    EXPECT_EQ(index.tensors.size(), 1U);
    return applyEntry(layout, source.store(), version, index, index.tensors.front(), target, writable(state),
                      blockBytes, options);
}

inline PatchCounts countsOf(std::uint64_t assigned, std::uint64_t noops, std::uint64_t changed)
{
    PatchCounts counts;
    counts.assigned = assigned;
    counts.noops = noops;
    counts.changed = changed;
    return counts;
}

/// The error of a Result that has to be one.
template <class T> Error errorOf(const Result<T>& result)
{
    if (result) {
        ADD_FAILURE() << "no error";
        return {};
    }
    EXPECT_FALSE(result.error().text.empty());
    return result.error();
}

inline bool mentions(const Error& error, std::string_view text) { return error.text.find(text) != std::string::npos; }

inline bool recognized(const Layout& layout, Source& source)
{
    const auto answer = layout.recognizes(source.store(), source.listing(), source.task);
    EXPECT_TRUE(answer);
    return answer && *answer;
}

inline std::shared_ptr<ObjectStore> localStore(const std::string& folder)
{
    auto store = openLocalStore(folder);
    EXPECT_TRUE(store) << folder;
    return std::move(*store);
}

/// A case of tests/golden: its bucket and the truth about it.
struct Golden {
    explicit Golden(const std::string& name)
        : folder(goldenPath(name))
        , store(localStore(folder + "/bucket"))
        , expected(expectedOf(name))
    {
        auto objects = listAll(*store, "", task);
        EXPECT_TRUE(objects);
        listing = std::move(*objects);
    }

    const Json* step(std::int64_t number) const
    {
        for (const Json& step : expected["steps"]) {
            if (step["step"] == number)
                return &step;
        }
        return nullptr;
    }

    std::string folder;
    std::shared_ptr<ObjectStore> store;
    Json expected;
    std::vector<ObjectInfo> listing;
    TaskContext task;
};

/// All tensors of a model, rebuilt the slow way: whole tensors, one version after another.
class ModelState {
public:
    Result<void> apply(const Layout& layout, const ObjectStore& store, const VersionObjects& version,
                       const VersionIndex& index, PatchCounts& counts, std::uint64_t blockBytes = 0)
    {
        for (const TensorEntry& entry : index.tensors) {
            if (entry.info() && m_tensors.find(entry.name()) == m_tensors.end())
                m_tensors[entry.name()] = { *entry.info(), std::string(entry.info()->bytes(), '\0') };
            const auto found = m_tensors.find(entry.name());
            if (found == m_tensors.end())
                return fail(Code::BaseMismatch, "no such tensor", entry.name());
            DS_TRY(const PatchCounts changed,
                   applyEntry(layout, store, version, index, entry, found->second.info, writable(found->second.data),
                              blockBytes, { &test::anyTask(), 256, {} }));
            counts += changed;
            if (!entry.digest.empty()) {
                const std::unique_ptr<StreamingDigest> digest = makeDigest(index.digests);
                digest->update(asBytes(found->second.data));
                if (digest->hex() != entry.digest.view())
                    failedDigests.push_back(entry.name());
            }
        }
        return {};
    }

    void expectEqual(const Json& tensors, const std::string& where) const
    {
        ASSERT_EQ(tensors.size(), m_tensors.size()) << where;
        for (const auto& [name, tensor] : m_tensors) {
            ASSERT_TRUE(tensors.contains(name)) << where << ' ' << name;
            EXPECT_EQ(tensors[name]["xxh3_128"], toHex(xxh3(asBytes(tensor.data)))) << where << ' ' << name;
            EXPECT_EQ(tensors[name]["dtype"], word(tensor.info.dtype));
        }
    }

    std::vector<std::string> failedDigests;

private:
    std::map<std::string, FileTensor> m_tensors;
};

} // namespace deltascope::layout_test

#pragma once

#include "deltascope/engine/version_writer.h"

#include "layout_fixture.h"
#include "support/any_task.h"
#include "support/backends.h"

#include <map>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <vector>

namespace deltascope::layout_test {

/// A whole model in memory, by name.
using Model = std::map<std::string, FileTensor>;

inline void addTensor(Model& model, TensorInfo info, std::string data)
{
    ASSERT_EQ(info.bytes(), data.size()) << info.name;
    std::string name = info.name;
    model[name] = { std::move(info), std::move(data) };
}

/// One tensor of the worked examples, which has another name in each of them.
inline Model modelOf(const std::string& name, std::string data)
{
    return { { name, { tensor(name), std::move(data) } } };
}

/// Words at some positions of a tensor are changed.
inline Model changedAt(Model model, const std::string& name, const std::vector<std::size_t>& elements)
{
    for (const std::size_t element : elements)
        model[name].data[element * 2] ^= '\x5a';
    return model;
}

inline std::size_t unitOf(const TensorInfo& tensor)
{
    return bitsOf(tensor.dtype) % 8 == 0 ? bitsOf(tensor.dtype) / 8 : 1;
}

/// What changed in one block, the slow way.
struct BlockDiff {
    BlockDiff(std::string_view before, std::string_view after, std::size_t unit)
    {
        for (std::size_t i = 0; i < after.size() / unit; ++i) {
            if (before.substr(i * unit, unit) == after.substr(i * unit, unit))
                continue;
            positions.push_back(static_cast<std::uint32_t>(i));
            values.append(after.substr(i * unit, unit));
        }
    }
    std::vector<std::uint32_t> positions;
    std::string values;
};

/// Gives one tensor to a writer in blocks of `blockBytes` (a multiple of the element size).
inline Result<void> writeTensor(VersionWriter& writer, const FileTensor& before, const FileTensor& after,
                                std::size_t blockBytes)
{
    TaskContext task;
    const std::size_t unit = unitOf(after.info);
    DS_TRY(const std::unique_ptr<TensorWriter> tensor, writer.begin(after.info));
    for (std::size_t begin = 0; begin < after.data.size(); begin += blockBytes) {
        const std::string_view old = std::string_view(before.data).substr(begin, blockBytes);
        const std::string_view now = std::string_view(after.data).substr(begin, blockBytes);
        const BlockDiff diff(old, now, unit);
        DS_CHECK(tensor->add({ asBytes(old), asBytes(now), { begin / unit, diff.positions, asBytes(diff.values) } }));
    }
    return tensor->end(task);
}

/// A delta holds the change of a tensor once, also where two writers of it are open at the same time.
inline void expectOneChangePerTensor(VersionWriter& writer)
{
    const std::string before = fromHex("803f 803f"), after = fromHex("803f 813f");
    const std::vector<std::uint32_t> positions { 1 };
    const TensorBlock changed { asBytes(before), asBytes(after), { 0, positions, asBytes(after).subspan(2) } };
    TaskContext task;
    const TensorInfo w = tensor("w", { 2 });
    const auto first = writer.begin(w), second = writer.begin(w);
    for (const auto* out : { &first, &second }) {
        ASSERT_TRUE(*out);
        ASSERT_TRUE((**out)->add(changed));
    }
    EXPECT_TRUE((*first)->end(task));
    const Error twice = errorOf((*second)->end(task));
    EXPECT_EQ(twice.code, Code::Usage);
    EXPECT_NE(twice.text.find("\"w\" occurs twice"), std::string::npos) << twice.text;
    EXPECT_EQ(errorOf(writer.begin(w)).code, Code::Usage);
}

inline Result<void> writeModel(VersionWriter& writer, const Model& before, const Model& after,
                               std::size_t blockBytes = 192)
{
    for (const auto& [name, tensor] : after)
        DS_CHECK(writeTensor(writer, before.at(name), tensor, blockBytes));
    return {};
}

/// The same with one thread per tensor.
inline void writeModelInParallel(VersionWriter& writer, const Model& before, const Model& after, std::size_t blockBytes)
{
    std::vector<std::thread> threads;
    for (const auto& [name, tensor] : after) {
        threads.emplace_back([&writer, &before = before.at(name), &after = tensor, blockBytes] {
            EXPECT_TRUE(writeTensor(writer, before, after, blockBytes));
        });
    }
    for (std::thread& thread : threads)
        thread.join();
}

/// Applies one version to a model. Full tensors that it does not hold yet are added.
inline Result<PatchCounts> applyVersion(const Layout& layout, const ObjectStore& store, const VersionObjects& version,
                                        Model& model)
{
    TaskContext task;
    DS_TRY(const VersionIndex index, layout.index(store, version, task));
    PatchCounts counts;
    for (const TensorEntry& entry : index.tensors) {
        if (entry.info() && model.find(entry.name()) == model.end())
            model[entry.name()] = { *entry.info(), std::string(entry.info()->bytes(), '\0') };
        const auto found = model.find(entry.name());
        if (found == model.end())
            return fail(Code::BaseMismatch, "no such tensor", entry.name());
        DS_TRY(const PatchCounts one,
               applyEntry(layout, store, version, index, entry, found->second.info, writable(found->second.data), 0,
                          { &test::anyTask(), 256, {} }));
        counts += one;
        if (entry.digest.empty())
            continue;
        const std::unique_ptr<StreamingDigest> digest = makeDigest(index.digests);
        digest->update(asBytes(found->second.data));
        if (digest->hex() != entry.digest.view())
            return fail(Code::Digest, "another digest", entry.name());
    }
    return counts;
}

/// The one version of a source is applied to `before` and must give `after`, without a note.
inline PatchCounts expectVersion(const Layout& layout, Source& source, Model before, const Model& after)
{
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(source.store(), version, source.task);
    EXPECT_TRUE(index) << index.error().text;
    if (index) {
        EXPECT_TRUE(index->notes.empty()) << index->notes.front().text;
    }
    const auto counts = applyVersion(layout, source.store(), version, before);
    EXPECT_TRUE(counts) << counts.error().text;
    EXPECT_EQ(before.size(), after.size());
    for (const auto& [name, tensor] : after) {
        EXPECT_EQ(before[name].info, tensor.info);
        EXPECT_TRUE(before[name].data == tensor.data) << name;
    }
    return counts ? *counts : PatchCounts();
}

inline std::uint64_t countChanged(const Model& before, const Model& after)
{
    std::uint64_t changed = 0;
    for (const auto& [name, tensor] : after)
        changed += countDifferent(*test::fastestBackend(), asBytes(before.at(name).data), asBytes(tensor.data),
                                  tensor.info.dtype);
    return changed;
}

inline std::string readObject(const ObjectStore& store, const std::string& key)
{
    const auto bytes = readWhole(store, key, 1U << 30, test::anyTask());
    EXPECT_TRUE(bytes) << key;
    return bytes ? std::string(asText(*bytes)) : std::string();
}

/// A tensor's bytes in a safetensors object.
inline std::string tensorBytes(const ObjectStore& store, const SafetensorsHeader& header, const std::string& key,
                               const std::string& name)
{
    const StoredTensor* stored = header.find(name);
    EXPECT_NE(stored, nullptr) << name;
    if (!stored)
        return {};
    std::string bytes(stored->bytes, '\0');
    EXPECT_TRUE(store.read(key, stored->begin, writable(bytes), test::anyTask()));
    return bytes;
}

inline SafetensorsHeader headerOf(const ObjectStore& store, const std::string& key)
{
    const auto object = store.stat(key, test::anyTask());
    EXPECT_TRUE(object) << key;
    auto header = object ? SafetensorsHeader::read(store, *object, test::anyTask())
                         : Result<SafetensorsHeader>(SafetensorsHeader());
    EXPECT_TRUE(header) << key;
    return header ? *header : SafetensorsHeader();
}

/// Bytes that look like nothing, the same each time. As BF16 or F32 they are finite.
inline std::string noise(std::size_t bytes, std::uint64_t seed)
{
    constexpr std::uint64_t NotAllOnes = 0xBF; // of the exponent, whose upper bits are in every second byte
    std::string out(bytes, '\0');
    for (std::size_t i = 0; i < bytes; ++i) {
        seed = seed * 6364136223846793005U + 1442695040888963407U;
        out[i] = static_cast<char>((seed >> 56) & (i % 2 == 1 ? NotAllOnes : 0xFF));
    }
    return out;
}

/// A step of a model that has everything that every layout carries.
struct ModelStep {
    ModelStep()
    {
        const std::string odd = "\u03bb.gr\u00f6\u00dfe\U0001f600.\"q\\/";
        addTensor(before, tensor("empty", { 0, 4 }), "");
        addTensor(before, tensor("fp32", { 3 }, Dtype::F32), noise(12, 1));
        addTensor(before, tensor("nan_and_zero", { 4 }), fromHex("c07f 0000 0080 803f"));
        addTensor(before, tensor("scalar", {}), fromHex("803f"));
        addTensor(before, tensor("unchanged", { 300 }), noise(600, 2));
        addTensor(before, tensor("wholly", { 50, 7 }), noise(700, 3));
        addTensor(before, tensor(odd, { 131'075 }), std::string(262'150, '\x11'));
        after = changedAt(before, odd, { 0, 65'536, 65'537, 131'074 });
        after["nan_and_zero"].data = fromHex("c17f 0080 0000 803f");
        for (char& c : after["wholly"].data)
            c ^= '\x81';
    }
    Model before;
    Model after;
};

/// Zero bytes that take no memory, for spans that nobody reads.
class HugeSpan {
public:
    explicit HugeSpan(std::uint64_t bytes)
        : m_start(::mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0))
        , m_size(bytes)
    {
    }
    ~HugeSpan()
    {
        if (exists())
            ::munmap(m_start, m_size);
    }
    HugeSpan(const HugeSpan&) = delete;
    HugeSpan& operator=(const HugeSpan&) = delete;
    bool exists() const noexcept { return m_start != MAP_FAILED; }
    ByteSpan bytes() const noexcept { return { static_cast<const std::byte*>(m_start), m_size }; }

private:
    void* m_start;
    std::uint64_t m_size;
};

} // namespace deltascope::layout_test

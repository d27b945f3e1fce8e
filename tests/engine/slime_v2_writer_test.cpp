#include "format/slime_v2/slime_v2_writer.h"

#include "format/slime_v2/slime_v2_layout.h"
#include "support/temp_dir.h"
#include "version_writer_fixture.h"
#include "worked_examples.h"

#include <algorithm>
#include <set>
#include <zstd.h>

namespace deltascope {
namespace {

using namespace layout_test;

const Model ModelBefore = modelOf("model.w", SlimeBefore);
const Model ModelAfter = modelOf("model.w", SlimeAfter);
const std::string DataKey = "weight_v000001/model-00000-of-00001.safetensors";
const std::string IndexKey = "weight_v000001/model.safetensors.index.json";
constexpr SlimeV2Encoding Encodings[] = { SlimeV2Encoding::Xor, SlimeV2Encoding::Overwrite };
constexpr DigestAlgorithm Checksums[] = { DigestAlgorithm::Xxh3_128, DigestAlgorithm::Blake3,
                                          DigestAlgorithm::Adler32 };

SlimeV2WriterOptions optionsOf(SlimeV2Encoding encoding = SlimeV2Encoding::Xor,
                               DigestAlgorithm checksum = DigestAlgorithm::Xxh3_128, std::int64_t version = 1)
{
    SlimeV2WriterOptions options;
    options.version = version;
    options.baseVersion = version - 1;
    options.encoding = encoding;
    options.checksum = checksum;
    return options;
}

Result<std::vector<ObjectInfo>> publish(Source& source, const Model& before, const Model& after,
                                        SlimeV2WriterOptions options, std::size_t blockBytes = 192)
{
    DS_TRY(const std::unique_ptr<VersionWriter> writer, makeSlimeV2DeltaWriter(std::move(options)));
    DS_CHECK(writeModel(*writer, before, after, blockBytes));
    return writer->finish(source.store(), source.task);
}

/// Everything that the layout carries.
struct SlimeStep : ModelStep {
    SlimeStep()
    {
        addTensor(before, tensor("f4", { 6 }, Dtype::F4), "abc");
        addTensor(after, tensor("f4", { 6 }, Dtype::F4), "abd");
        addTensor(before, tensor("i64", { 50 }, Dtype::I64), noise(400, 8));
        after["i64"] = before["i64"];
        after["i64"].data[399] ^= '\x01';
        after["fp32"].data[5] ^= '\x01';
    }
};

/// Decompressed payloads and digests of one version, over all of its files.
struct Payloads {
    std::map<std::string, std::string> bytes;
    std::map<std::string, std::string> digests;
    std::set<std::string> descriptors; ///< first byte behind the magic number of each frame
};

Payloads payloadsOf(const ObjectStore& store, const VersionObjects& version)
{
    Payloads out;
    for (const ObjectInfo& object : version.objects) {
        if (!object.key.ends_with(".safetensors"))
            continue;
        const SafetensorsHeader header = headerOf(store, object.key);
        for (const StoredTensor& stored : header.tensors()) {
            const std::string& name = stored.info.name;
            const std::string frame = tensorBytes(store, header, object.key, name);
            const auto size = ZSTD_getFrameContentSize(frame.data(), frame.size());
            EXPECT_NE(size, ZSTD_CONTENTSIZE_UNKNOWN) << name;
            EXPECT_NE(size, ZSTD_CONTENTSIZE_ERROR) << name;
            EXPECT_EQ(ZSTD_findFrameCompressedSize(frame.data(), frame.size()), frame.size()) << name;
            std::string payload(size, '\0');
            EXPECT_EQ(ZSTD_decompress(payload.data(), payload.size(), frame.data(), frame.size()), size);
            out.descriptors.insert(hexOf(frame.substr(4, 1)));
            out.bytes[name] = std::move(payload);
            out.digests[name] = header.meta(name);
        }
    }
    return out;
}

TEST(SlimeV2Writer, WritesTheXorExampleOfTheFormatPage)
{
    Source source;
    const auto objects = publish(source, ModelBefore, ModelAfter, optionsOf(), 4);
    ASSERT_TRUE(objects) << objects.error().text;
    ASSERT_EQ(objects->size(), 2U);
    EXPECT_EQ((*objects)[0].key, DataKey);
    EXPECT_EQ((*objects)[1].key, IndexKey);
    EXPECT_EQ(readObject(source.store(), DataKey),
              rawFile(R"({"__metadata__":{"model.w":"6d901f9af17229db9d11d7952aaacce0"},)"
                      R"("model.w":{"dtype":"U8","shape":[25],"data_offsets":[0,25]}})",
                      5, SlimeFrame));
    EXPECT_EQ(
        readObject(source.store(), IndexKey),
        R"({"metadata": {"version": "000001", "base_version": "000000", "delta_encoding": "xor", "compression_format": "zstd", "checksum_format": "xxh3-128"}, "weight_map": {"model.w": "model-00000-of-00001.safetensors"}})");
}

TEST(SlimeV2Writer, WritesTheOverwriteExampleOfTheFormatPage)
{
    const std::map<DigestAlgorithm, std::string> digests {
        { DigestAlgorithm::Xxh3_128, SlimeDigest },
        { DigestAlgorithm::Blake3, "f4944bba0089e086daedf16c96d53018a573b99774a33da7f478508b1525c73b" },
        { DigestAlgorithm::Adler32, "2d140583" },
    };
    for (const auto& [checksum, digest] : digests) {
        Source source;
        ASSERT_TRUE(publish(source, ModelBefore, ModelAfter, optionsOf(SlimeV2Encoding::Overwrite, checksum), 6));
        const SafetensorsHeader header = headerOf(source.store(), DataKey);
        EXPECT_EQ(header.metadata(), (Metadata { { "model.w", digest } }));
        EXPECT_EQ(hexOf(tensorBytes(source.store(), header, DataKey, "model.w")),
                  "28b52ffd200e71000002000000020000000c00000001e1");
    }
}

TEST(SlimeV2Writer, WhatItWritesIsReadBack)
{
    const SlimeStep states;
    for (const SlimeV2Encoding encoding : Encodings) {
        for (const DigestAlgorithm checksum : Checksums) {
            for (const std::size_t blockBytes : { 8U, 24'000U, 1'000'000U }) {
                Source source;
                const auto objects =
                    publish(source, states.before, states.after, optionsOf(encoding, checksum), blockBytes);
                ASSERT_TRUE(objects) << objects.error().text;
                const PatchCounts counts = expectVersion(SlimeV2Layout(), source, states.before, states.after);
                EXPECT_EQ(counts.noops, 0U);
                const Payloads payloads = payloadsOf(source.store(), onlyVersion(SlimeV2Layout(), source));
                EXPECT_EQ(payloads.bytes.size(), 6U);
                for (const std::string& descriptor : payloads.descriptors)
                    EXPECT_EQ(std::stoi(descriptor, nullptr, 16) & 0x2F,
                              0x20); // one segment, no checksum, no dictionary
            }
        }
    }
}

TEST(SlimeV2Writer, ManyChangesGoThroughTheSpoolFile)
{
    const test::TempDir folder;
    Model before;
    addTensor(before, tensor("a", { 900'000 }), noise(1'800'000, 4));
    addTensor(before, tensor("b", { 900'000 }), noise(1'800'000, 5));
    addTensor(before, tensor("late", { 900'000 }), noise(1'800'000, 6));
    Model after = before;
    const std::string other = noise(1'800'000, 7);
    for (std::size_t i = 0; i < 1'800'000; ++i)
        after["a"].data[i] ^= static_cast<char>(other[i] | 1);
    for (std::size_t i = 0; i < 1'800'000; i += 3)
        after["b"].data[i] ^= '\x40';
    after["late"].data[1'799'999] ^= '\x01';
    for (const SlimeV2Encoding encoding : Encodings) {
        SlimeV2WriterOptions options = optionsOf(encoding);
        options.spoolFolder = folder.path();
        Source source;
        ASSERT_TRUE(publish(source, before, after, options, 131'072));
        expectVersion(SlimeV2Layout(), source, before, after);

        Source parallel;
        const auto writer = makeSlimeV2DeltaWriter(options);
        ASSERT_TRUE(writer);
        writeModelInParallel(**writer, before, after, 131'072);
        ASSERT_TRUE((*writer)->finish(parallel.store(), parallel.task));
        EXPECT_TRUE(readObject(parallel.store(), DataKey) == readObject(source.store(), DataKey));
        EXPECT_EQ(readObject(parallel.store(), IndexKey), readObject(source.store(), IndexKey));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(SlimeV2Writer, AnEmptyVersionIsAnIndex)
{
    for (const SlimeV2Encoding encoding : Encodings) {
        Source source;
        const auto objects = publish(source, ModelAfter, ModelAfter, optionsOf(encoding));
        ASSERT_TRUE(objects);
        ASSERT_EQ(objects->size(), 1U);
        EXPECT_TRUE(readObject(source.store(), IndexKey).ends_with(R"("xxh3-128"}, "weight_map": {}})"));
        expectVersion(SlimeV2Layout(), source, ModelAfter, ModelAfter);
    }
}

TEST(SlimeV2Writer, TheIndexIsPythonsJson)
{
    SlimeV2WriterOptions options = optionsOf(SlimeV2Encoding::Overwrite, DigestAlgorithm::Blake3, 1'234'567);
    options.root = "run";
    options.facts = { { "ds.run", "r\u00f6 \"1\"" } };
    Model before, after;
    for (const char* name : { "b\\\"/", "a.\u00f6\u20ac", "\U0001f600" }) {
        addTensor(before, tensor(name), SlimeBefore);
        addTensor(after, tensor(name), SlimeAfter);
    }
    Source source;
    ASSERT_TRUE(publish(source, before, after, options));
    // json.dumps of the same, with Python 3.11
    EXPECT_EQ(
        readObject(source.store(), "run/weight_v1234567/model.safetensors.index.json"),
        "{\"metadata\": {\"version\": \"1234567\", \"base_version\": \"1234566\", \"delta_encoding\": \"overwrite\", "
        "\"compression_format\": \"zstd\", \"checksum_format\": \"blake3\", \"ds.run\": \"r\\u00f6 \\\"1\\\"\"}, "
        "\"weight_map\": {\"a.\\u00f6\\u20ac\": \"model-00000-of-00001.safetensors\", "
        "\"b\\\\\\\"/\": \"model-00000-of-00001.safetensors\", "
        "\"\\ud83d\\ude00\": \"model-00000-of-00001.safetensors\"}}");
    expectVersion(SlimeV2Layout(), source, before, after);
}

TEST(SlimeV2Writer, RefusesAScalarThatChanged)
{
    Model before, after;
    addTensor(before, tensor("scalar", {}), fromHex("803f"));
    addTensor(after, tensor("scalar", {}), fromHex("813f"));
    for (const SlimeV2Encoding encoding : Encodings) {
        Source source;
        const Error error = errorOf(publish(source, before, after, optionsOf(encoding)));
        EXPECT_EQ(error.code, Code::Unsupported);
        EXPECT_NE(error.text.find("\"scalar\""), std::string::npos);
        EXPECT_TRUE(source.listing().empty());
        EXPECT_TRUE(publish(source, before, before, optionsOf(encoding)));
    }
}

TEST(SlimeV2Writer, SuggestsTrlV2OnlyForAScalarThatItCarries)
{
    const auto refusal = [](const TensorInfo& scalar, std::string_view then) {
        Model before, after;
        addTensor(before, scalar, fromHex(std::string(then.size(), '0')));
        addTensor(after, scalar, fromHex(then));
        Source source;
        return errorOf(publish(source, before, after, optionsOf(Encodings[0])));
    };
    const Error bf16 = refusal(tensor("scalar", {}), "813f");
    EXPECT_NE(bf16.remedyText().find("publish as trl-v2"), std::string_view::npos) << bf16.remedyText();
    const Error f32 = refusal(tensor("scalar", {}, Dtype::F32), "0000813f");
    EXPECT_NE(f32.text.find("F32"), std::string::npos) << f32.text;
    EXPECT_EQ(f32.remedyText().find("publish as"), std::string_view::npos) << f32.remedyText();
}

TEST(SlimeV2Writer, OverwriteRefusesTensorsAbove4GiB)
{
    const std::uint32_t position = 1;
    std::string old(16, '\0'), now(16, '\0');
    now[2] = '\x01';
    const std::string value = now.substr(2, 2);
    for (const std::uint64_t elements : { std::uint64_t(1) << 31, (std::uint64_t(1) << 31) + 1 }) {
        for (const SlimeV2Encoding encoding : Encodings) {
            const auto writer = makeSlimeV2DeltaWriter(optionsOf(encoding));
            const auto out = (*writer)->begin(tensor("huge", { elements }));
            ASSERT_TRUE((*out)->add({ asBytes(old), asBytes(old), {} }));
            const auto added =
                (*out)->add({ asBytes(old), asBytes(now), { 8, std::span(&position, 1), asBytes(value) } });
            if (encoding == SlimeV2Encoding::Overwrite && elements > std::uint64_t(1) << 31)
                EXPECT_EQ(errorOf(added).code, Code::Unsupported);
            else
                EXPECT_TRUE(added);
        }
    }
}

TEST(SlimeV2Writer, NeverReplacesAVersion)
{
    for (const bool replaceUnfinished : { false, true }) {
        Source source;
        ASSERT_TRUE(publish(source, ModelBefore, ModelAfter, optionsOf()));
        SlimeV2WriterOptions options = optionsOf();
        options.replaceUnfinished = replaceUnfinished;
        const std::string data = readObject(source.store(), DataKey), index = readObject(source.store(), IndexKey);
        for (const Model& after : { ModelAfter, ModelBefore, modelOf("model.w", std::string(16, 'x')) }) {
            const Error error = errorOf(publish(source, ModelBefore, after, options));
            EXPECT_EQ(error.code, Code::Exists);
            EXPECT_EQ(error.step, 1);
        }
        EXPECT_EQ(readObject(source.store(), DataKey), data);
        EXPECT_EQ(readObject(source.store(), IndexKey), index);
    }
}

TEST(SlimeV2Writer, GoesOnWhereItWasInterrupted)
{
    Source whole;
    ASSERT_TRUE(publish(whole, ModelBefore, ModelAfter, optionsOf()));
    const std::string data = readObject(whole.store(), DataKey);

    Source same;
    same.put(DataKey, data);
    const auto objects = publish(same, ModelBefore, ModelAfter, optionsOf());
    ASSERT_TRUE(objects) << objects.error().text;
    EXPECT_EQ(objects->size(), 2U);
    expectVersion(SlimeV2Layout(), same, ModelBefore, ModelAfter);

    for (const std::string& leftover : { data.substr(0, 100), data.substr(0, data.size() - 1) + 'x', std::string() }) {
        Source other;
        other.put(DataKey, leftover);
        EXPECT_EQ(errorOf(publish(other, ModelBefore, ModelAfter, optionsOf())).code, Code::Exists);
        EXPECT_EQ(errorOf(publish(other, ModelBefore, ModelBefore, optionsOf())).code, Code::Exists);
        EXPECT_EQ(readObject(other.store(), DataKey), leftover);
        EXPECT_EQ(other.listing().size(), 1U);
        SlimeV2WriterOptions options = optionsOf();
        options.replaceUnfinished = true;
        ASSERT_TRUE(publish(other, ModelBefore, ModelAfter, options));
        expectVersion(SlimeV2Layout(), other, ModelBefore, ModelAfter);
    }
}

TEST(SlimeV2Writer, RefusesOptionsThatReadersDoNotTake)
{
    const auto refusal = [](auto change) {
        SlimeV2WriterOptions options = optionsOf();
        change(options);
        return errorOf(makeSlimeV2DeltaWriter(options)).code;
    };
    EXPECT_EQ(refusal([](SlimeV2WriterOptions& o) { o.version = 0; }), Code::Usage);
    EXPECT_EQ(refusal([](SlimeV2WriterOptions& o) { o.baseVersion = 1; }), Code::Usage);
    EXPECT_EQ(refusal([](SlimeV2WriterOptions& o) { o.checksum = DigestAlgorithm::None; }), Code::Usage);
    EXPECT_EQ(refusal([](SlimeV2WriterOptions& o) { o.zstdLevel = 20; }), Code::Usage);
    EXPECT_EQ(refusal([](SlimeV2WriterOptions& o) { o.facts = { { "version", "7" } }; }), Code::Usage);
    EXPECT_EQ(refusal([](SlimeV2WriterOptions& o) { o.spoolFolder = "/nowhere/at/all"; }), Code::NotFound);
}

TEST(SlimeV2Writer, FindsTheCallersMistakes)
{
    const auto writer = makeSlimeV2DeltaWriter(optionsOf());
    const auto out = (*writer)->begin(tensor("model.w"));
    TaskContext task;
    EXPECT_EQ(errorOf((*out)->add({ {}, asBytes(SlimeAfter), {} })).code, Code::Internal);
    EXPECT_EQ(errorOf((*out)->end(task)).code, Code::Internal);
    EXPECT_EQ(errorOf((*writer)->begin(tensor("__metadata__"))).code, Code::Usage);
    expectOneChangePerTensor(**writer);
    task.requestStop();
    const auto canceled = (*writer)->begin(tensor("model.v"));
    EXPECT_EQ(errorOf((*canceled)->end(task)).code, Code::Canceled);
}

class SlimeV2WriterGolden : public testing::TestWithParam<const char*> { };

TEST_P(SlimeV2WriterGolden, WritesTheTrainersBytes)
{
    Golden golden(GetParam());
    const SlimeV2Layout layout;
    const LayoutRegistry layouts = builtinLayouts();
    const auto base = openLocalStore(golden.folder + "/base");
    ASSERT_TRUE(base);
    const std::shared_ptr<const Layout> hf = layouts.find("hf");
    Model state;
    ASSERT_TRUE(applyVersion(*hf, **base, hf->group(*listAll(**base, "", golden.task)).at(0), state));
    const std::int64_t damagedFrom = std::string(GetParam()) == "slime-v2-gap-in-chain" ? 5 : 1000;
    std::size_t compared = 0;
    for (const VersionObjects& version : layout.group(golden.listing)) {
        if (version.step >= damagedFrom)
            break;
        const auto index = layout.index(*golden.store, version, golden.task);
        ASSERT_TRUE(index) << index.error().text;
        Model next = state;
        const auto counts = applyVersion(layout, *golden.store, version, next);
        ASSERT_TRUE(counts) << counts.error().text;
        const Payloads theirs = payloadsOf(*golden.store, version);
        for (const SlimeV2Encoding encoding : Encodings) {
            for (const DigestAlgorithm checksum : Checksums) {
                Source source;
                ASSERT_TRUE(publish(source, state, next, optionsOf(encoding, checksum, version.step)));
                expectVersion(layout, source, state, next);
                if (checksum != index->digests
                    || index->encoding != (encoding == SlimeV2Encoding::Xor ? "xor" : "overwrite"))
                    continue;
                const Payloads ours = payloadsOf(source.store(), onlyVersion(layout, source));
                EXPECT_TRUE(ours.bytes == theirs.bytes) << version.step;
                EXPECT_EQ(ours.digests, theirs.digests) << version.step;
                if (ours.bytes.empty()) {
                    EXPECT_EQ(readObject(source.store(),
                                         fmt::format("weight_v{:06}/model.safetensors.index.json", version.step)),
                              readObject(*golden.store, version.name + "/model.safetensors.index.json"));
                }
                ++compared;
            }
        }
        state = std::move(next);
    }
    EXPECT_GE(compared, 3U);
}

INSTANTIATE_TEST_SUITE_P(Cases, SlimeV2WriterGolden,
                         testing::Values("slime-v2-xor", "slime-v2-overwrite", "slime-v2-blake3", "slime-v2-adler32",
                                         "slime-v2-dup-name", "slime-v2-gap-in-chain"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace deltascope

#include "dcp_fixture.h"
#include "support/faulty_store.h"

#include <numeric>

// What stands in checkpoints of torch.distributed.checkpoint: archives, and safetensors files with rectangles.

namespace deltascope {
namespace {

using namespace layout_test;

const std::string Data = fromHex("80 3f 00 40 40 40 80 40 a0 40 c0 40 e0 40 00 41");

/// The error that a checkpoint of these tensors gives.
Error indexError(const std::vector<TensorSpec>& tensors)
{
    Source source;
    putCheckpoint(source, tensors);
    return errorOf(indexOnly(DcpLayout(), source));
}

Error metadataError(const std::string& metadata)
{
    Source source;
    source.put(".metadata", metadata).put("__0_0.distcp", tensorItem(TorchBF16, { { 2, 4 }, {}, 0, Data }));
    return errorOf(indexOnly(DcpLayout(), source));
}

TEST(DcpIndex, ReadsATensorInOneChunk)
{
    Source source;
    putCheckpoint(source, { wholeTensor("model.w", { 2, 4 }, Data) });
    EXPECT_TRUE(recognized(DcpLayout(), source));
    const auto index = indexOnly(DcpLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_TRUE(index->full);
    EXPECT_EQ(index->storedElements(), 8U);
    ASSERT_EQ(index->tensors.size(), 1U);
    EXPECT_EQ(*index->tensors[0].info(), tensor("model.w"));
    EXPECT_EQ(index->tensors[0].extents.size(), 1U);
    EXPECT_EQ(bytesOf(source, tensor("model.w"), 6), Data);
}

TEST(DcpIndex, ReadsScalarsEmptyTensorsAndOtherTypes)
{
    Source source;
    putCheckpoint(source,
                  { wholeTensor("c64", { 2 }, "0123456789abcdef", TorchC64), wholeTensor("empty", { 0, 3 }, ""),
                    wholeTensor("f8", { 3 }, "xyz", TorchF8), wholeTensor("scalar", {}, "1234", TorchF32),
                    wholeTensor("größe.重み", { 1 }, "ab") });
    const auto index = indexOnly(DcpLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->storedElements(), 2U + 0 + 3 + 1 + 1);
    EXPECT_EQ(index->find("f8")->info()->dtype, Dtype::F8E4M3);
    EXPECT_EQ(index->find("c64")->info()->dtype, Dtype::C64);
    ModelState state;
    PatchCounts counts;
    ASSERT_TRUE(state.apply(DcpLayout(), source.store(), onlyVersion(DcpLayout(), source), *index, counts));
}

TEST(DcpIndex, ReadsZip64Archives)
{
    TensorSpec spec = wholeTensor("model.w", { 2, 4 }, Data);
    spec.chunks[0].item = tensorItem(TorchBF16, { { 2, 4 }, {}, 0, Data }, true);
    Source source;
    putCheckpoint(source, { spec });
    EXPECT_EQ(bytesOf(source, tensor("model.w")), Data);
}

TEST(DcpIndex, HonorsStrideAndStorageOffset)
{
    // Every second element from the third on: 0x02, 0x04, …
    TensorSpec spec = wholeTensor("v", { 2, 2 }, "", TorchU8);
    spec.chunks[0].item = tensorItem(TorchU8, { { 2, 2 }, { 1, 4 }, 2, "abcdefgh" });
    Source source;
    putCheckpoint(source, { spec });
    EXPECT_EQ(bytesOf(source, tensor("v", { 2, 2 }, Dtype::U8), 1), "cgdh");
}

TEST(DcpIndex, PastesChunksOfTwoRanks)
{
    TensorSpec rows { "rows",
                      TorchU8,
                      { 3, 2 },
                      { { { 0, 0 }, { 2, 2 }, tensorItem(TorchU8, { { 2, 2 }, {}, 0, "abcd" }) },
                        { { 2, 0 }, { 1, 2 }, tensorItem(TorchU8, { { 1, 2 }, {}, 0, "ef" }), "__1_0.distcp" },
                        { { 3, 0 }, { 0, 2 }, tensorItem(TorchU8, { { 0, 2 }, {}, 0, "" }), "__2_0.distcp" } } };
    Source source;
    putCheckpoint(source, { rows });
    const auto index = indexOnly(DcpLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->tensors[0].extents.size(), 2U);
    EXPECT_EQ(bytesOf(source, tensor("rows", { 3, 2 }, Dtype::U8), 1), "abcdef");

    TensorSpec columns { "columns",
                         TorchU8,
                         { 2, 3 },
                         { { { 0, 2 }, { 2, 1 }, tensorItem(TorchU8, { { 2, 1 }, {}, 0, "cf" }), "__1_0.distcp" },
                           { { 0, 0 }, { 2, 2 }, tensorItem(TorchU8, { { 2, 2 }, {}, 0, "abde" }) } } };
    Source other;
    putCheckpoint(other, { columns });
    EXPECT_EQ(bytesOf(other, tensor("columns", { 2, 3 }, Dtype::U8), 2), "abcdef");
}

TEST(DcpIndex, ReadsHeadersOnlyAndThoseOfNeighborsTogether)
{
    constexpr std::uint64_t Items = 50;
    std::vector<TensorSpec> tensors;
    for (std::uint64_t i = 0; i < Items; ++i)
        tensors.push_back(wholeTensor(fmt::format("w{}", i), { 100'000 }, std::string(100'000, 'x'), TorchU8));
    Source source;
    putCheckpoint(source, tensors);
    test::FaultyStore counting(source.store());
    const DcpLayout layout;
    ASSERT_TRUE(layout.index(counting, onlyVersion(layout, source), source.task));
    EXPECT_LT(counting.bytesRead(), Items * 5000);
    EXPECT_LE(counting.calls(test::StoreOperation::Read), Items + 2);
}

TEST(DcpIndex, IgnoresBytesItems)
{
    using namespace pickled;
    const std::string item = tensorItem(TorchBF16, { { 2, 4 }, {}, 0, Data });
    const std::string metadata =
        metadataFile({ text("step"), object(torchMetadata("BytesStorageMetadata"), dict({})), text("model.w"),
                       tensorMetadata(wholeTensor("model.w", { 2, 4 }, Data)) },
                     { object(torchMetadata("MetadataIndex"), dict({ text("fqn"), text("step"), text("offset"), "N" })),
                       storageInfo("__0_0.distcp", 0, 1), metadataIndex("model.w", { 0, 0 }),
                       storageInfo("__0_0.distcp", 1, item.size()) });
    Source source;
    source.put(".metadata", metadata).put("__0_0.distcp", "x" + item);
    EXPECT_EQ(bytesOf(source, tensor("model.w")), Data);
}

TEST(DcpIndex, WithoutMetadataItIsUnfinished)
{
    Source source;
    source.put("step-20/__0_0.distcp", "x").put("step-20/.metadata.tmp", "x");
    EXPECT_TRUE(recognized(DcpLayout(), source));
    EXPECT_EQ(errorOf(indexOnly(DcpLayout(), source)).code, Code::Unfinished);
}

TEST(DcpIndex, AMissingFileIsUnfinishedAndACutOneTruncated)
{
    TensorSpec spec = wholeTensor("model.w", { 2, 4 }, Data);
    spec.chunks[0].file = "__1_0.distcp";
    Source source;
    putCheckpoint(source, { spec }, "step-1/");
    source.put("step-2/.metadata", checkpointFiles({ spec })[".metadata"]).put("step-2/__0_0.distcp", "x");
    source.put("step-3/.metadata", checkpointFiles({ spec })[".metadata"])
        .put("step-3/__1_0.distcp", spec.chunks[0].item.substr(1));
    const DcpLayout layout;
    const auto versions = layout.group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 1, 2, 3 }));
    EXPECT_TRUE(layout.index(source.store(), versions[0], source.task));
    const Error missing = errorOf(layout.index(source.store(), versions[1], source.task));
    EXPECT_EQ(missing.code, Code::Unfinished);
    EXPECT_EQ(missing.where, "step-2/__1_0.distcp");
    EXPECT_EQ(errorOf(layout.index(source.store(), versions[2], source.task)).code, Code::Truncated);
}

TEST(DcpIndex, RefusesChunksThatDoNotTile)
{
    const auto chunk = [](const Sizes& offsets, const Sizes& sizes) {
        const std::uint64_t elements = std::accumulate(sizes.begin(), sizes.end(), std::uint64_t { 1 },
                                                       [](std::uint64_t a, std::uint64_t b) { return a * b; });
        return ChunkSpec { offsets, sizes, tensorItem(TorchU8, { sizes, {}, 0, std::string(elements, 'x') }) };
    };
    const auto errorFor = [](const Sizes& shape, const std::vector<ChunkSpec>& chunks) {
        return indexError({ { "w", TorchU8, shape, chunks } });
    };
    EXPECT_EQ(errorFor({ 4, 4 }, { chunk({ 0, 0 }, { 2, 4 }) }).code, Code::Malformed);
    const Error overlap = errorFor({ 4, 4 }, { chunk({ 0, 0 }, { 2, 4 }), chunk({ 1, 0 }, { 2, 4 }) });
    EXPECT_EQ(overlap.code, Code::Malformed);
    EXPECT_TRUE(mentions(overlap, "overlap")) << overlap.text;
    EXPECT_EQ(errorFor({ 4, 4 }, { chunk({ 0, 0 }, { 4, 4 }), chunk({ 1, 1 }, { 1, 1 }) }).code, Code::Malformed);
    EXPECT_EQ(errorFor({ 4, 4 }, { chunk({ 1, 0 }, { 4, 4 }) }).code, Code::Malformed);
    EXPECT_EQ(errorFor({ 4, 4 }, { chunk({ 0 }, { 16 }) }).code, Code::Malformed);
    EXPECT_EQ(errorFor({}, { chunk({}, {}), { {}, {}, "", "__1_0.distcp" } }).code, Code::Malformed);
    const std::uint64_t huge = std::uint64_t { 1 } << 61;
    EXPECT_EQ(errorFor({ huge }, { { { huge - 1 }, { huge }, "" }, { { 0 }, { 1 }, "" } }).code, Code::Hostile);
    EXPECT_EQ(errorFor({ huge, 4 }, { { { 0, 0 }, { huge, 4 }, "" } }).code, Code::Hostile);
    EXPECT_EQ(errorFor(Sizes(17, 1), { chunk(Sizes(17), Sizes(17, 1)) }).code, Code::Malformed);
}

TEST(DcpIndex, RefusesItemsThatDoNotFitTheirChunk)
{
    const auto errorFor = [](const std::string& item) {
        return indexError({ { "w", TorchU8, { 2, 2 }, { { { 0, 0 }, { 2, 2 }, item } } } }).code;
    };
    EXPECT_EQ(errorFor(tensorItem(TorchU8, { { 4 }, {}, 0, "abcd" })), Code::Malformed);
    EXPECT_EQ(errorFor(tensorItem(TorchBF16, { { 2, 2 }, {}, 0, "abcdefgh" })), Code::Malformed);
    EXPECT_EQ(errorFor(tensorItem(TorchU8, { { 2, 2 }, {}, 1, "abcd" })), Code::Malformed);
    EXPECT_EQ(errorFor(tensorItem(TorchU8, { { 2, 2 }, { 3, 1 }, 0, "abcd" })), Code::Malformed);
    const std::uint64_t huge = std::uint64_t { 1 } << 62;
    EXPECT_EQ(errorFor(tensorItem(TorchU8, { { 2, 2 }, { huge, huge }, 0, "abcd" })), Code::Malformed);
    EXPECT_EQ(errorFor(tensorItem(TorchU8, { { 2, 2 }, { 1 }, 0, "abcd" })), Code::Malformed);
    const std::string pickle = tensorPickle(TorchU8, { { 2, 2 }, {}, 0, "abcd" });
    EXPECT_EQ(errorFor(torchArchive({ { "data.pkl", pickle } })), Code::Malformed);
    EXPECT_EQ(errorFor(torchArchive({ { "data.pkl", pickle }, { "data/0", "abc" } })), Code::Malformed);
    EXPECT_EQ(errorFor(torchArchive({ { "data/0", "abcd" } })), Code::Malformed);
    EXPECT_EQ(errorFor(torchArchive({ { "data.pkl", "\x80\x02K\x01." }, { "data/0", "abcd" } })), Code::Malformed);
    EXPECT_EQ(errorFor(torchArchive({ { "data.pkl", pickle }, { "data/0", "abcd" }, { "byteorder", "big" } })),
              Code::Unsupported);
    EXPECT_EQ(errorFor(torchArchive({ { "data.pkl", pickled::whole(pickled::global("os", "abort") + ")R") } })),
              Code::Unsupported);
}

TEST(DcpIndex, RefusesBrokenArchives)
{
    const std::string good = tensorItem(TorchU8, { { 2, 2 }, {}, 0, "abcd" });
    const auto errorFor = [](const std::string& item) {
        return indexError({ { "w", TorchU8, { 2, 2 }, { { { 0, 0 }, { 2, 2 }, item } } } }).code;
    };
    const auto isRefused = [](Code code) {
        return code == Code::Malformed || code == Code::Hostile || code == Code::Unsupported;
    };
    EXPECT_EQ(errorFor(""), Code::Malformed);
    EXPECT_EQ(errorFor("\x80\x02" + std::string(100, 'x')), Code::Malformed); // a pickle, not an archive
    EXPECT_TRUE(isRefused(errorFor(good + "comment")));
    const std::size_t directory = good.find("PK\x01\x02");
    const auto with = [&](std::size_t at, const std::string& bytes) {
        std::string item = good;
        return item.replace(at, bytes.size(), bytes);
    };
    EXPECT_EQ(errorFor(with(directory + 10, "\x08")), Code::Unsupported); // compressed
    EXPECT_EQ(errorFor(with(directory + 8, "\x01")), Code::Unsupported); // encrypted
    EXPECT_EQ(errorFor(with(directory + 42, "\x40")), Code::Malformed); // no header there
    EXPECT_EQ(errorFor(with(directory + 42, "\xff\xff\xff\x7f")), Code::Malformed);
    EXPECT_EQ(errorFor(with(directory + 42, "\xff\xff\xff\xff")), Code::Malformed); // without a ZIP64 field
    EXPECT_EQ(errorFor(with(directory + 24, "\xff\xff\xff\x7f")), Code::Hostile);
    EXPECT_EQ(errorFor(with(good.size() - 10, "\xff\xff\xff\xff")), Code::Malformed); // size of the directory
    EXPECT_EQ(errorFor(with(good.size() - 6, "\xff\xff\xff\x7f")), Code::Malformed); // place of the directory
    EXPECT_EQ(errorFor(with(good.size() - 12, "\x04")), Code::Malformed); // number of records
    EXPECT_EQ(errorFor(with(good.size() - 12, "\xff\xff")), Code::Malformed); // ZIP64 without its records
    EXPECT_EQ(errorFor(torchArchive({ { "data.pkl", "x" }, { "data.pkl", "y" } })), Code::Malformed);
}

TEST(DcpIndex, RefusesMetadataThatSaysTooLittle)
{
    using namespace pickled;
    const TensorSpec spec = wholeTensor("w", { 2, 4 }, Data);
    const std::string tensor = tensorMetadata(spec);
    const std::string info = storageInfo("__0_0.distcp", 0, spec.chunks[0].item.size());
    const std::string index = metadataIndex("w", { 0, 0 });
    EXPECT_EQ(metadataError(whole("N")).code, Code::Malformed);
    EXPECT_EQ(metadataError(whole(dict({}))).code, Code::Malformed);
    EXPECT_EQ(metadataError("").code, Code::Truncated);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor }, {})).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), "N" }, { index, info })).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ number(1), tensor }, { index, info })).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor }, { text("w"), info })).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor }, { index, "N" })).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor }, { index, info, index, info })).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor, text("w"), tensor }, { index, info })).code,
              Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor }, { index, storageInfo("../x", 0, 1) })).code,
              Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("\xed\xa0\x80"), tensor }, { index, info })).code, Code::Malformed);
    EXPECT_EQ(metadataError(metadataFile({ text("__metadata__"), tensor }, { index, info })).code, Code::Malformed);
    const std::string compressed = storageInfo("__0_0.distcp", 0, spec.chunks[0].item.size(),
                                               text("transform_descriptors") + list({ text("zstd") }));
    EXPECT_EQ(metadataError(metadataFile({ text("w"), tensor }, { index, compressed })).code, Code::Unsupported);
}

TEST(DcpIndex, NamesElementTypesThatItCannotRead)
{
    TensorSpec spec = wholeTensor("model.w", { 2, 4 }, Data);
    spec.type.word = "complex128";
    Error error = indexError({ spec });
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_TRUE(mentions(error, "complex128") && mentions(error, "model.w")) << error.text;
    spec.type.word = "float3_e1m1";
    error = indexError({ spec });
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_TRUE(mentions(error, "float3_e1m1")) << error.text;
}

// --- safetensors files with rectangles ---

std::string shardFile(const std::vector<FileTensor>& tensors, const std::string& info)
{
    return safetensorsFile(tensors, { { "format", "pt" }, { "DCP_VERSION", "1.0" }, { "DCP_SHARDING_INFO", info } });
}

constexpr const char* FirstShard = "shard-00001-model-00001-of-00001.safetensors";
constexpr const char* SecondShard = "shard-00002-model-00001-of-00001.safetensors";

TEST(DcpSafetensors, PastesTheRectanglesOfTwoRanks)
{
    Source source;
    source.put(
        FirstShard,
        shardFile({ { tensor("w", { 2, 2 }, Dtype::U8), "abde" } }, R"({"w": {"saved_offsets": [0, 0], "more": 1}})"));
    source.put(SecondShard,
               shardFile({ { tensor("w", { 2, 1 }, Dtype::U8), "cf" } }, R"({"w": {"saved_offsets": [0, 2]}})"));
    EXPECT_TRUE(recognized(DcpLayout(), source));
    EXPECT_EQ(bytesOf(source, tensor("w", { 2, 3 }, Dtype::U8), 1), "abcdef");
}

TEST(DcpSafetensors, ReadsScalarsAndEmptyTensors)
{
    Source source;
    source.put(FirstShard,
               shardFile({ { tensor("s", {}), "ab" }, { tensor("e", { 0 }), "" } },
                         R"({"s": {"saved_offsets": []}, "e": {"saved_offsets": [0]}})"));
    const auto index = indexOnly(DcpLayout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->storedElements(), 1U);
    EXPECT_EQ(index->find("e")->info()->shape, Sizes { 0 });
}

TEST(DcpSafetensors, RefusesHolesAndOverlaps)
{
    const std::pair<const char*, Code> refused[] = { { "[0, 1]", Code::Malformed },
                                                     { "[0, 3]", Code::Malformed },
                                                     { "[1, 2]", Code::Malformed },
                                                     { "[0]", Code::Malformed },
                                                     { "[9223372036854775807, 2]", Code::Hostile } };
    for (const auto& [offsets, code] : refused) {
        Source source;
        source.put(FirstShard,
                   shardFile({ { tensor("w", { 2, 2 }, Dtype::U8), "abde" } }, R"({"w": {"saved_offsets": [0, 0]}})"));
        source.put(SecondShard,
                   shardFile({ { tensor("w", { 2, 1 }, Dtype::U8), "cf" } },
                             fmt::format(R"({{"w": {{"saved_offsets": {}}}}})", offsets)));
        EXPECT_EQ(errorOf(indexOnly(DcpLayout(), source)).code, code) << offsets;
    }
}

TEST(DcpSafetensors, RefusesOtherInformation)
{
    for (const char* info :
         { "", "[]", "{}", R"({"w": 1})", R"({"w": {}})", R"({"w": {"saved_offsets": 0}})",
           R"({"w": {"saved_offsets": [0.5, 0]}})", R"({"w": {"saved_offsets": [-1, 0]}})",
           R"({"w": {"saved_offsets": [[0], 0]}})", R"({"w": {"saved_offsets": {"a": 1}}})",
           R"({"w": {"saved_offsets": [0, 0], "saved_offsets": [0, 0]}})",
           R"({"w": {"saved_offsets": [0, 0]}, "w": {"saved_offsets": [0, 0]}})",
           R"({"w": {"saved_offsets": [0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0]}})", R"({"w": {"saved_offsets": [0, 0]})" }) {
        Source source;
        source.put(FirstShard, shardFile({ { tensor("w", { 2, 2 }, Dtype::U8), "abcd" } }, info));
        EXPECT_EQ(errorOf(indexOnly(DcpLayout(), source)).code, Code::Malformed) << info;
    }
}

TEST(DcpSafetensors, AMissingNumberIsUnfinished)
{
    const std::string file = shardFile({ { tensor("w", { 2 }), "abcd" } }, R"({"w": {"saved_offsets": [0]}})");
    Source source;
    source.put("shard-00001-model-00002-of-00002.safetensors", file);
    EXPECT_EQ(errorOf(indexOnly(DcpLayout(), source)).code, Code::Unfinished);
    source.put(FirstShard, file);
    EXPECT_EQ(errorOf(indexOnly(DcpLayout(), source)).code, Code::Malformed);
}

TEST(DcpSafetensors, WithoutInformationItIsAnotherLayout)
{
    Source other;
    other.put(FirstShard, safetensorsFile({ { tensor("w", { 2 }), "abcd" } }));
    EXPECT_FALSE(recognized(DcpLayout(), other));
    Source broken;
    broken.put(FirstShard, "x");
    EXPECT_TRUE(recognized(DcpLayout(), broken));
    EXPECT_EQ(errorOf(indexOnly(DcpLayout(), broken)).code, Code::Truncated);
}

class DcpGolden : public testing::TestWithParam<const char*> { };

TEST_P(DcpGolden, TensorsEqualTheSavedOnes)
{
    Golden golden(GetParam());
    const DcpLayout layout;
    ASSERT_TRUE(*layout.recognizes(*golden.store, golden.listing, golden.task));
    const auto versions = layout.group(golden.listing);
    ASSERT_EQ(versions.size(), golden.expected["steps"].size());
    for (const VersionObjects& version : versions) {
        const Json* step = golden.step(version.step);
        ASSERT_NE(step, nullptr);
        EXPECT_EQ(version.wireBytes(), (*step)["wire_bytes"]);
        EXPECT_EQ(Json(keysOf(version)), (*step)["objects"]);
        const auto index = layout.index(*golden.store, version, golden.task);
        ASSERT_TRUE(index) << index.error().text;
        EXPECT_EQ(index->storedElements(), (*step)["total_elems"]);
        ModelState state;
        PatchCounts counts;
        ASSERT_TRUE(state.apply(layout, *golden.store, version, *index, counts));
        state.expectEqual((*step)["tensors"], fmt::format("{} step {}", GetParam(), version.step));
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, DcpGolden, testing::Values("dcp", "dcp-hf", "dcp-ranks"), [](const auto& info) {
    std::string name = info.param;
    std::replace(name.begin(), name.end(), '-', '_');
    return name;
});

} // namespace
} // namespace deltascope

#include "format/dcp/dcp_layout.h"

#include "dcp_fixture.h"
#include "support/faulty_store.h"

#include <numeric>
#include <random>

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

/// The bytes of the only tensor of a checkpoint, read in blocks.
std::string bytesOf(Source& source, const TensorInfo& target, std::uint64_t blockBytes = 0, StreamOptions options = {})
{
    std::string state(target.bytes(), '\0');
    const auto counts = applyOnly(DcpLayout(), source, target, state, blockBytes, options);
    EXPECT_TRUE(counts) << counts.error().text;
    return state;
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

TEST(DcpStream, IsSeekableAndChecksItsTarget)
{
    TensorSpec spec { "v", TorchU8, { 2, 2 }, { { { 0, 0 }, { 2, 2 }, "" } } };
    spec.chunks[0].item = tensorItem(TorchU8, { { 2, 2 }, { 1, 2 }, 0, "acbd" });
    Source source;
    putCheckpoint(source, { spec });
    const DcpLayout layout;
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(source.store(), version, source.task);
    ASSERT_TRUE(index);
    const auto stream = layout.open(source.store(), version, *index, index->tensors[0], *index->tensors[0].info(),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE(stream && (*stream)->seekable());
    EXPECT_GT(*(*stream)->workingBytes(), 0U);
    EXPECT_EQ(toHex(std::get<FullBlock>(*(*stream)->next(3, 4)).bytes), hexOf("d"));
    EXPECT_TRUE((*stream)->finish());
    EXPECT_EQ(errorOf((*stream)->next(0, 1)).code, Code::Internal);
    EXPECT_EQ(errorOf((*stream)->next(4, 5)).code, Code::Internal);
    for (const TensorInfo& other : { tensor("v", { 4 }, Dtype::U8), tensor("v", { 2, 2 }, Dtype::I8) }) {
        const auto refused =
            layout.open(source.store(), version, *index, index->tensors[0], other, { &test::anyTask(), 64 * 1024, {} });
        ASSERT_FALSE(refused);
        EXPECT_EQ(refused.error().code, Code::BaseMismatch);
    }
}

// --- any tiling, any order of the stored elements, any block size ---

struct Box {
    Sizes offsets;
    Sizes sizes;
};

void cut(const Box& box, std::mt19937& random, std::vector<Box>& out)
{
    const std::size_t along = box.sizes.empty() ? 0 : random() % box.sizes.size();
    if (box.sizes.empty() || random() % 3 == 0 || box.sizes[along] < 2) {
        out.push_back(box);
        return;
    }
    Box low = box;
    Box high = box;
    low.sizes[along] = 1 + random() % (box.sizes[along] - 1);
    high.offsets[along] += low.sizes[along];
    high.sizes[along] -= low.sizes[along];
    cut(low, random, out);
    cut(high, random, out);
}

/// A view of these sizes with its dimensions in random order, gaps and an offset, that holds what `valueAt` says.
template <class ValueAt>
View storedView(const Sizes& sizes, std::size_t elementBytes, bool shuffled, std::mt19937& random, ValueAt valueAt)
{
    View view { sizes, Sizes(sizes.size()), shuffled ? random() % 5 : 0, {} };
    std::vector<std::size_t> order(sizes.size());
    std::iota(order.rbegin(), order.rend(), 0U);
    if (shuffled)
        std::shuffle(order.begin(), order.end(), random);
    std::uint64_t stride = shuffled && random() % 4 == 0 ? 2 : 1;
    for (const std::size_t dimension : order) {
        view.strides[dimension] = stride;
        stride *= sizes[dimension] + (shuffled ? random() % 2 : 0);
    }
    view.storage.assign((view.offset + stride) * elementBytes, '#');
    Sizes at(sizes.size());
    for (;;) {
        std::uint64_t stored = view.offset;
        for (std::size_t i = 0; i < sizes.size(); ++i)
            stored += at[i] * view.strides[i];
        view.storage.replace(stored * elementBytes, elementBytes, valueAt(at));
        std::size_t i = sizes.size();
        while (i > 0 && ++at[i - 1] == sizes[i - 1])
            at[--i] = 0;
        if (i == 0)
            return view;
    }
}

/// A tensor cut at random, and its bytes.
std::pair<TensorSpec, std::string> cutTensor(const Sizes& shape, const TorchType& type, bool shuffled,
                                             std::mt19937& random)
{
    const TensorInfo info = tensor("w", shape, type.dtype);
    const std::size_t elementBytes = bitsOf(type.dtype) / 8;
    std::string bytes(info.bytes(), '\0');
    for (char& c : bytes)
        c = static_cast<char>(random());
    std::vector<Box> boxes;
    cut({ Sizes(shape.size()), shape }, random, boxes);
    std::shuffle(boxes.begin(), boxes.end(), random);
    TensorSpec spec { "w", type, shape, {} };
    for (const Box& box : boxes) {
        const View view = storedView(box.sizes, elementBytes, shuffled, random, [&](const Sizes& at) {
            std::uint64_t element = 0;
            for (std::size_t i = 0; i < shape.size(); ++i)
                element = element * shape[i] + box.offsets[i] + at[i];
            return bytes.substr(element * elementBytes, elementBytes);
        });
        spec.chunks.push_back(
            { box.offsets, box.sizes, tensorItem(type, view), fmt::format("__{}_0.distcp", random() % 3) });
    }
    return { spec, bytes };
}

TEST(DcpStream, PastesAnyTilingInAnyBlocks)
{
    std::mt19937 random(7);
    const std::vector<TorchType> types = { TorchU8, TorchBF16, TorchF32, TorchI64 };
    for (int round = 0; round < 300; ++round) {
        Sizes shape(random() % 5);
        for (std::uint64_t& size : shape)
            size = 1 + random() % 7;
        const TorchType& type = types[random() % types.size()];
        const auto [spec, bytes] = cutTensor(shape, type, random() % 2 == 0, random);
        Source source;
        putCheckpoint(source, { spec });
        const std::uint64_t elementBytes = bitsOf(type.dtype) / 8;
        const TensorInfo info = tensor("w", shape, type.dtype);
        const std::uint64_t blockBytes = elementBytes * (1 + random() % 40);
        ASSERT_EQ(hexOf(bytesOf(source, info, blockBytes, { &test::anyTask(), 1 + random() % 100, {} })), hexOf(bytes))
            << "round " << round;
    }
}

TEST(DcpStream, ReadsLargeChunksInAnotherOrderRunByRun)
{
    std::mt19937 random(8);
    for (const auto& [shape, strides] :
         std::vector<std::pair<Sizes, Sizes>> { { { 1500, 1000 }, { 1, 1500 } },
                                                { { 4, 1100, 350 }, { 1100 * 350, 1, 1100 } },
                                                { { 40, 260, 150 }, { 1, 40 * 150, 40 } },
                                                { { 1, 600'000 }, { 1, 2 } } }) {
        TensorSpec spec { "w", TorchF32, shape, { { Sizes(shape.size()), shape, "" } } };
        const TensorInfo info = tensor("w", shape, Dtype::F32);
        View view { shape, strides, 0, std::string(shape.back() == 600'000 ? 4'800'000 : info.bytes(), '\0') };
        std::string expected(info.bytes(), '\0');
        for (std::uint64_t i = 0; i < info.elements(); ++i) {
            std::uint64_t stored = 0;
            for (std::uint64_t rest = i, d = shape.size(); d-- > 0; rest /= shape[d])
                stored += rest % shape[d] * strides[d];
            const std::string value = littleEndian(static_cast<std::uint32_t>(random()));
            expected.replace(i * 4, 4, value);
            view.storage.replace(stored * 4, 4, value);
        }
        spec.chunks[0].item = tensorItem(TorchF32, view);
        Source source;
        putCheckpoint(source, { spec });
        EXPECT_TRUE(bytesOf(source, info) == expected) << fmt::format("{}", shape.size());
    }
}

TEST(DcpStream, PassesOnWhatTheStoreSays)
{
    const auto [spec, bytes] = [] {
        std::mt19937 random(9);
        return cutTensor({ 30, 20 }, TorchF32, true, random);
    }();
    Source source;
    putCheckpoint(source, { spec });
    test::FaultyStore faulty(source.store());
    const DcpLayout layout;
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(faulty, version, source.task);
    ASSERT_TRUE(index);
    const auto stream = layout.open(faulty, version, *index, index->tensors[0], *index->tensors[0].info(),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE(stream);
    faulty.failNth(test::StoreOperation::Read, 1, Error { Code::Transient, "try again", {}, {}, {} });
    EXPECT_EQ(errorOf((*stream)->next(0, 400)).code, Code::Transient);
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

// --- folders ---

TEST(DcpGroup, TheFolderItselfAndNumberedChildren)
{
    Source source;
    for (const char* folder :
         { "", "step-10/", "checkpoint_20/", "iter_0000030/", "my-epoch_40/", "optimizer_0/", "2025-10-05/", "step-/",
           "step50/", "-60/", "a/step-70/", "step-99999999999999999999/", "model_90/", "tmp-step-95/" })
        source.put(std::string(folder) + "__0_0.distcp", "x");
    source.put("step-10/config.json", "{}").put("step-10/.metadata.tmp", "x").put("step-80/.metadata", "x");
    const auto versions = DcpLayout().group(source.listing());
    EXPECT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 0, 10, 20, 30, 50 }));
    EXPECT_EQ(versions[0].name, ".");
    EXPECT_EQ(keysOf(versions[1]), (std::vector<std::string> { "step-10/__0_0.distcp", "step-10/config.json" }));
}

TEST(DcpGroup, TheModelOfAStepIsReadAndNotItsOptimizer)
{
    Source source;
    for (const char* step : { "checkpoint-10/", "checkpoint-20/" }) {
        for (const char* part : { "pytorch_model_fsdp_0/", "optimizer_0/" }) {
            source.put(fmt::format("{}{}__0_0.distcp", step, part), "x");
            source.put(fmt::format("{}{}.metadata", step, part), "x");
        }
        source.put(fmt::format("{}config.json", step), "{}");
    }
    const auto versions = DcpLayout().group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 10, 20 }));
    EXPECT_EQ(versions[1].name, "checkpoint-20/pytorch_model_fsdp_0");
    EXPECT_TRUE(versions[1].notes.empty());
    Source one; // the folder of a step itself
    one.put("pytorch_model_fsdp_0/__0_0.distcp", "x").put("optimizer_0/__0_0.distcp", "x");
    EXPECT_EQ(onlyVersion(DcpLayout(), one).name, "pytorch_model_fsdp_0");
}

TEST(DcpGroup, PlainFilesOfTheSameStepsComeFirst)
{
    Source source;
    source.put("step_10/actor/dist_ckpt/__0_0.distcp", "x").put("step_10/actor/dist_ckpt/.metadata", "x");
    EXPECT_TRUE(recognized(DcpLayout(), source));
    source.put("step_10/actor/huggingface/model.safetensors", "x");
    EXPECT_FALSE(recognized(DcpLayout(), source));
    source.put("step_20/actor/dist_ckpt/__0_0.distcp", "x").put("step_20/actor/dist_ckpt/.metadata", "x");
    EXPECT_TRUE(recognized(DcpLayout(), source)); // they lack a step
}

TEST(DcpGroup, TheNewerOfTwoFoldersWithOneNumberCounts)
{
    Source source;
    source.put("step_10/__0_0.distcp", "x").put("checkpoint-10/__0_0.distcp", "x");
    const VersionObjects version = onlyVersion(DcpLayout(), source);
    EXPECT_EQ(version.name, "checkpoint-10");
    EXPECT_EQ(countNotes(version.notes, Code::Fork), 1U);
}

TEST(DcpGroup, NotesUnfinishedFoldersAtTheNewestVersion)
{
    Source source;
    for (const char* folder : { "step-1/", "step-2/", "step-3/", "step_2/" })
        source.put(std::string(folder) + "__0_0.distcp", "x");
    EXPECT_EQ(DcpLayout().group(source.listing()).size(), 3U);
    source.put("step-1/.metadata", "x").put("step-2/.metadata", "x");
    const auto versions = DcpLayout().group(source.listing());
    EXPECT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 1, 2 }));
    EXPECT_TRUE(versions[0].notes.empty());
    ASSERT_EQ(countNotes(versions[1].notes, Code::Unfinished), 2U);
    EXPECT_EQ(versions[1].notes[0].where, "step_2");
    EXPECT_EQ(versions[1].notes[1].where, "step-3");
    EXPECT_EQ(versions[1].notes[1].step, 3);
    EXPECT_EQ(versions[1].name, "step-2");
}

TEST(DcpGroup, AFileBesideAFolderMarksItAsUnfinished)
{
    Source source;
    for (const char* step : { "step=10/weights/", "step=20/weights/" })
        source.put(std::string(step) + "__0_0.distcp", "x").put(std::string(step) + ".metadata", "x");
    EXPECT_EQ(stepsOf(DcpLayout().group(source.listing())), (std::vector<std::int64_t> { 10, 20 }));
    source.put("step=20-unfinished", "");
    const auto versions = DcpLayout().group(source.listing());
    ASSERT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 10 }));
    ASSERT_EQ(countNotes(versions[0].notes, Code::Unfinished), 1U);
    EXPECT_EQ(versions[0].notes[0].step, 20);
    Source alone;
    alone.put("step=20/__0_0.distcp", "x").put("step=20/.metadata", "x").put("step=20-unfinished", "");
    EXPECT_EQ(errorOf(indexOnly(DcpLayout(), alone)).code, Code::Unfinished);
}

TEST(DcpGroup, OtherCheckpointsAreNotOurs)
{
    Source source;
    source.put("checkpoint-1/model.safetensors", "x").put("checkpoint-2/optimizer_0/__0_0.distcp", "x");
    EXPECT_FALSE(recognized(DcpLayout(), source));
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

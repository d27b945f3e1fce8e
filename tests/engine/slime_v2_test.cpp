#include "format/slime_v2/slime_v2_layout.h"

#include "worked_examples.h"

#include <zstd.h>

namespace deltascope {
namespace {

using namespace layout_test;

const std::string Folder = "weight_v000001/";
const std::string DataFile = "model-00000-of-00001.safetensors";

std::string compress(const std::string& payload)
{
    std::string frame(ZSTD_compressBound(payload.size()), '\0');
    frame.resize(ZSTD_compress(frame.data(), frame.size(), payload.data(), payload.size(), 1));
    return frame;
}

/// A frame without content size in its header.
std::string compressStreamed(const std::string& payload)
{
    ZSTD_CCtx* context = ZSTD_createCCtx();
    ZSTD_CCtx_setParameter(context, ZSTD_c_contentSizeFlag, 0);
    std::string frame(ZSTD_compressBound(payload.size()), '\0');
    frame.resize(ZSTD_compress2(context, frame.data(), frame.size(), payload.data(), payload.size()));
    ZSTD_freeCCtx(context);
    return frame;
}

std::string overwritePayload(std::uint32_t count, const std::vector<std::uint32_t>& positions,
                             const std::string& values)
{
    std::string payload(4 + 4 * positions.size(), '\0');
    storeLe<std::uint32_t>(writable(payload), 0, count);
    for (std::size_t i = 0; i < positions.size(); ++i)
        storeLe<std::uint32_t>(writable(payload), 4 + 4 * i, positions[i]);
    return payload + values;
}

/// The metadata of an index; empty values are left out.
struct IndexMeta {
    Json version = "000001";
    Json base = "000000";
    std::string encoding = "xor";
    std::string compression = "zstd";
    std::string checksum = "xxh3-128";
};

std::string indexText(const Json& weightMap, const IndexMeta& meta = {})
{
    Json metadata = { { "version", meta.version }, { "base_version", meta.base } };
    if (!meta.encoding.empty())
        metadata["delta_encoding"] = meta.encoding;
    if (!meta.compression.empty())
        metadata["compression_format"] = meta.compression;
    if (!meta.checksum.empty())
        metadata["checksum_format"] = meta.checksum;
    return Json { { "metadata", metadata }, { "weight_map", weightMap } }.dump();
}

FileTensor bytesTensor(const std::string& name, const std::string& data)
{
    return { tensor(name, { data.size() }, Dtype::U8), data };
}

std::string dataFile(const std::string& frame, const Metadata& digests = { { "model.w", SlimeDigest } })
{
    return safetensorsFile({ bytesTensor("model.w", frame) }, digests);
}

void fill(Source& source, const std::string& file, const IndexMeta& meta = {})
{
    source.put(Folder + DataFile, file);
    source.put(Folder + "model.safetensors.index.json", indexText({ { "model.w", DataFile } }, meta));
}

Result<PatchCounts> apply(const std::string& frame, const std::string& encoding, std::string& state,
                          std::uint64_t blockBytes = 0, StreamOptions options = {})
{
    Source source;
    IndexMeta meta;
    meta.encoding = encoding;
    fill(source, dataFile(frame), meta);
    return applyOnly(SlimeV2Layout(), source, tensor("model.w", { state.size() / 2 }), state, blockBytes, options);
}

Error refusal(const std::string& frame, const std::string& encoding, std::uint64_t blockBytes = 0)
{
    std::string state = SlimeBefore;
    return errorOf(apply(frame, encoding, state, blockBytes));
}

Result<VersionIndex> indexOf(const std::string& file, const IndexMeta& meta = {})
{
    Source source;
    fill(source, file, meta);
    return indexOnly(SlimeV2Layout(), source);
}

Result<VersionIndex> indexOfText(const std::string& text)
{
    Source source;
    source.put(Folder + DataFile, dataFile(SlimeFrame)).put(Folder + "model.safetensors.index.json", text);
    return indexOnly(SlimeV2Layout(), source);
}

TEST(SlimeV2Xor, ExampleOfTheFormatPage)
{
    const std::string file = rawFile(
        R"({"__metadata__":{"model.w":"6d901f9af17229db9d11d7952aaacce0"},"model.w":{"dtype":"U8","shape":[25],"data_offsets":[0,25]}})",
        5, SlimeFrame);
    ASSERT_EQ(file.size(), 161U);
    for (const std::uint64_t blockBytes : { 2U, 6U, 16U }) {
        Source source;
        fill(source, file);
        std::string state = SlimeBefore;
        const auto counts = applyOnly(SlimeV2Layout(), source, tensor("model.w"), state, blockBytes);
        ASSERT_TRUE(counts) << counts.error().text;
        EXPECT_EQ(*counts, countsOf(0, 0, 2));
        EXPECT_EQ(hexOf(state), hexOf(SlimeAfter));
    }
}

TEST(SlimeV2Xor, CompressedBlocksAndSmallBuffers)
{
    std::string mask(300'000, '\0');
    std::string expected(mask.size(), 'x');
    for (std::size_t i = 0; i < mask.size(); i += 97) {
        mask[i] = static_cast<char>(i);
        expected[i] = static_cast<char>('x' ^ mask[i]);
    }
    for (const std::string& frame : { compress(mask), compressStreamed(mask) }) {
        for (const std::uint64_t buffer : { 1U, 1000U, 65536U }) {
            std::string state(mask.size(), 'x');
            const auto counts = apply(frame, "xor", state, 0, { &test::anyTask(), buffer, {} });
            ASSERT_TRUE(counts) << counts.error().text;
            EXPECT_TRUE(state == expected);
        }
    }
}

TEST(SlimeV2Xor, EmptyTensor)
{
    std::string state;
    EXPECT_TRUE(apply(compress(""), "xor", state));
    EXPECT_EQ(errorOf(apply(compress("ab"), "xor", state)).code, Code::Malformed);
}

TEST(SlimeV2Xor, RefusesOneByteMoreOrLess)
{
    for (const std::string& mask : { std::string(15, '\0'), std::string(17, '\0'), std::string() }) {
        EXPECT_EQ(refusal(compress(mask), "xor").code, Code::Malformed);
        EXPECT_EQ(refusal(compressStreamed(mask), "xor", 4).code, Code::Malformed);
    }
}

TEST(SlimeV2Xor, RefusesAnythingButOneWholeFrame)
{
    EXPECT_EQ(refusal(SlimeFrame.substr(0, SlimeFrame.size() - 1), "xor").code, Code::Malformed);
    EXPECT_EQ(refusal(SlimeFrame + 'x', "xor").code, Code::Malformed);
    EXPECT_EQ(refusal(SlimeFrame + SlimeFrame, "xor").code, Code::Malformed);
    EXPECT_EQ(refusal("", "xor").code, Code::Malformed);
    EXPECT_EQ(refusal("abc", "xor").code, Code::Malformed);
    EXPECT_EQ(refusal(std::string(16, '\0'), "xor").code, Code::Malformed);
    EXPECT_EQ(refusal(fromHex("50 2a 4d 18 00 00 00 00") + SlimeFrame, "xor").code,
              Code::Malformed); // a skippable frame in front
    std::string damaged = SlimeFrame;
    damaged[6] = '\x07'; // a reserved block type
    EXPECT_EQ(refusal(damaged, "xor").code, Code::Malformed);
}

TEST(SlimeV2Xor, RefusesLargeWindows)
{
    // window descriptor b0: 2^32 bytes; 70: 2^24
    EXPECT_EQ(refusal(fromHex("28b52ffd 00 b0 010000"), "xor").code, Code::Unsupported);
    EXPECT_EQ(refusal(fromHex("28b52ffd 00 70 010000"), "xor").code, Code::Unsupported);
}

TEST(SlimeV2Streams, TellTheMemoryThatTheirWindowsTake)
{
    const auto working = [](const std::string& frame, const std::string& encoding) -> Result<std::uint64_t> {
        Source source;
        IndexMeta meta;
        meta.encoding = encoding;
        fill(source, dataFile(frame), meta);
        const SlimeV2Layout layout;
        const VersionObjects version = onlyVersion(layout, source);
        DS_TRY(const VersionIndex read, layout.index(source.store(), version, source.task));
        DS_TRY(const auto stream,
               layout.open(source.store(), version, read, read.tensors[0], tensor("model.w", { 8 }),
                           { &test::anyTask(), 64 * 1024, {} }));
        return stream->workingBytes();
    };
    const std::uint64_t small = *working(SlimeFrame, "xor");
    EXPECT_LT(small, 1U << 20);
    EXPECT_EQ(*working(SlimeFrame, "overwrite"), 2 * small); // positions and values each have a decompressor
    const std::string wide = fromHex("28b52ffd 00 58 010000"); // 2^21 bytes
    const std::string wider = fromHex("28b52ffd 00 59 010000"); // and an eighth
    EXPECT_EQ(*working(wider, "xor") - *working(wide, "xor"), (1U << 21) / 8);
    EXPECT_GT(*working(wide, "xor"), 1U << 21);
    EXPECT_EQ(errorOf(working("no frame at all", "xor")).code, Code::Malformed);
}

TEST(SlimeV2Xor, AStreamMayStartLater)
{
    for (const std::string encoding : { "xor", "overwrite" }) {
        Source source;
        IndexMeta meta;
        meta.encoding = encoding;
        fill(source, dataFile(encoding == "xor" ? SlimeFrame : compress(overwritePayload(2, { 2, 12 }, "\x01\xe1"))),
             meta);
        const SlimeV2Layout layout;
        const VersionObjects version = onlyVersion(layout, source);
        const auto read = layout.index(source.store(), version, source.task);
        const auto stream = layout.open(source.store(), version, *read, read->tensors[0], tensor("model.w"),
                                        { &test::anyTask(), 64 * 1024, {} });
        const auto piece = (*stream)->next(10, 16);
        ASSERT_TRUE(piece) << piece.error().text;
        std::string block = SlimeBefore.substr(10);
        EXPECT_EQ(test::applyPiece(*piece, writable(block), Dtype::BF16).changed, 1U);
        EXPECT_EQ(hexOf(block), hexOf(SlimeAfter.substr(10)));
        EXPECT_TRUE((*stream)->finish());
        EXPECT_EQ(errorOf((*stream)->next(0, 4)).code, Code::Internal);
    }
}

TEST(SlimeV2Overwrite, ExampleOfTheFormatPage)
{
    const std::string frame = fromHex("28b52ffd200e71000002000000020000000c00000001e1");
    for (const std::uint64_t blockBytes : { 2U, 6U, 16U }) {
        std::string state = SlimeBefore;
        const auto counts = apply(frame, "overwrite", state, blockBytes);
        ASSERT_TRUE(counts) << counts.error().text;
        EXPECT_EQ(*counts, countsOf(2, 0, 2));
        EXPECT_EQ(hexOf(state), hexOf(SlimeAfter));
        const auto again = apply(frame, "overwrite", state, blockBytes);
        ASSERT_TRUE(again);
        EXPECT_EQ(*again, countsOf(2, 2, 0));
    }
}

TEST(SlimeV2Overwrite, ManyPositionsWithSmallBuffers)
{
    std::vector<std::uint32_t> positions;
    std::string values;
    std::string expected(200'000, 'x');
    for (std::uint32_t position = 1; position < expected.size(); position += 1 + position % 5) {
        positions.push_back(position);
        values += static_cast<char>(position * 7);
        expected[position] = values.back();
    }
    const std::string frame =
        compress(overwritePayload(static_cast<std::uint32_t>(positions.size()), positions, values));
    for (const std::uint64_t blockBytes : { 1000U, 131072U }) {
        for (const std::uint64_t buffer : { 1U, 65536U }) {
            std::string state(expected.size(), 'x');
            const auto counts = apply(frame, "overwrite", state, blockBytes, { &test::anyTask(), buffer, {} });
            ASSERT_TRUE(counts) << counts.error().text;
            EXPECT_EQ(counts->assigned, positions.size());
            EXPECT_TRUE(state == expected);
        }
    }
}

TEST(SlimeV2Overwrite, NoPositionsAtAll)
{
    std::string state = SlimeBefore;
    EXPECT_EQ(*apply(compress(overwritePayload(0, {}, "")), "overwrite", state), PatchCounts());
    std::string empty;
    EXPECT_TRUE(apply(compress(overwritePayload(0, {}, "")), "overwrite", empty));
}

TEST(SlimeV2Overwrite, RefusesWhatBreaksItsRules)
{
    const auto code = [](const std::string& payload) { return refusal(compress(payload), "overwrite", 4).code; };
    EXPECT_EQ(code(overwritePayload(3, { 2, 12 }, "\x01\xe1")), Code::Malformed); // count too large for the payload
    EXPECT_EQ(code(overwritePayload(1, { 2, 12 }, "\x01\xe1")), Code::Malformed); // too small
    EXPECT_EQ(code(overwritePayload(17, { 2, 12 }, "\x01\xe1")), Code::Malformed); // more than bytes in the tensor
    EXPECT_EQ(code(overwritePayload(0xffffffff, {}, "")), Code::Malformed);
    EXPECT_EQ(code(overwritePayload(2, { 2, 16 }, "\x01\xe1")), Code::Malformed); // behind the end
    EXPECT_EQ(code(overwritePayload(2, { 2, 2 }, "\x01\xe1")), Code::Malformed);
    EXPECT_EQ(code(overwritePayload(2, { 12, 2 }, "\x01\xe1")), Code::Malformed);
    EXPECT_EQ(code(overwritePayload(2, { 2, 12 }, "\x01")), Code::Malformed);
    EXPECT_EQ(code(overwritePayload(2, { 2, 12 }, "\x01\xe1z")), Code::Malformed);
    EXPECT_EQ(code("ab"), Code::Malformed);
    EXPECT_EQ(code(""), Code::Malformed);
}

TEST(SlimeV2Index, ReadsADelta)
{
    const auto index = indexOf(dataFile(SlimeFrame));
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_FALSE(index->full);
    EXPECT_EQ(index->declaredBase, 0);
    EXPECT_EQ(index->encoding, "xor");
    EXPECT_EQ(index->digests, DigestAlgorithm::Xxh3_128);
    EXPECT_FALSE(index->countsKnown());
    EXPECT_TRUE(index->notes.empty());
    ASSERT_EQ(index->tensors.size(), 1U);
    EXPECT_EQ(index->tensors[0].digest.view(), SlimeDigest);
    EXPECT_FALSE(index->tensors[0].info());
}

TEST(SlimeV2Index, VersionsMayBeNumbers)
{
    IndexMeta meta;
    meta.version = 1;
    meta.base = 0;
    const auto index = indexOf(dataFile(SlimeFrame), meta);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->declaredBase, 0);
    EXPECT_TRUE(index->notes.empty());
}

TEST(SlimeV2Index, AnEmptyMapIsAnEmptyDelta)
{
    Source source;
    source.put(Folder + "model.safetensors.index.json", indexText(Json::object()));
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_FALSE(index->full);
    EXPECT_TRUE(index->tensors.empty());
}

TEST(SlimeV2Index, WithoutItsIndexAVersionIsUnfinished)
{
    Source source;
    source.put(Folder + DataFile, dataFile(SlimeFrame)).put(Folder + "model.safetensors.index.json.tmp", "{");
    const VersionObjects version = onlyVersion(SlimeV2Layout(), source);
    EXPECT_EQ(keysOf(version), std::vector<std::string> { Folder + DataFile });
    const Error error = errorOf(indexOnly(SlimeV2Layout(), source));
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_NE(error.text.find("never read as a full checkpoint"), std::string::npos);
}

TEST(SlimeV2Index, ATornIndexIsUnfinished)
{
    const std::string whole = indexText({ { "model.w", DataFile } });
    for (const std::size_t length : { std::size_t { 0 }, std::size_t { 1 }, whole.size() / 2, whole.size() - 1 })
        EXPECT_EQ(errorOf(indexOfText(whole.substr(0, length))).code, Code::Unfinished) << length;
    EXPECT_EQ(errorOf(indexOfText(std::string(64, '\0'))).code, Code::Unfinished);
}

TEST(SlimeV2Index, AMissingDataFileIsNamed)
{
    const Error error =
        errorOf(indexOfText(indexText({ { "model.w", DataFile }, { "model.v", "delta.safetensors" } })));
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_EQ(error.where, Folder + "delta.safetensors");
}

TEST(SlimeV2Index, RefusesAMapThatDoesNotFitTheFiles)
{
    EXPECT_EQ(errorOf(indexOfText(indexText({ { "model.w", DataFile }, { "model.v", DataFile } }))).code,
              Code::Malformed);
    EXPECT_EQ(errorOf(indexOfText(indexText({ { "model.v", DataFile } }))).code, Code::Malformed);
}

TEST(SlimeV2Index, RefusesUnsafeNamesAndOddJson)
{
    for (const char* name : { "../x", "..", "/etc/passwd" })
        EXPECT_EQ(errorOf(indexOfText(indexText({ { "model.w", name } }))).code, Code::Hostile) << name;
    for (const char* name : { "a/b", "", ".", "a\\b", "a b", "C:x" })
        EXPECT_EQ(errorOf(indexOfText(indexText({ { "model.w", name } }))).code, Code::Malformed) << name;
    EXPECT_EQ(errorOf(indexOfText(indexText({ { "model.w", std::string(256, 'a') } }))).code, Code::Malformed);
    for (const char* text : {
             R"([])",
             R"(7)",
             R"({})",
             R"({"metadata":{"version":"1","delta_encoding":"xor"}})",
             R"({"metadata":[],"weight_map":{}})",
             R"({"metadata":{},"weight_map":[]})",
             R"({"weight_map":{}})",
             R"({"metadata":{"delta_encoding":"xor"},"weight_map":{"a":1}})",
             R"({"metadata":{"delta_encoding":"xor"},"weight_map":{"a":{"b":"c"}}})",
         })
        EXPECT_EQ(errorOf(indexOfText(text)).code, Code::Malformed) << text;
    for (const char* text : {
             R"({"metadata":{"delta_encoding":"xor"},"weight_map":{"a":"b","a":"b"}})",
             R"({"metadata":{"delta_encoding":"xor"},"weight_map":{"a":"b","c":"b","\u0061":"d"}})",
             R"({"metadata":{"delta_encoding":"xor"},"weight_map":{"c":"b","a":"b","c":"b"}})",
             R"({"metadata":{"delta_encoding":"xor","delta_encoding":"xor"},"weight_map":{}})",
             R"({"metadata":{"delta_encoding":"xor"},"weight_map":{},"weight_map":{}})",
             R"({"metadata":{"x":{"y":{"z":{}}}},"weight_map":{}})",
         })
        EXPECT_EQ(errorOf(indexOfText(text)).code, Code::Hostile) << text;
}

TEST(SlimeV2Index, RefusesEntriesThatAreNoBytes)
{
    EXPECT_EQ(errorOf(indexOf(safetensorsFile({ { tensor("model.w"), SlimeBefore } }))).code, Code::Malformed);
    EXPECT_EQ(errorOf(indexOf(safetensorsFile({ { tensor("model.w", { 1, 25 }, Dtype::U8), SlimeFrame } }))).code,
              Code::Malformed);
}

TEST(SlimeV2Index, RefusesABaseThatIsNotOlder)
{
    IndexMeta meta;
    meta.base = "000001";
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), meta)).code, Code::Malformed);
}

TEST(SlimeV2Index, RefusesWhatItCannotDecode)
{
    IndexMeta compression;
    compression.compression = "lz4";
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), compression)).code, Code::Unsupported);
    compression.compression.clear();
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), compression)).code, Code::Unsupported);
    IndexMeta encoding;
    encoding.encoding = "add";
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), encoding)).code, Code::Unsupported);
    IndexMeta checksum;
    checksum.checksum = "crc32";
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), checksum)).code, Code::Unsupported);
}

TEST(SlimeV2Index, ReportsContradictionsAndMissingDigests)
{
    IndexMeta meta;
    meta.version = "000002";
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), meta)).code, Code::Malformed); // another version in its place

    const auto noDigest = indexOf(dataFile(SlimeFrame, {}));
    ASSERT_TRUE(noDigest);
    EXPECT_EQ(countNotes(noDigest->notes, Code::Claim), 1U);
    EXPECT_EQ(noDigest->tensors[0].digest.view(), "");

    IndexMeta noChecksum;
    noChecksum.checksum.clear();
    const auto without = indexOf(dataFile(SlimeFrame), noChecksum);
    ASSERT_TRUE(without);
    EXPECT_EQ(without->digests, DigestAlgorithm::None);
    EXPECT_EQ(countNotes(without->notes, Code::Claim), 1U);
}

TEST(SlimeV2Index, RefusesDigestsThatAreNone)
{
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame, { { "model.w", SlimeDigest.substr(1) } }))).code, Code::Malformed);
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame, { { "model.w", "x" + SlimeDigest.substr(1) } }))).code,
              Code::Malformed);
    IndexMeta meta;
    meta.checksum = "adler32";
    EXPECT_EQ(errorOf(indexOf(dataFile(SlimeFrame), meta)).code, Code::Malformed);
    EXPECT_TRUE(indexOf(dataFile(SlimeFrame, { { "model.w", "2d140583" } }), meta));
}

TEST(SlimeV2Index, TensorsMayBeNamedInAnyOrderAndInAnyFile)
{
    const std::string other(SlimeDigest.size(), '0');
    Source source;
    source.put(Folder + "a.safetensors",
               safetensorsFile({ bytesTensor("model.z", "1"), bytesTensor("model.b", "22") },
                               { { "model.z", SlimeDigest }, { "model.b", other } }));
    source.put(Folder + "b.safetensors",
               safetensorsFile({ bytesTensor("model.c", "333"), bytesTensor("model.a", "4444") },
                               { { "model.a", other }, { "model.c", SlimeDigest } }));
    std::string text = indexText(Json::object());
    const std::string_view empty = R"("weight_map":{})";
    text.replace(text.find(empty), empty.size(),
                 R"("weight_map":{"model.z":"a.safetensors","model.a":"b.safetensors","model.c":"b.safetensors",)"
                 R"("model.b":"a.safetensors"})");
    source.put(Folder + "model.safetensors.index.json", text);
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index) << index.error().text;
    std::string seen;
    for (const TensorEntry& entry : index->tensors)
        seen += fmt::format("{} {} {} {}\n", entry.name(), entry.extents[0].object, entry.extents[0].bytes,
                            entry.digest.view() == other);
    EXPECT_EQ(seen, "model.a 1 4 true\nmodel.b 0 2 true\nmodel.c 1 3 false\nmodel.z 0 1 false\n");
    EXPECT_TRUE(index->notes.empty());
}

TEST(SlimeV2Index, OneNameInTwoFilesIsReadOnceAndReported)
{
    Source source;
    source.put(Folder + "a.safetensors", dataFile(SlimeFrame));
    source.put(Folder + "b.safetensors",
               safetensorsFile({ bytesTensor("model.v", SlimeFrame), bytesTensor("model.w", SlimeFrame) },
                               { { "model.v", SlimeDigest }, { "model.w", SlimeDigest } }));
    source.put(Folder + "model.safetensors.index.json",
               indexText({ { "model.w", "a.safetensors" }, { "model.v", "b.safetensors" } }));
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(countNotes(index->notes, Code::DuplicateName), 1U);
    EXPECT_EQ(index->tensors.size(), 2U);
    EXPECT_EQ(index->find("model.w")->extents[0].object, 0U);
}

TEST(SlimeV2Index, ADataFileOutsideTheMapIsReported)
{
    Source source;
    fill(source, dataFile(SlimeFrame));
    source.put(Folder + "stray.safetensors", "whatever");
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index);
    EXPECT_EQ(countNotes(index->notes, Code::Stray), 1U);
}

TEST(SlimeV2Index, ATensorOutsideTheMapIsMissing)
{
    Source source;
    fill(source, dataFile(SlimeFrame));
    source.put(Folder + "stray.safetensors", safetensorsFile({ bytesTensor("model.other", SlimeFrame) }));
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index);
    EXPECT_EQ(countNotes(index->notes, Code::MissingTensor), 1U);
    EXPECT_EQ(countNotes(index->notes, Code::Stray), 0U);
}

TEST(SlimeV2Index, AnIndexWithoutDeltaEncodingIsAFullVersion)
{
    Source source;
    source.put(Folder + "model-00001-of-00001.safetensors", safetensorsFile({ { tensor("model.w"), SlimeBefore } }));
    source.put(Folder + "model.safetensors.index.json",
               R"({"metadata":{"total_size":16},"weight_map":{"model.w":"model-00001-of-00001.safetensors"}})");
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_TRUE(index->full);
    std::string state(16, '\0');
    ASSERT_TRUE(applyOnly(SlimeV2Layout(), source, tensor("model.w"), state));
    EXPECT_EQ(hexOf(state), hexOf(SlimeBefore));
}

TEST(SlimeV2Index, OneLoneFileIsAFullVersionToo)
{
    Source source;
    source.put(Folder + "model.safetensors", safetensorsFile({ { tensor("model.w"), SlimeBefore } }));
    const auto index = indexOnly(SlimeV2Layout(), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_TRUE(index->full);
    source.put(Folder + "other.safetensors", "x");
    EXPECT_EQ(errorOf(indexOnly(SlimeV2Layout(), source)).code, Code::Unfinished);
}

TEST(SlimeV2Group, TakesVersionFoldersAndNothingElse)
{
    Source source;
    for (const char* key :
         { "run/weight_v000002/b", "run/weight_v000002/a", "run/weight_v000002/a.tmp", "run/weight_v000002/sub/c",
           "run/weight_v000010/x", "run/weight_v1000000/x", "run/weight_v0000003/x", "run/weight_v00004/x",
           "run/latest", "run/.weight_sync/state.json", "run/weight_v000005/only.tmp", "weight_v000006",
           "run/.deltascope/weight_v000007/x", "run/deep/weight_v000008/x" })
        source.put(key, "x");
    const auto versions = SlimeV2Layout().group(source.listing());
    EXPECT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 2, 10, 1000000 }));
    EXPECT_EQ(versions[0].name, "run/weight_v000002");
    EXPECT_EQ(keysOf(versions[0]), (std::vector<std::string> { "run/weight_v000002/a", "run/weight_v000002/b" }));
}

TEST(SlimeV2Recognition, NeedsOneDelta)
{
    const SlimeV2Layout layout;
    Source source;
    source.put("D/latest", "").put("D/weight_v000001/model.safetensors.index.json", "{");
    source.put("D/weight_v000002/model.safetensors.index.json", R"({"metadata":{},"weight_map":{}})");
    EXPECT_FALSE(recognized(layout, source));
    source.put("D/weight_v000003/model.safetensors.index.json", indexText(Json::object()));
    EXPECT_TRUE(recognized(layout, source));
}

TEST(SlimeV2Recognition, LeavesTheModelExpressFlavorAlone)
{
    IndexMeta meta;
    meta.version = "v1";
    meta.checksum = "adler32";
    Source source;
    source.put("weight_v000001/model.safetensors.index.json", indexText(Json::object(), meta));
    EXPECT_FALSE(recognized(SlimeV2Layout(), source));
}

class SlimeV2Golden : public testing::TestWithParam<const char*> { };

TEST_P(SlimeV2Golden, ReplayEqualsTheTrainer)
{
    Golden golden(GetParam());
    const SlimeV2Layout layout;
    const LayoutRegistry layouts = builtinLayouts();
    ASSERT_TRUE(*layout.recognizes(*golden.store, golden.listing, golden.task));

    const auto base = openLocalStore(golden.folder + "/base");
    ASSERT_TRUE(base);
    const std::shared_ptr<const Layout> hf = layouts.find("hf");
    const auto baseVersions = hf->group(*listAll(**base, "", golden.task));
    ASSERT_EQ(baseVersions.size(), 1U);
    const auto baseIndex = hf->index(**base, baseVersions[0], golden.task);
    ASSERT_TRUE(baseIndex) << baseIndex.error().text;
    ModelState state;
    PatchCounts counts;
    ASSERT_TRUE(state.apply(*hf, **base, baseVersions[0], *baseIndex, counts));

    const std::string name = GetParam();
    for (const VersionObjects& version : layout.group(golden.listing)) {
        const Json* step = golden.step(version.step);
        ASSERT_NE(step, nullptr);
        if ((*step)["restorable"] == true) { // the others may count leftovers of an interrupted write
            EXPECT_EQ(version.wireBytes(), (*step)["wire_bytes"]);
            EXPECT_EQ(Json(keysOf(version)), (*step)["objects"]);
        }
        const auto index = layout.index(*golden.store, version, golden.task);
        if (!index) {
            EXPECT_EQ(name, "slime-v2-noindex");
            EXPECT_EQ(index.error().code, Code::Unfinished);
            break;
        }
        EXPECT_EQ(index->declaredBase, version.step - 1);
        EXPECT_EQ(countNotes(index->notes, Code::DuplicateName), name == "slime-v2-dup-name" ? 1U : 0U);
        EXPECT_EQ(countNotes(index->notes, Code::Claim), 0U);
        counts = {};
        const auto applied = state.apply(layout, *golden.store, version, *index, counts, 66);
        ASSERT_TRUE(applied) << version.step << ' ' << applied.error().text;
        if (!state.failedDigests.empty()) {
            EXPECT_EQ((*step)["restorable"], false);
            if (name == "slime-v2-wrongbase") {
                EXPECT_EQ(state.failedDigests.size(), 9U);
            } else if (name == "slime-v2-badchecksum") {
                EXPECT_EQ(state.failedDigests, std::vector<std::string> { "model.embed_tokens.weight" });
            } else {
                EXPECT_EQ(name, "slime-v2-gap-in-chain");
            }
            break;
        }
        if ((*step)["restorable"] == false)
            break;
        EXPECT_EQ(counts.changed, (*step)["changed_elems"]) << version.step;
        EXPECT_EQ(counts.noops, 0U);
        state.expectEqual((*step)["tensors"], fmt::format("{} step {}", name, version.step));
    }
}

INSTANTIATE_TEST_SUITE_P(Cases, SlimeV2Golden,
                         testing::Values("slime-v2-xor", "slime-v2-overwrite", "slime-v2-blake3", "slime-v2-adler32",
                                         "slime-v2-dup-name", "slime-v2-noindex", "slime-v2-badchecksum",
                                         "slime-v2-wrongbase", "slime-v2-gap-in-chain"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace deltascope

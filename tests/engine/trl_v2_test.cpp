#include "format/trl/trl_layout.h"

#include "worked_examples.h"

namespace deltascope {
namespace {

using namespace layout_test;

const std::string Values = fromHex("01 c0 81 3e c9 42");

Metadata metadataOf(std::string encoding, std::string sparse = "True", std::string step = "2")
{
    return { { "format", "sparse_weight_patch" },
             { "version", "1" },
             { "sparse", sparse },
             { "model_version", step },
             { "num_changed_params", "1" },
             { "total_changed_elements", sparse == "True" ? "3" : "8" },
             { "total_elements", "8" },
             { "sparsity", "0.625" },
             { "encoding", encoding } };
}

std::string words32(std::initializer_list<std::int64_t> items)
{
    std::string out;
    for (const std::int64_t item : items) {
        std::string word(4, '\0');
        storeLe<std::uint32_t>(writable(word), 0, static_cast<std::uint32_t>(item));
        out += word;
    }
    return out;
}

/// A delta of layer.weight with three values.
std::string deltaFile(const std::string& encoding, Dtype dtype, const std::string& index,
                      const std::string& values = Values)
{
    const std::uint64_t items = index.size() * 8 / bitsOf(dtype);
    return safetensorsFile({ { tensor("layer.weight.idx", { items }, dtype), index },
                             { tensor("layer.weight.val", { values.size() / 2 }), values } },
                           metadataOf(encoding));
}

Result<PatchCounts> apply(const std::string& file, std::string& state, std::uint64_t blockBytes = 0,
                          StreamOptions options = {})
{
    Source source;
    source.put(TrlDeltaKey, file);
    return applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight"), state, blockBytes, options);
}

/// Why a delta with these positions is refused when it is applied.
Error refusal(const std::string& encoding, Dtype dtype, const std::string& index, std::uint64_t blockBytes = 0)
{
    std::string state = TrlBefore;
    return errorOf(apply(deltaFile(encoding, dtype, index), state, blockBytes));
}

Error indexRefusal(const std::string& file)
{
    Source source;
    source.put(TrlDeltaKey, file);
    return errorOf(indexOnly(TrlLayout(TrlV2), source));
}

TEST(TrlV2Delta, RawExampleOfTheFormatPage)
{
    const std::string file = rawFile(
        R"({"__metadata__":{"format":"sparse_weight_patch","version":"1","sparse":"True","model_version":"2","num_changed_params":"1","total_changed_elements":"3","total_elements":"8","sparsity":"0.625","encoding":"raw"},"layer.weight.idx":{"dtype":"I32","shape":[3],"data_offsets":[0,12]},"layer.weight.val":{"dtype":"BF16","shape":[3],"data_offsets":[12,18]}})",
        2, fromHex("01 00 00 00 04 00 00 00 07 00 00 00 01 c0 81 3e c9 42"));
    ASSERT_EQ(file.size(), 378U);
    std::string state = TrlBefore;
    const auto counts = apply(file, state);
    ASSERT_TRUE(counts) << counts.error().text;
    EXPECT_EQ(*counts, countsOf(3, 0, 3));
    EXPECT_EQ(hexOf(state), hexOf(TrlAfter));
    const auto again = apply(file, state);
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, countsOf(3, 3, 0));
}

TEST(TrlV2Delta, GapExampleOfTheFormatPage)
{
    const std::string file = rawFile(
        R"({"__metadata__":{"format":"sparse_weight_patch","version":"1","sparse":"True","model_version":"2","num_changed_params":"1","total_changed_elements":"3","total_elements":"8","sparsity":"0.625","encoding":"gap_delta"},"layer.weight.val":{"dtype":"BF16","shape":[3],"data_offsets":[0,6]},"layer.weight.idx":{"dtype":"U16","shape":[3],"data_offsets":[6,12]}})",
        6, fromHex("01 c0 81 3e c9 42 01 00 02 00 02 00"));
    ASSERT_EQ(file.size(), 380U);
    for (const std::uint64_t blockBytes : { 2U, 6U, 16U }) {
        std::string state = TrlBefore;
        const auto counts = apply(file, state, blockBytes);
        ASSERT_TRUE(counts) << counts.error().text;
        EXPECT_EQ(*counts, countsOf(3, 0, 3));
        EXPECT_EQ(hexOf(state), hexOf(TrlAfter));
    }
}

TEST(TrlV2Delta, WideGapsReachFarPositions)
{
    // positions 0, 65536, 65537, 131074
    const std::string gaps = fromHex("00000000 ffff0000 00000000 00000100");
    const std::string values = fromHex("0100 0200 0300 0400");
    Source source;
    source.put(TrlDeltaKey,
               safetensorsFile({ { tensor("w.idx", { 4 }, Dtype::U32), gaps }, { tensor("w.val", { 4 }), values } },
                               metadataOf("gap_delta")));
    std::string state(131075 * 2, '\0');
    const auto counts = applyOnly(TrlLayout(TrlV2), source, tensor("w", { 131075 }), state);
    ASSERT_TRUE(counts) << counts.error().text;
    EXPECT_EQ(counts->changed, 4U);
    EXPECT_EQ(state[0], 1);
    EXPECT_EQ(state[65536 * 2], 2);
    EXPECT_EQ(state[65537 * 2], 3);
    EXPECT_EQ(state[131074 * 2], 4);
}

TEST(TrlV2Delta, SmallBuffersAndBlocksGiveTheSameResult)
{
    std::string gaps;
    std::string values;
    std::string expected(9000 * 2, '\0');
    std::uint64_t position = 0;
    for (unsigned i = 0; position < 9000; ++i) {
        const unsigned gap = i % 7;
        position += gap;
        if (position >= 9000)
            break;
        gaps += static_cast<char>(gap);
        gaps += '\0';
        values += static_cast<char>(i % 251 + 1);
        values += static_cast<char>(i / 251);
        expected[position * 2] = values[values.size() - 2];
        expected[position * 2 + 1] = values.back();
        ++position;
    }
    const std::uint64_t count = values.size() / 2;
    Source source;
    source.put(
        TrlDeltaKey,
        safetensorsFile({ { tensor("w.val", { count }), values }, { tensor("w.idx", { count }, Dtype::U16), gaps } },
                        metadataOf("gap_delta")));
    for (const std::uint64_t blockBytes : { 2U, 250U, 4096U, 131072U }) {
        for (const std::uint64_t buffer : { 1U, 67U, 65536U }) {
            std::string state(expected.size(), '\0');
            const auto counts = applyOnly(TrlLayout(TrlV2), source, tensor("w", { 9000 }), state, blockBytes,
                                          { &test::anyTask(), buffer, {} });
            ASSERT_TRUE(counts) << counts.error().text;
            EXPECT_EQ(counts->assigned, count);
            EXPECT_TRUE(state == expected) << blockBytes << ' ' << buffer;
        }
    }
}

TEST(TrlV2Delta, AStreamMayStartLater)
{
    for (const auto& [encoding, dtype, index] : { std::tuple("raw", Dtype::I32, words32({ 1, 4, 7 })),
                                                  std::tuple("gap_delta", Dtype::U32, words32({ 1, 2, 2 })) }) {
        Source source;
        source.put(TrlDeltaKey, deltaFile(encoding, dtype, index));
        const TrlLayout layout(TrlV2);
        const VersionObjects version = onlyVersion(layout, source);
        const auto read = layout.index(source.store(), version, source.task);
        ASSERT_TRUE(read);
        const auto stream = layout.open(source.store(), version, *read, read->tensors[0], tensor("layer.weight"),
                                        { &test::anyTask(), 64 * 1024, {} });
        ASSERT_TRUE(stream);
        const auto piece = (*stream)->next(10, 16);
        ASSERT_TRUE(piece) << piece.error().text;
        std::string block = TrlBefore.substr(10);
        EXPECT_EQ(test::applyPiece(*piece, writable(block), Dtype::BF16).changed, 1U);
        EXPECT_EQ(hexOf(block), hexOf(TrlAfter.substr(10)));
        EXPECT_TRUE((*stream)->finish());
    }
}

TEST(TrlV2Delta, RefusesBlocksInAnotherOrder)
{
    Source source;
    source.put(TrlDeltaKey, deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 })));
    const TrlLayout layout(TrlV2);
    const VersionObjects version = onlyVersion(layout, source);
    const auto read = layout.index(source.store(), version, source.task);
    const auto stream = layout.open(source.store(), version, *read, read->tensors[0], tensor("layer.weight"),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE((*stream)->next(0, 8));
    EXPECT_EQ(errorOf((*stream)->next(0, 8)).code, Code::Internal);
}

TEST(TrlV2Delta, RefusesPositionsBehindTheTensor)
{
    for (const std::uint64_t blockBytes : { 2U, 16U }) {
        EXPECT_EQ(refusal("raw", Dtype::I32, words32({ 1, 4, 8 }), blockBytes).code, Code::Malformed);
        EXPECT_EQ(refusal("gap_delta", Dtype::U32, words32({ 1, 2, 3 }), blockBytes).code, Code::Malformed);
        EXPECT_EQ(refusal("gap_delta", Dtype::U16, fromHex("0100 0200 ffff"), blockBytes).code, Code::Malformed);
        EXPECT_EQ(refusal("gap_delta", Dtype::U32, words32({ 1, 0xffffffff, 0 }), blockBytes).code, Code::Malformed);
    }
    EXPECT_EQ(refusal("raw", Dtype::I32, words32({ 1, 4, 8 })).where, TrlDeltaKey);
}

TEST(TrlV2Delta, RefusesPositionsThatDoNotAscend)
{
    EXPECT_EQ(refusal("raw", Dtype::I32, words32({ 1, 1, 7 })).code, Code::Malformed);
    EXPECT_EQ(refusal("raw", Dtype::I32, words32({ 4, 1, 7 })).code, Code::Malformed);
    EXPECT_EQ(refusal("raw", Dtype::I32, words32({ 4, 1, 7 }), 4).code, Code::Malformed);
    EXPECT_EQ(refusal("raw", Dtype::I32, words32({ -1, 1, 7 })).code, Code::Malformed);
}

TEST(TrlV2Delta, FinishFindsWhatIsLeftOver)
{
    Source source;
    source.put(TrlDeltaKey, deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 })));
    const TrlLayout layout(TrlV2);
    const VersionObjects version = onlyVersion(layout, source);
    const auto read = layout.index(source.store(), version, source.task);
    const auto stream = layout.open(source.store(), version, *read, read->tensors[0], tensor("layer.weight"),
                                    { &test::anyTask(), 64 * 1024, {} });
    ASSERT_TRUE((*stream)->next(0, 8));
    EXPECT_EQ(errorOf((*stream)->finish()).code, Code::Malformed);
}

TEST(TrlV2Delta, RefusesATargetOfAnotherTypeOrFewerElements)
{
    Source source;
    source.put(TrlDeltaKey, deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 })));
    std::string state(16, '\0');
    EXPECT_EQ(errorOf(applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight", { 8 }, Dtype::F16), state)).code,
              Code::BaseMismatch);
    std::string two(4, '\0');
    EXPECT_EQ(errorOf(applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight", { 2 }), two)).code,
              Code::BaseMismatch);
}

TEST(TrlV2Delta, NvcompIsCountedButNotDecoded)
{
    const std::string file = safetensorsFile(
        { { tensor("layer.weight.val", { 3 }), Values }, { tensor("layer.weight.idx", { 5 }, Dtype::U8), "abcde" } },
        metadataOf("nvcomp_cascaded"));
    Source source;
    source.put(TrlDeltaKey, file);
    const auto index = indexOnly(TrlLayout(TrlV2), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_EQ(index->encoding, "nvcomp_cascaded");
    EXPECT_EQ(index->storedElements(), 3U);
    std::string state = TrlBefore;
    const Error error = errorOf(applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight"), state));
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_EQ(error.text,
              "unsupported encoding nvcomp_cascaded (index stream is an NVIDIA nvCOMP Cascaded bitstream; a build with "
              "nvCOMP "
              "and a CUDA device is needed)");
}

TEST(TrlV2Delta, AnEncodingOfALaterWriterIsListedButNotDecoded)
{
    Source source;
    source.put(TrlDeltaKey, deltaFile("huffman", Dtype::U8, "abcd"));
    std::string state = TrlBefore;
    EXPECT_TRUE(indexOnly(TrlLayout(TrlV2), source));
    const Error error = errorOf(applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight"), state));
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_NE(error.text.find("huffman"), std::string::npos);
}

TEST(TrlV2Index, ReadsCountsFromShapes)
{
    Source source;
    source.put(TrlDeltaKey, deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 })));
    const auto index = indexOnly(TrlLayout(TrlV2), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_FALSE(index->full);
    EXPECT_EQ(index->encoding, "raw");
    EXPECT_FALSE(index->declaredBase);
    EXPECT_TRUE(index->notes.empty());
    EXPECT_TRUE(index->countsKnown());
    EXPECT_EQ(index->storedElements(), 3U);
    ASSERT_NE(index->find("layer.weight"), nullptr);
    EXPECT_EQ(index->find("layer"), nullptr);
    EXPECT_FALSE(index->find("layer.weight")->info());
}

TEST(TrlV2Index, KindComesFromTheContentNotFromTheFolder)
{
    Source source;
    source.put(TrlDeltaKey,
               safetensorsFile({ { tensor("layer.weight"), TrlBefore } }, metadataOf("gap_delta", "False")));
    const auto index = indexOnly(TrlLayout(TrlV2), source);
    ASSERT_TRUE(index) << index.error().text;
    EXPECT_TRUE(index->full);
    EXPECT_EQ(index->encoding, "");
    EXPECT_EQ(*index->tensors[0].info(), tensor("layer.weight"));
    std::string state(16, '\0');
    const auto counts = applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight"), state, 4);
    ASSERT_TRUE(counts);
    EXPECT_EQ(hexOf(state), hexOf(TrlBefore));
    EXPECT_EQ(errorOf(applyOnly(TrlLayout(TrlV2), source, tensor("layer.weight", { 8 }), state)).code,
              Code::BaseMismatch);
}

TEST(TrlV2Index, ReportsClaimsThatItsContentContradicts)
{
    Metadata metadata = metadataOf("raw", "True", "2");
    metadata["num_changed_params"] = "2";
    metadata["total_changed_elements"] = "4";
    Source source;
    source.put(
        TrlDeltaKey,
        safetensorsFile({ { tensor("w.idx", { 1 }, Dtype::I32), words32({ 0 }) }, { tensor("w.val", { 1 }), "ab" } },
                        metadata));
    const auto index = indexOnly(TrlLayout(TrlV2), source);
    ASSERT_TRUE(index);
    EXPECT_EQ(countNotes(index->notes, Code::Claim), 2U);
}

TEST(TrlV2Index, RefusesAnotherStepInItsPlace)
{
    const Error error = indexRefusal(safetensorsFile({}, metadataOf("raw", "True", "3")));
    EXPECT_EQ(error.code, Code::Malformed);
    EXPECT_NE(error.text.find("calls itself model_version \"3\""), std::string::npos) << error.text;
}

TEST(TrlV2Index, RefusesHalfAPair)
{
    const FileTensor idx { tensor("w.idx", { 1 }, Dtype::I32), words32({ 0 }) };
    const FileTensor val { tensor("w.val", { 1 }), "ab" };
    const FileTensor other { tensor("w", { 1 }), "ab" };
    EXPECT_EQ(indexRefusal(safetensorsFile({ idx }, metadataOf("raw"))).code, Code::Malformed);
    EXPECT_EQ(indexRefusal(safetensorsFile({ val }, metadataOf("raw"))).code, Code::Malformed);
    EXPECT_EQ(indexRefusal(safetensorsFile({ idx, val, other }, metadataOf("raw"))).code, Code::Malformed);
}

TEST(TrlV2Index, RefusesPairsThatDoNotFit)
{
    EXPECT_EQ(indexRefusal(deltaFile("raw", Dtype::I32, words32({ 1, 4 }))).code, Code::Malformed);
    EXPECT_EQ(indexRefusal(deltaFile("raw", Dtype::U16, fromHex("0100 0200 0200"))).code, Code::Malformed);
    EXPECT_EQ(indexRefusal(deltaFile("raw", Dtype::I64, std::string(24, '\0'))).code, Code::Malformed);
    EXPECT_EQ(indexRefusal(deltaFile("gap_delta", Dtype::I32, words32({ 1, 2, 2 }))).code, Code::Malformed);
    EXPECT_EQ(indexRefusal(deltaFile("nvcomp_cascaded", Dtype::U16, fromHex("0100 0200 0200"))).code, Code::Malformed);
    const std::string matrix = safetensorsFile(
        { { tensor("w.idx", { 1, 3 }, Dtype::I32), words32({ 1, 4, 7 }) }, { tensor("w.val", { 3 }), Values } },
        metadataOf("raw"));
    EXPECT_EQ(indexRefusal(matrix).code, Code::Malformed);
}

TEST(TrlV2Index, RefusesAFileThatDoesNotSayItsKind)
{
    Metadata metadata = metadataOf("raw");
    metadata.erase("sparse");
    EXPECT_EQ(indexRefusal(safetensorsFile({}, metadata)).code, Code::Malformed);
    metadata["sparse"] = "1";
    EXPECT_EQ(indexRefusal(safetensorsFile({}, metadata)).code, Code::Malformed);
}

TEST(TrlV2Index, RefusesFilesOfOlderLayoutsAndCutOnes)
{
    Metadata metadata = metadataOf("raw");
    metadata.erase("encoding");
    EXPECT_EQ(indexRefusal(safetensorsFile({}, metadata)).code, Code::Unsupported);
    const std::string whole = deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 }));
    EXPECT_EQ(indexRefusal(whole.substr(0, whole.size() - 1)).code, Code::Truncated);
}

TEST(TrlV2Group, TakesStepFilesOfOneRunOnly)
{
    Source source;
    for (const char* key :
         { "run/anchors/step_000001.safetensors", "run/deltas/step_000002.safetensors",
           "run/deltas/step_1000000.safetensors", "run/deltas/step_0000003.safetensors",
           "run/deltas/step_00004.safetensors", "run/deltas/step_000005.bin", "run/deltas/step_00000x.safetensors",
           "run/other/step_000006.safetensors", "step_000007.safetensors",
           "run/.deltascope/v1/deltas/step_000008.safetensors", "run/deltas/old/step_000009.safetensors",
           "run/deltas/step_99999999999999999999.safetensors", "run/old/deltas/step_000002.safetensors" })
        source.put(key, "x");
    const auto versions = TrlLayout(TrlV2).group(source.listing());
    EXPECT_EQ(stepsOf(versions), (std::vector<std::int64_t> { 1, 2, 1000000 }));
    EXPECT_EQ(versions[1].name, "run/deltas/step_000002.safetensors");
    EXPECT_TRUE(versions[1].notes.empty());
}

TEST(TrlV2Group, AnAnchorBesideADeltaIsAnotherFormOfItsStep)
{
    const std::string anchor = "anchors/step_000002.safetensors";
    for (const bool anchorIsNewer : { false, true }) {
        Source source;
        source.put(anchorIsNewer ? TrlDeltaKey : anchor, "a").put(anchorIsNewer ? anchor : TrlDeltaKey, "b");
        const VersionObjects version = onlyVersion(TrlLayout(TrlV2), source);
        EXPECT_EQ(version.name, TrlDeltaKey);
        ASSERT_EQ(version.otherForms.size(), 1U);
        EXPECT_EQ(version.otherForms[0].name, anchor);
        ASSERT_EQ(version.notes.size(), 1U);
        EXPECT_EQ(version.notes[0].code, Code::Fork);
        EXPECT_EQ(version.notes[0].where, anchor);
    }
}

TEST(TrlV2Recognition, NeedsTheEncodingKey)
{
    Source source;
    source.put(TrlDeltaKey, deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 })));
    EXPECT_TRUE(recognized(TrlLayout(TrlV2), source));

    Metadata older = metadataOf("raw");
    older.erase("encoding");
    Source second;
    second.put(TrlDeltaKey, safetensorsFile({}, older));
    EXPECT_FALSE(recognized(TrlLayout(TrlV2), second));
}

TEST(TrlV2Recognition, LooksBehindBrokenFilesButNotForEver)
{
    Source source;
    for (int i = 1; i <= 7; ++i)
        source.put(fmt::format("deltas/step_{:06}.safetensors", i), "broken");
    source.put("deltas/step_000008.safetensors", deltaFile("raw", Dtype::I32, words32({ 1, 4, 7 })));
    EXPECT_TRUE(recognized(TrlLayout(TrlV2), source));
    source.put("anchors/step_000001.safetensors", "broken");
    EXPECT_FALSE(recognized(TrlLayout(TrlV2), source));
}

TEST(TrlV2Recognition, TakesARunWhoseFirstObjectIsStillOnItsWay)
{
    Source source;
    source.put("anchors/step_000001.safetensors", std::string(64, '\0'));
    EXPECT_TRUE(recognized(TrlLayout(TrlV2), source));
}

class TrlV2Golden : public testing::TestWithParam<const char*> { };

TEST_P(TrlV2Golden, ReplayEqualsTheTrainer)
{
    Golden golden(GetParam());
    const TrlLayout layout(TrlV2);
    ASSERT_TRUE(*layout.recognizes(*golden.store, golden.listing, golden.task));
    ModelState state;
    int compared = 0;
    for (const VersionObjects& version : layout.group(golden.listing)) {
        const Json* step = golden.step(version.step);
        ASSERT_NE(step, nullptr);
        EXPECT_EQ(version.wireBytes(), (*step)["wire_bytes"]);
        EXPECT_EQ(Json(keysOf(version)), (*step)["objects"]);
        const auto index = layout.index(*golden.store, version, golden.task);
        if (!index) {
            EXPECT_EQ(index.error().code, Code::Truncated);
            EXPECT_EQ((*step)["restorable"], false);
            continue;
        }
        EXPECT_EQ(index->full, (*step)["kind"] != "delta");
        EXPECT_TRUE(index->notes.empty());
        PatchCounts counts;
        const auto applied = state.apply(layout, *golden.store, version, *index, counts, 130);
        ASSERT_TRUE(applied) << version.step << ' ' << applied.error().text;
        EXPECT_EQ(index->storedElements(), step->value("file_nnz", index->storedElements()));
        EXPECT_EQ(counts.noops, step->value("noop_elems", counts.noops)) << version.step;
        if ((*step)["restorable"] == false)
            continue;
        if (!index->full) {
            EXPECT_EQ(counts.changed, (*step)["changed_elems"]) << version.step;
        }
        state.expectEqual((*step)["tensors"], fmt::format("{} step {}", GetParam(), version.step));
        ++compared;
    }
    EXPECT_GE(compared, 9);
}

INSTANTIATE_TEST_SUITE_P(Cases, TrlV2Golden,
                         testing::Values("trl-v2-raw", "trl-v2-gap", "trl-v2-gap-in-chain", "trl-v2-empty-step",
                                         "trl-v2-partial-anchor", "trl-v2-truncated", "trl-v2-drift-bf16",
                                         "trl-v2-bitflip"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace deltascope

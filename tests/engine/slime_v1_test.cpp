#include "format/slime_v1/slime_v1_layout.h"

#include "worked_examples.h"

namespace deltascope {
namespace {

using namespace layout_test;

// docs/formats/slime-v1.md, "Worked example": elements 1 and 6 of [2, 4]
const std::string Flush = "weight_v000001/rank0000_flush000000.safetensors";

Json param(std::string_view name, std::uint64_t positionBytes)
{
    return { { "name", name },
             { "dtype", "bfloat16" },
             { "shape", { 2, 4 } },
             { "pos_start", 0 },
             { "pos_end", positionBytes },
             { "pos_width", positionBytes / 2 },
             { "val_start", 0 },
             { "val_end", 2 } };
}

std::string flushFile(const Json& params, std::string_view encoding, const std::string& positions,
                      const std::string& checksum, Dtype values = Dtype::BF16, std::string_view valueHex = "0140 e140")
{
    return safetensorsFile({ { tensor("__values__", { 2 }, values), fromHex(valueHex) },
                             { tensor("__positions__", { positions.size() }, Dtype::U8), positions } },
                           { { "encoding", std::string(encoding) },
                             { "params", params.dump() },
                             { "current_version", "1" },
                             { "checksum", checksum } });
}

std::string indicesFile(const std::string& checksum = "15762598695796743")
{
    return flushFile(Json::array({ param("model.w", 8) }), "indices", fromHex("01000000 06000000"), checksum);
}

TEST(SlimeV1, ReadsTheWorkedExamples)
{
    const SlimeV1Layout layout;
    const std::string gaps =
        flushFile(Json::array({ param("model.w", 4) }), "deltas", fromHex("0100 0400"), "15762598695796741");
    for (const std::string& file : { indicesFile(), gaps }) {
        Source source;
        source.put(Flush, file);
        const VersionObjects version = onlyVersion(layout, source);
        const auto index = layout.index(source.store(), version, source.task);
        ASSERT_TRUE(index) << index.error().text;
        ASSERT_NE(index->tensors.at(0).info(), nullptr);
        EXPECT_EQ(*index->tensors.at(0).info(), tensor("model.w"));
        const auto sound = layout.checkPayload(source.store(), version, *index, source.task);
        EXPECT_TRUE(sound) << sound.error().text;
        std::string state = SlimeBefore;
        const auto counts = applyOnly(layout, source, tensor("model.w"), state, 4);
        ASSERT_TRUE(counts) << counts.error().text;
        EXPECT_EQ(*counts, countsOf(2, 0, 2));
        EXPECT_EQ(hexOf(state), hexOf(SlimeAfter));
    }
}

TEST(SlimeV1, NarrowsValuesThatWereWidened)
{
    Source source;
    source.put(Flush,
               flushFile(Json::array({ param("model.w", 8) }), "indices", fromHex("01000000 06000000"), "", Dtype::F32,
                         "00000140 0000e140"));
    std::string state = SlimeBefore;
    ASSERT_TRUE(applyOnly(SlimeV1Layout(), source, tensor("model.w"), state));
    EXPECT_EQ(hexOf(state), hexOf(SlimeAfter));

    Source lossy;
    lossy.put(Flush,
              flushFile(Json::array({ param("model.w", 8) }), "indices", fromHex("01000000 06000000"), "", Dtype::F32,
                        "01000140 0000e140"));
    EXPECT_EQ(errorOf(applyOnly(SlimeV1Layout(), lossy, tensor("model.w"), state)).code, Code::Malformed);
}

TEST(SlimeV1, ComparesTheChecksum)
{
    const SlimeV1Layout layout;
    Source source;
    source.put(Flush, indicesFile("15762598695796742"));
    const VersionObjects version = onlyVersion(layout, source);
    const auto index = layout.index(source.store(), version, source.task);
    ASSERT_TRUE(index);
    const Error error = errorOf(layout.checkPayload(source.store(), version, *index, source.task));
    EXPECT_EQ(error.code, Code::Digest);
    EXPECT_EQ(error.where, Flush);
}

TEST(SlimeV1, RefusesVersionsThatLackAFlushOrHaveOneTwice)
{
    Source hole;
    hole.put("weight_v000001/rank0000_flush000000.safetensors", indicesFile());
    hole.put("weight_v000001/rank0000_flush000002.safetensors", indicesFile());
    EXPECT_EQ(errorOf(indexOnly(SlimeV1Layout(), hole)).code, Code::Unfinished);

    Source twice;
    twice.put("weight_v000001/rank0000_flush000000.safetensors", indicesFile());
    twice.put("weight_v000001/rank0001_flush000000.safetensors", indicesFile());
    EXPECT_EQ(errorOf(indexOnly(SlimeV1Layout(), twice)).code, Code::DuplicateName);
}

TEST(SlimeV1, RefusesAFileOfAnotherVersion)
{
    Source source;
    source.put("weight_v000002/rank0000_flush000000.safetensors", indicesFile());
    EXPECT_EQ(errorOf(indexOnly(SlimeV1Layout(), source)).code, Code::Malformed);
}

TEST(SlimeV1, ReportsParamsThatDoNotShareOutTheFile)
{
    const auto notesOf = [](const Json& params) {
        Source source;
        source.put(Flush, flushFile(params, "indices", fromHex("01000000 06000000"), ""));
        const auto index = indexOnly(SlimeV1Layout(), source);
        return index ? index->notes : std::vector<Error> { index.error() };
    };
    Json half = param("model.w", 4);
    half["pos_width"] = 4;
    half["val_end"] = 1;
    EXPECT_TRUE(notesOf(Json::array({ param("model.w", 8) })).empty());
    for (const Json& params :
         { Json::array(), Json::array({ half }), Json::array({ param("model.w", 8), param("model.x", 8) }) }) {
        const std::vector<Error> notes = notesOf(params);
        ASSERT_EQ(notes.size(), 1U) << params;
        EXPECT_EQ(notes[0].code, Code::Claim) << notes[0].text;
    }
}

TEST(SlimeV1, RefusesParamsThatDoNotFit)
{
    const auto codeOf = [](const Json& params, std::string_view encoding = "indices") {
        Source source;
        source.put(Flush, flushFile(params, encoding, fromHex("01000000 06000000"), ""));
        return errorOf(indexOnly(SlimeV1Layout(), source)).code;
    };
    const auto with = [](const char* key, Json value) {
        Json changed = param("model.w", 8);
        changed[key] = std::move(value);
        return Json::array({ changed });
    };
    EXPECT_EQ(codeOf(Json::object()), Code::Malformed);
    EXPECT_EQ(codeOf(with("pos_end", 12)), Code::Malformed);
    EXPECT_EQ(codeOf(with("val_end", 3)), Code::Malformed);
    EXPECT_EQ(codeOf(with("val_end", 1)), Code::Malformed);
    EXPECT_EQ(codeOf(with("val_start", -1)), Code::Malformed);
    EXPECT_EQ(codeOf(with("pos_width", 8)), Code::Malformed);
    EXPECT_EQ(codeOf(with("shape", Json::array({ 1ULL << 62, 8 }))), Code::Malformed);
    EXPECT_EQ(codeOf(with("dtype", "bfloat17")), Code::Unsupported);
    EXPECT_EQ(codeOf(with("name", 7)), Code::Malformed);
    EXPECT_EQ(codeOf(Json::array({ param("model.w", 8) }), "runs"), Code::Unsupported);
    EXPECT_EQ(codeOf(Json::array({ param("model.w", 8) }), "deltas_zstd"), Code::Malformed); // not compressed
}

} // namespace
} // namespace deltascope

#include "format/grail/grail_payload.h"

#include "support/any_task.h"
#include "worked_examples.h"

#include <zstd.h>

namespace deltascope {
namespace {

using namespace layout_test;

// docs/formats/grail.md, "Worked example": elements 1, 4 and 7 of [2, 4]
const std::string Values = "01c0 813e c942";

std::string packed(const std::string& content)
{
    std::string out(ZSTD_compressBound(content.size()), '\0');
    out.resize(ZSTD_compress(out.data(), out.size(), content.data(), content.size(), 1));
    return out;
}

std::string payload(std::string_view header, std::string_view dataHex)
{
    std::string content(4, '\0');
    storeLe<std::uint32_t>(writable(content), 0, static_cast<std::uint32_t>(header.size()));
    return packed(content.append(header).append(fromHex(dataHex)));
}

struct PackedDelta {
    explicit PackedDelta(const std::string& bytes)
    {
        source.put("p", bytes);
        auto opened = UnpackedObject::open(source.store(), source.listing().front(), test::anyTask());
        EXPECT_TRUE(opened) << opened.error().text;
        object = std::move(*opened);
    }
    Result<std::vector<TensorEntry>> entries() { return readGrailPayload(*object, 0, test::anyTask()); }
    Result<std::string> apply(std::string state, std::uint64_t blockBytes)
    {
        DS_TRY(const std::vector<TensorEntry> all, entries());
        DS_CHECK(object->unpack({}, test::anyTask()));
        DS_TRY(const std::unique_ptr<PatchStream> stream,
               openGrailEntry(object, all.at(0), *all.at(0).info(), StreamOptions { &test::anyTask(), 64 * 1024, {} }));
        for (std::uint64_t begin = 0; begin < state.size(); begin += blockBytes) {
            const std::uint64_t end = std::min<std::uint64_t>(state.size(), begin + blockBytes);
            DS_TRY(const PatchPiece piece, stream->next(begin, end));
            test::applyPiece(piece, writable(state).subspan(begin, end - begin), Dtype::BF16);
        }
        DS_CHECK(stream->finish());
        return state;
    }

    Source source;
    std::shared_ptr<UnpackedObject> object;
};

std::string header(std::string_view version, std::string_view sizes)
{
    return fmt::format(R"({{"version":{},"tensors":[{{"name":"layer.weight","shape":[2,4],"num_nonzero":3,)"
                       R"("value_dtype":"bfloat16",{}}}]}})",
                       version, sizes);
}

const std::string V2 = R"("indices_offset":0,"indices_size":12,"values_offset":12,"values_size":6)";
const std::string V3 =
    R"("indices_offset":0,"indices_size":24,"rows_size":12,"cols_size":12,"values_offset":24,"values_size":6)";
const std::string V31 = R"("row_dtype":"uint8","col_dtype":"uint16","indices_offset":0,"indices_size":9,)"
                        R"("rows_size":3,"cols_size":6,"values_offset":9,"values_size":6)";

TEST(GrailPayload, ReadsTheWorkedExamplesOfAllCodecs)
{
    for (const std::string& bytes :
         { payload(header("2", V2), "01000000 03000000 03000000" + Values),
           payload(header("3", V3), "00000000 01000000 00000000 01000000 00000000 03000000" + Values),
           payload(header("31", V31), "00 01 00 0100 0000 0300" + Values) }) {
        for (const std::uint64_t blockBytes : { 2, 6, 16 }) {
            PackedDelta example(bytes);
            const auto state = example.apply(TrlBefore, blockBytes);
            ASSERT_TRUE(state) << state.error().text;
            EXPECT_EQ(hexOf(*state), hexOf(TrlAfter));
        }
    }
}

TEST(GrailPayload, SaysNothingChangedInTwoWays)
{
    for (const std::string& content : { std::string(), fromHex("1b000000") + R"({"version":31,"tensors":[]})" }) {
        PackedDelta empty(packed(content));
        const auto entries = empty.entries();
        ASSERT_TRUE(entries) << entries.error().text;
        EXPECT_TRUE(entries->empty());
    }
}

TEST(GrailPayload, RefusesHeadersThatDoNotFit)
{
    const auto codeOf = [](const std::string& bytes) { return errorOf(PackedDelta(bytes).entries()).code; };
    const std::string data = "01000000 03000000 03000000" + Values;
    EXPECT_EQ(codeOf(payload(header("4", V2), data)), Code::Unsupported);
    EXPECT_EQ(codeOf(payload(header("2", V3), data)), Code::Malformed); // sizes of another codec
    EXPECT_EQ(codeOf(payload(header("31", V3), data)), Code::Malformed); // rows and columns lie outside
    EXPECT_EQ(codeOf(payload("{}", "")), Code::Malformed);
    EXPECT_EQ(codeOf(payload(R"({"tensors":[]})", "")), Code::Unsupported);
    EXPECT_EQ(codeOf(packed("ab")), Code::Malformed);
    EXPECT_EQ(codeOf(packed(fromHex("ffffff7f") + "{}")), Code::Hostile); // a header longer than its content
    std::string twice = header("2", V2);
    twice.insert(1, R"("version":2,)");
    EXPECT_EQ(codeOf(payload(twice, data)), Code::Hostile);
    std::string far = header("2", V2);
    far.replace(far.find("\"values_offset\":12"), 18, "\"values_offset\":18446744073709551615");
    EXPECT_EQ(codeOf(payload(far, data)), Code::Malformed);
}

TEST(GrailPayload, RefusesPositionsThatBreakTheRules)
{
    const auto codeOf = [](const std::string& bytes) { return errorOf(PackedDelta(bytes).apply(TrlBefore, 16)).code; };
    EXPECT_EQ(codeOf(payload(header("2", V2), "01000000 03000000 04000000" + Values)),
              Code::Malformed); // behind the end
    EXPECT_EQ(codeOf(payload(header("2", V2), "01000000 00000000 03000000" + Values)), Code::Malformed); // twice
    EXPECT_EQ(codeOf(payload(header("2", V2), "01000000 ffffffff 03000000" + Values)), Code::Malformed); // back
    EXPECT_EQ(codeOf(payload(header("31", V31), "00 01 00 0100 0400 0300" + Values)), Code::Malformed); // column
    EXPECT_EQ(codeOf(payload(header("31", V31), "00 02 00 0100 0000 0300" + Values)), Code::Malformed); // row
}

TEST(UnpackedObject, BelievesNoFrameThatDoesNotKeepItsPromise)
{
    Source source;
    const std::string frame = packed(std::string(1000, 'x'));
    std::string larger = frame;
    ASSERT_EQ(static_cast<unsigned char>(larger[4]) & 0xe0U, 0x60U); // single segment, two bytes of content size
    larger[5] = static_cast<char>(larger[5] + 1);
    source.put("a", "no frame").put("b", larger).put("c", frame.substr(0, frame.size() - 1)).put("d", frame + frame);
    const auto outcome = [&](std::size_t i) -> Result<void> {
        DS_TRY(const std::shared_ptr<UnpackedObject> object,
               UnpackedObject::open(source.store(), source.listing().at(i), test::anyTask()));
        return object->unpack({}, test::anyTask());
    };
    for (std::size_t i = 0; i < 4; ++i)
        EXPECT_EQ(errorOf(outcome(i)).code, Code::Malformed) << i;
}

} // namespace
} // namespace deltascope

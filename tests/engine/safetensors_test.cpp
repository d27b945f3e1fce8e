#include "deltascope/engine/safetensors.h"

#include "support/any_task.h"
#include "support/sanitizer.h"
#include "support/single_object_store.h"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <nlohmann/json.hpp>

namespace deltascope {
namespace {

using Json = nlohmann::json;

/// Parses `json` as the header of a file with `dataBytes` behind it.
Result<SafetensorsHeader> parseWithData(std::string_view json, std::uint64_t dataBytes = 0)
{
    return SafetensorsHeader::parse(asBytes(json), 8 + json.size() + dataBytes);
}

/// The header of one tensor "a" with 16 bytes of data and `entry` as its JSON.
std::string header(std::string_view entry) { return fmt::format(R"({{"a":{}}})", entry); }

/// Why `json` is refused; fails the test if it is not, or with another code.
std::string headerRefusal(std::string_view json, std::uint64_t dataBytes = 16, Code code = Code::Malformed)
{
    const auto parsed = parseWithData(json, dataBytes);
    if (parsed) {
        ADD_FAILURE() << "accepted: " << json;
        return "";
    }
    EXPECT_EQ(parsed.error().code, code) << parsed.error().text;
    return parsed.error().text;
}

/// The same for what no writer makes by accident.
std::string claimRefusalOf(std::string_view json, std::uint64_t dataBytes = 16)
{
    return headerRefusal(json, dataBytes, Code::Hostile);
}

std::string fileOf(std::string_view json, std::string_view data = {})
{
    std::string file(8, '\0');
    storeLe<std::uint64_t>(std::as_writable_bytes(std::span(file)), 0, json.size());
    return file.append(json).append(data);
}

Result<SafetensorsHeader> readFile(std::string_view file, std::uint64_t* readUpTo = nullptr)
{
    const SingleObjectStore store("dir/a.safetensors", asBytes(file));
    auto header = SafetensorsHeader::read(store, store.info(), test::anyTask());
    if (readUpTo)
        *readUpTo = store.readUpTo();
    return header;
}

Error refusalOfFile(std::string_view file)
{
    auto header = readFile(file);
    if (header) {
        ADD_FAILURE() << "accepted";
        return {};
    }
    return header.error();
}

constexpr std::string_view Sound =
    R"({"__metadata__":{"format":"pt"},"model.w":{"dtype":"BF16","shape":[2,4],"data_offsets":[0,16]}})";

// --- What is accepted ------------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, ReadsTensorsAndMetadata)
{
    const auto parsed = parseWithData(Sound, 16);
    ASSERT_TRUE(parsed) << parsed.error().text;
    ASSERT_EQ(parsed->tensors().size(), 1U);
    const StoredTensor& tensor = parsed->tensors().front();
    EXPECT_EQ(tensor.info, (TensorInfo { "model.w", Dtype::BF16, { 2, 4 } }));
    EXPECT_EQ(tensor.begin, 8 + Sound.size());
    EXPECT_EQ(tensor.bytes, 16U);
    EXPECT_EQ(parsed->dataBegin(), 8 + Sound.size());
    EXPECT_EQ(parsed->meta("format"), "pt");
    EXPECT_EQ(parsed->meta("other"), "");
    EXPECT_EQ(parsed->metadata().size(), 1U);
}

TEST(SafetensorsHeader, ListsTensorsInTheOrderOfTheirData)
{
    const auto parsed = parseWithData(R"({"b":{"dtype":"U8","shape":[2],"data_offsets":[5,7]},)"
                                      R"("c":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                                      R"("a":{"dtype":"U8","shape":[4],"data_offsets":[1,5]}})",
                                      7);
    ASSERT_TRUE(parsed) << parsed.error().text;
    std::string order;
    for (const StoredTensor& tensor : parsed->tensors())
        order += tensor.info.name;
    EXPECT_EQ(order, "cab");
    for (const StoredTensor& tensor : parsed->tensors())
        EXPECT_EQ(parsed->find(tensor.info.name), &tensor);
    for (const std::string_view absent : { "", "aa", "0", "d" })
        EXPECT_EQ(parsed->find(absent), nullptr) << absent;
}

TEST(SafetensorsHeader, AcceptsFilesWithoutTensors)
{
    for (const std::string_view json : { "{}", "{}      ", R"({"__metadata__":{}})", R"({"__metadata__":{"":""}})" })
        EXPECT_TRUE(parseWithData(json)) << json;
}

TEST(SafetensorsHeader, AcceptsEmptyTensorsAndScalars)
{
    const auto parsed = parseWithData(R"({"e":{"dtype":"F32","shape":[0,3],"data_offsets":[4,4]},)"
                                      R"("d":{"dtype":"F32","shape":[3,0],"data_offsets":[0,0]},)"
                                      R"("s":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})",
                                      4);
    ASSERT_TRUE(parsed) << parsed.error().text;
    EXPECT_EQ(parsed->tensors()[0].info.name, "d");
    EXPECT_EQ(parsed->find("s")->info.elements(), 1U);
    EXPECT_EQ(parsed->find("e")->bytes, 0U);
}

TEST(SafetensorsHeader, AcceptsAnyNameAsText)
{
    const std::string entry = R"({"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
    for (const std::string name : { "", "../../etc/passwd",
                                    "gr\xc3\xb6\xc3\x9f"
                                    "e",
                                    "\xf0\x9f\x98\x80", "a b" }) {
        const auto parsed = parseWithData(fmt::format(R"({{"{}":{}}})", name, entry));
        ASSERT_TRUE(parsed) << parsed.error().text;
        EXPECT_NE(parsed->find(name), nullptr) << name;
    }
    const auto escaped = parseWithData(R"({"\u00f6\ud83d\ude00\u0000\"":)" + entry + "}");
    ASSERT_TRUE(escaped) << escaped.error().text;
    EXPECT_NE(escaped->find(std::string_view("\xc3\xb6\xf0\x9f\x98\x80\0\"", 8)), nullptr);
}

TEST(SafetensorsHeader, AcceptsEveryDtype)
{
    for (std::size_t i = 0; i <= static_cast<std::size_t>(Dtype::U64); ++i) {
        const auto dtype = static_cast<Dtype>(i);
        const auto parsed = parseWithData(
            header(fmt::format(R"({{"dtype":"{}","shape":[8],"data_offsets":[0,{}]}})", word(dtype), bitsOf(dtype))),
            bitsOf(dtype));
        ASSERT_TRUE(parsed) << word(dtype);
        EXPECT_EQ(parsed->tensors().front().info.dtype, dtype);
    }
}

TEST(SafetensorsHeader, AcceptsFieldsInAnyOrderAndWhiteSpace)
{
    EXPECT_TRUE(
        parseWithData("{ \"a\" :\n{\"data_offsets\": [ 0 , 16 ],\t\"shape\":[2,4],\"dtype\":\"BF16\"}} \r\n ", 16));
}

TEST(SafetensorsHeader, IgnoresUnknownFieldsWhateverTheirValue)
{
    for (const std::string_view value : { "1", "-1", "2.5", "1e5", "true", "null", "\"text\"", "[]", "{}", "[1,[2]]",
                                          R"({"dtype":3,"x":[]})", R"([{"shape":1}])" }) {
        const auto parsed = parseWithData(
            header(fmt::format(
                R"({{"x":{0},"dtype":"BF16","y":{0},"shape":[2,4],"z":{0},"data_offsets":[0,16],"w":{0}}})", value)),
            16);
        EXPECT_TRUE(parsed) << value << ": " << parsed.error().text;
    }
}

TEST(SafetensorsHeader, AcceptsUnalignedData)
{
    EXPECT_TRUE(parseWithData(R"({"b":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},)"
                              R"("w":{"dtype":"F64","shape":[1],"data_offsets":[1,9]}})",
                              9));
}

// --- Length of the header --------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, RefusesAFileShorterThanItsLengthField)
{
    for (const std::size_t bytes : { 0U, 1U, 7U }) {
        const Error error = refusalOfFile(std::string(bytes, '\0'));
        EXPECT_EQ(error.code, Code::Truncated);
        EXPECT_EQ(error.text,
                  bytes == 0
                      ? "the file is empty: it is 0 bytes"
                      : fmt::format("it is {} bytes, too short for the 8 bytes of its header length: the file is "
                                    "cut short",
                                    bytes));
        EXPECT_EQ(error.where, "dir/a.safetensors");
    }
}

TEST(SafetensorsHeader, CallsAFileThatStartsWithZerosUnfinished)
{
    for (const std::size_t bytes : { 8U, 64U }) {
        const Error error = refusalOfFile(std::string(bytes, '\0'));
        EXPECT_EQ(error.code, Code::Unfinished);
        EXPECT_EQ(error.text, "its first 8 bytes are zero: the file was preallocated and never written");
    }
}

TEST(SafetensorsHeader, RefusesAHeaderOverTheLimitBeforeReadingIt)
{
    for (const std::uint64_t length : { std::uint64_t(100'000'001), std::uint64_t(1) << 63, ~std::uint64_t(0) }) {
        std::string file = fileOf(Sound, std::string(16, '\0'));
        storeLe<std::uint64_t>(std::as_writable_bytes(std::span(file)), 0, length);
        std::uint64_t readUpTo = 0;
        const auto parsed = readFile(file, &readUpTo);
        ASSERT_FALSE(parsed);
        EXPECT_EQ(parsed.error().code, Code::Hostile);
        EXPECT_EQ(parsed.error().text,
                  fmt::format("the file claims a header of {} bytes, more than the 100000000 allowed", length));
        EXPECT_EQ(readUpTo, file.size()) << "its first bytes, which tell what it is";
    }
}

TEST(SafetensorsHeader, RefusesAHeaderBehindTheEndOfTheFileBeforeReadingIt)
{
    std::string file = fileOf(Sound);
    for (const std::uint64_t length : { Sound.size() + 1, std::size_t(100'000'000) }) {
        storeLe<std::uint64_t>(std::as_writable_bytes(std::span(file)), 0, length);
        std::uint64_t readUpTo = 0;
        const auto parsed = readFile(file, &readUpTo);
        ASSERT_FALSE(parsed);
        EXPECT_EQ(parsed.error().code, Code::Truncated);
        EXPECT_EQ(parsed.error().text,
                  fmt::format("it is {} bytes, its header alone promises {}: the file is cut short", file.size(),
                              8 + length));
        EXPECT_EQ(readUpTo, file.size()) << "its first bytes, which tell what it is";
    }
}

TEST(SafetensorsHeader, ReadsNothingBehindTheHeader)
{
    std::uint64_t readUpTo = 0;
    ASSERT_TRUE(readFile(fileOf(Sound, std::string(16, 'x')), &readUpTo));
    EXPECT_EQ(readUpTo, 8 + Sound.size());
}

TEST(SafetensorsHeader, PassesOnTheErrorsOfTheStore)
{
    const SingleObjectStore store("there", asBytes(Sound));
    const auto absent = SafetensorsHeader::read(store, { "elsewhere", 100, "", 0, false, {} }, test::anyTask());
    ASSERT_FALSE(absent);
    EXPECT_EQ(absent.error().code, Code::NotFound);
    EXPECT_EQ(absent.error().where, "elsewhere");
}

// --- Size of the file ------------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, TellsAFileThatIsTooShort)
{
    const Error error = refusalOfFile(fileOf(Sound, std::string(13, 'x')));
    EXPECT_EQ(error.code, Code::Truncated);
    EXPECT_EQ(error.text,
              fmt::format("it is {} bytes, its header promises {}: the file is cut short", Sound.size() + 21,
                          Sound.size() + 24));
    EXPECT_EQ(error.where, "dir/a.safetensors");
}

TEST(SafetensorsHeader, TellsAFileThatIsTooLong)
{
    EXPECT_EQ(
        headerRefusal(Sound, 20, Code::Truncated),
        fmt::format(
            "it is {} bytes, its header promises {}: the file is longer than that, 4 bytes follow its last tensor",
            Sound.size() + 28, Sound.size() + 24));
    headerRefusal("{}", 1, Code::Truncated);
}

// --- Shape of the JSON -----------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, RefusesAnEmptyHeader)
{
    EXPECT_EQ(headerRefusal(""), "the header is empty: not even an empty object");
}

TEST(SafetensorsHeader, RefusesAnyFirstByteButABrace)
{
    EXPECT_EQ(headerRefusal("\xef\xbb\xbf{}"), "the header starts with the byte 0xef instead of a brace");
    EXPECT_EQ(headerRefusal(" {}"), "the header starts with the byte 0x20 instead of a brace");
    EXPECT_EQ(headerRefusal("[]"), "the header starts with the byte 0x5b instead of a brace");
    EXPECT_EQ(headerRefusal("7"), "the header starts with the byte 0x37 instead of a brace");
}

TEST(SafetensorsHeader, RefusesTextThatIsNotJson)
{
    EXPECT_EQ(headerRefusal("{a:1}"), "the header is not valid JSON: it breaks off or goes wrong at byte 2");
    for (const std::string_view json :
         { "{", "{\"", "{\"a", "{\"a\"", "{\"a\":", "{\"a\":{", "{,}", "{\"a\":{},}", "{'a':{}}", "{/**/}",
           "{\"a\":{\"x\":NaN}}", "{\"\n\":{}}", "{\"a\":{\"x\":01}}" })
        headerRefusal(json);
}

TEST(SafetensorsHeader, RefusesTextThatIsNotUtf8)
{
    EXPECT_EQ(headerRefusal("{\"a\xff\":{}}"), "the header is not valid UTF-8 at byte 4");
    for (const std::string_view bytes : { "\x80", "\xc0\xaf", "\xed\xa0\x80", "\xf4\x90\x80\x80", "\xe2\x82" }) {
        headerRefusal(fmt::format("{{\"{}\":{{}}}}", bytes));
        headerRefusal(fmt::format("{{\"__metadata__\":{{\"k\":\"{}\"}}}}", bytes));
        headerRefusal(fmt::format("{{}}{}", bytes));
    }
    headerRefusal(R"({"\ud800":{}})");
}

TEST(SafetensorsHeader, RefusesNulBytesAnywhere)
{
    EXPECT_EQ(headerRefusal(std::string_view("{}\0", 3)), "the header holds a NUL byte at byte 2");
    headerRefusal(std::string_view("{}\0garbage", 10));
    headerRefusal(std::string_view("{\0}", 3));
    headerRefusal(std::string_view("{\"a\0\":{}}", 9));
}

TEST(SafetensorsHeader, RefusesAnythingButSpacesBehindTheObject)
{
    EXPECT_EQ(headerRefusal("{}  x"),
              "more than spaces follows the end of the JSON object, up to byte 5 of the header");
    headerRefusal("{}{}");
    headerRefusal("{}}");
    headerRefusal("{},");
}

TEST(SafetensorsHeader, RefusesDeepNestingWithoutUsingTheStack)
{
    EXPECT_EQ(claimRefusalOf(header(R"({"x":[[[0]]]})")), "the header is nested more than 4 levels deep");
    EXPECT_EQ(headerRefusal(header(R"({"x":{"y":{"z":0}}})")), "tensor \"a\" has no dtype")
        << "four levels are allowed";
    claimRefusalOf(header(R"({"x":{"y":{"z":{}}}})"));
    std::string deep(20'000, '[');
    deep.append(20'000, ']');
    headerRefusal(header(deep));
    claimRefusalOf(header(R"({"x":)" + deep + "}"));
    std::string objects;
    for (int i = 0; i < 20'000; ++i)
        objects += R"({"x":)";
    claimRefusalOf(header(objects));
}

// --- Metadata --------------------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, RefusesMetadataThatIsNotAnObjectOfTexts)
{
    EXPECT_EQ(headerRefusal(R"({"__metadata__":1})"), "__metadata__ is a number instead of an object");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":[]})"), "__metadata__ is a list instead of an object");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":null})"), "__metadata__ is null instead of an object");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":"text"})"), "__metadata__ is text instead of an object");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":{"k":1}})"), "the metadata value of \"k\" is a number instead of text");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":{"k":-1.5}})"),
              "the metadata value of \"k\" is a number instead of text");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":{"k":true}})"),
              "the metadata value of \"k\" is a truth value instead of text");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":{"k":{}}})"),
              "the metadata value of \"k\" is an object instead of text");
    EXPECT_EQ(headerRefusal(R"({"__metadata__":{"k":[]}})"), "the metadata value of \"k\" is a list instead of text");
}

TEST(SafetensorsHeader, RefusesDuplicateMetadata)
{
    EXPECT_EQ(claimRefusalOf(R"({"__metadata__":{"k":"1","k":"1"}})"), "the metadata key \"k\" occurs twice");
    EXPECT_EQ(claimRefusalOf(R"({"__metadata__":{},"__metadata__":{}})"), "__metadata__ occurs twice in the header");
    EXPECT_EQ(claimRefusalOf(R"({"__metadata__":{"k":"","\u006b":""}})"), "the metadata key \"k\" occurs twice");
}

// --- Entries of tensors ----------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, RefusesAnEntryThatIsNotAnObject)
{
    EXPECT_EQ(headerRefusal(header("1")), "the entry of tensor \"a\" is a number instead of an object");
    EXPECT_EQ(headerRefusal(header("\"x\"")), "the entry of tensor \"a\" is text instead of an object");
    EXPECT_EQ(headerRefusal(header("[]")), "the entry of tensor \"a\" is a list instead of an object");
    EXPECT_EQ(headerRefusal(header("null")), "the entry of tensor \"a\" is null instead of an object");
}

TEST(SafetensorsHeader, RefusesAnEntryWithoutAField)
{
    EXPECT_EQ(headerRefusal(header(R"({"shape":[16],"data_offsets":[0,16]})")), "tensor \"a\" has no dtype");
    EXPECT_EQ(headerRefusal(header(R"({"dtype":"U8","data_offsets":[0,16]})")), "tensor \"a\" has no shape");
    EXPECT_EQ(headerRefusal(header(R"({"dtype":"U8","shape":[16]})")), "tensor \"a\" has no data_offsets");
}

TEST(SafetensorsHeader, RefusesUnknownDtypes)
{
    EXPECT_EQ(headerRefusal(header(R"({"dtype":"BF17","shape":[8],"data_offsets":[0,16]})")),
              "tensor \"a\" has the unknown dtype \"BF17\"");
}

TEST(SafetensorsHeader, RefusesFieldsOfTheWrongType)
{
    EXPECT_EQ(headerRefusal(header(R"({"dtype":1})")), "the dtype of tensor \"a\" is a number instead of text");
    EXPECT_EQ(headerRefusal(header(R"({"dtype":["U8"]})")), "the dtype of tensor \"a\" is a list instead of text");
    EXPECT_EQ(headerRefusal(header(R"({"shape":16})")),
              "the shape of tensor \"a\" is a number instead of a list of numbers");
    EXPECT_EQ(headerRefusal(header(R"({"shape":{}})")),
              "the shape of tensor \"a\" is an object instead of a list of numbers");
    EXPECT_EQ(headerRefusal(header(R"({"shape":["16"]})")), "the shape of tensor \"a\" holds text instead of a number");
    EXPECT_EQ(headerRefusal(header(R"({"shape":[[16]]})")),
              "the shape of tensor \"a\" holds a list instead of a number");
    EXPECT_EQ(headerRefusal(header(R"({"data_offsets":"0"})")),
              "the data_offsets of tensor \"a\" is text instead of a list of numbers");
    EXPECT_EQ(headerRefusal(header(R"({"data_offsets":[null,1]})")),
              "the data_offsets of tensor \"a\" hold null instead of a number");
    EXPECT_EQ(headerRefusal(header(R"({"data_offsets":[{}]})")),
              "the data_offsets of tensor \"a\" hold an object instead of a number");
}

TEST(SafetensorsHeader, RefusesOffsetsThatAreNotTwo)
{
    const std::string start = R"({"dtype":"U8","shape":[16],"data_offsets":)";
    EXPECT_EQ(headerRefusal(header(start + "[]}")),
              "the data_offsets of tensor \"a\" hold no number instead of two numbers");
    EXPECT_EQ(headerRefusal(header(start + "[16]}")),
              "the data_offsets of tensor \"a\" hold one number instead of two numbers");
    EXPECT_EQ(headerRefusal(header(start + "[0,16,16]}")),
              "the data_offsets of tensor \"a\" hold more than two numbers");
}

TEST(SafetensorsHeader, RefusesNumbersThatAreNotWholeAndPlain)
{
    const std::string rule = ", which is not a whole number from 0 to 9223372036854775807";
    for (const std::string number : { "-2", "2.5", "2.0", "1e1", "9223372036854775808", "18446744073709551615",
                                      "18446744073709551616", "100000000000000000000000000" }) {
        EXPECT_EQ(headerRefusal(header(fmt::format(R"({{"shape":[{}]}})", number))),
                  "the dimensions of tensor \"a\" contain " + number + rule);
        EXPECT_EQ(headerRefusal(header(fmt::format(R"({{"data_offsets":[0,{}]}})", number))),
                  "the data_offsets of tensor \"a\" contain " + number + rule);
    }
    headerRefusal(header(R"({"shape":[-0]})"));
    EXPECT_NE(headerRefusal(header(R"({"shape":[1e999]})")).find("is too large for any computer"), std::string::npos);
    EXPECT_LT(headerRefusal(header(fmt::format(R"({{"shape":[{}]}})", std::string(300, '9')))).size(), 250U);
}

TEST(SafetensorsHeader, AcceptsTheLargestNumberAsAnOffset)
{
    EXPECT_NE(
        headerRefusal(header(R"({"dtype":"U8","shape":[0],"data_offsets":[9223372036854775807,9223372036854775807]})"))
            .find("begins at byte 9223372036854775807"),
        std::string::npos);
}

TEST(SafetensorsHeader, RefusesDuplicateNames)
{
    const std::string entry = R"({"dtype":"U8","shape":[16],"data_offsets":[0,16]})";
    EXPECT_EQ(claimRefusalOf(fmt::format(R"({{"a":{0},"a":{0}}})", entry)), "tensor \"a\" occurs twice in the header");
    EXPECT_EQ(claimRefusalOf(fmt::format(R"({{"a":{0},"b":{0},"\u0061":{0}}})", entry)),
              "tensor \"a\" occurs twice in the header");
}

TEST(SafetensorsHeader, RefusesDuplicateFields)
{
    const std::string rest = R"("dtype":"U8","shape":[16],"data_offsets":[0,16])";
    for (const std::string field : { R"("dtype":"U8")", R"("shape":[16])", R"("data_offsets":[0,16])" })
        EXPECT_NE(
            claimRefusalOf(header("{" + rest + "," + field + "}")).find("occurs twice in the entry of tensor \"a\""),
            std::string::npos);
    EXPECT_EQ(claimRefusalOf(header(R"({"x":1,"y":1,"x":1,)" + rest + "}")),
              "the field \"x\" occurs twice in the entry of tensor \"a\"");
}

// --- Limits ----------------------------------------------------------------------------------------------------------

TEST(SafetensorsHeader, RefusesMoreThanSixteenDimensions)
{
    std::string shape = "1";
    for (int i = 1; i < 16; ++i)
        shape += ",1";
    const std::string format = R"({{"dtype":"U8","shape":[{}],"data_offsets":[0,1]}})";
    EXPECT_TRUE(parseWithData(header(fmt::format(fmt::runtime(format), shape)), 1));
    EXPECT_EQ(headerRefusal(header(fmt::format(fmt::runtime(format), shape + ",1")), 1),
              "tensor \"a\" has more than 16 dimensions");
}

TEST(SafetensorsHeader, RefusesNamesOver1024Bytes)
{
    const std::string format = R"({{"{}":{{"dtype":"U8","shape":[1],"data_offsets":[0,1]}}}})";
    EXPECT_TRUE(parseWithData(fmt::format(fmt::runtime(format), std::string(1024, 'n')), 1));
    const std::string text = headerRefusal(fmt::format(fmt::runtime(format), std::string(1025, 'n')), 1);
    EXPECT_NE(text.find("is 1025 bytes long, more than the 1024 allowed"), std::string::npos) << text;
    EXPECT_LT(text.size(), 300U);
}

TEST(SafetensorsHeader, RefusesMoreThan64UnknownFields)
{
    std::string entry = R"({"dtype":"U8","shape":[1],"data_offsets":[0,1])";
    for (int i = 0; i < 64; ++i)
        entry += fmt::format(R"(,"x{}":0)", i);
    EXPECT_TRUE(parseWithData(header(entry + "}"), 1));
    EXPECT_EQ(claimRefusalOf(header(entry + R"(,"y":0})"), 1),
              "the entry of tensor \"a\" has more than 64 unknown fields");
}

TEST(SafetensorsHeader, ReadsAMillionTensorsAndNotOneMore)
{
    if (test::UnderSanitizer)
        GTEST_SKIP() << "takes a minute; the release build runs it";
    std::string json = "{";
    for (int i = 0; i < 1'000'000; ++i)
        json += fmt::format(R"("{}":{{"dtype":"U8","shape":[],"data_offsets":[{},{}]}},)", i, i, i + 1);
    const std::string more = json + R"("x":{}})";
    json.back() = '}';
    const auto parsed = parseWithData(json, 1'000'000);
    ASSERT_TRUE(parsed) << parsed.error().text;
    EXPECT_EQ(parsed->find("777777")->begin, 8 + json.size() + 777'777);
    EXPECT_EQ(claimRefusalOf(more), "the header describes more than 1000000 tensors");
}

// --- Data ------------------------------------------------------------------------------------------------------------

std::string twoTensors(std::string_view offsetsOfA, std::string_view offsetsOfB)
{
    return fmt::format(
        R"({{"b":{{"dtype":"U8","shape":[8],"data_offsets":[{}]}},"a":{{"dtype":"U8","shape":[8],"data_offsets":[{}]}}}})",
        offsetsOfB, offsetsOfA);
}

TEST(SafetensorsHeader, RefusesDataThatDoesNotStartAtZero)
{
    EXPECT_EQ(
        headerRefusal(header(R"({"dtype":"U8","shape":[8],"data_offsets":[8,16]})")),
        "tensor \"a\" begins at byte 8 of the data, but the header ends at 0: the bytes between belong to no tensor");
}

TEST(SafetensorsHeader, RefusesHoles)
{
    EXPECT_EQ(
        headerRefusal(twoTensors("0,8", "9,17"), 17),
        "tensor \"b\" begins at byte 9 of the data, but tensor \"a\" ends at 8: the bytes between belong to no tensor");
}

TEST(SafetensorsHeader, RefusesOverlaps)
{
    EXPECT_EQ(claimRefusalOf(twoTensors("0,8", "4,12"), 12),
              "tensor \"b\" begins at byte 4 of the data, inside tensor \"a\", which ends at 8");
    claimRefusalOf(twoTensors("0,8", "0,8"), 8);
}

TEST(SafetensorsHeader, RefusesReversedOffsets)
{
    EXPECT_EQ(claimRefusalOf(twoTensors("0,8", "8,0"), 8),
              "tensor \"b\" ends at byte 0 of the data, before its begin at 8");
}

TEST(SafetensorsHeader, RefusesASizeThatDiffersFromTheShape)
{
    EXPECT_EQ(headerRefusal(header(R"({"dtype":"F32","shape":[2,2],"data_offsets":[0,12]})"), 12),
              "tensor \"a\" takes 16 bytes by its dtype and shape, its data_offsets span 12");
}

TEST(SafetensorsHeader, RefusesShapesThatOverflow)
{
    EXPECT_NE(
        claimRefusalOf(header(R"({"dtype":"U8","shape":[8589934592,8589934592],"data_offsets":[0,16]})")).find("2^62"),
        std::string::npos);
    EXPECT_NE(claimRefusalOf(header(R"({"dtype":"BF16","shape":[2305843009213693952],"data_offsets":[0,16]})"))
                  .find("2^64 bits"),
              std::string::npos);
}

TEST(SafetensorsHeader, RefusesPartsOfBytes)
{
    EXPECT_NE(headerRefusal(header(R"({"dtype":"F4","shape":[3],"data_offsets":[0,1]})"), 1).find("not whole bytes"),
              std::string::npos);
}

TEST(SafetensorsHeader, ChecksTheFileSizeLast)
{
    EXPECT_EQ(headerRefusal(twoTensors("0,8", "9,17"), 3).find("it is"), std::string::npos) << "the hole comes first";
    EXPECT_EQ(headerRefusal(R"({"a":{"dtype":"U8","shape":[9],"data_offsets":[0,8]}})", 3).find("it is"),
              std::string::npos);
}

// --- Writing ---------------------------------------------------------------------------------------------------------

TEST(WriteSafetensorsHeader, WritesTheBytesOfTheOfficialWriter)
{
    const std::string written =
        writeSafetensorsHeader({ { "model.w", Dtype::BF16, { 2, 4 } } }, { { "format", "pt" } });
    EXPECT_EQ(written, fileOf(std::string(Sound) + " "));
    EXPECT_EQ(writeSafetensorsHeader({}, {}), fileOf("{}      "));
}

TEST(WriteSafetensorsHeader, PacksTensorsInTheGivenOrder)
{
    const std::string written =
        writeSafetensorsHeader({ { "b", Dtype::F32, { 3 } }, { "e", Dtype::F32, { 0 } }, { "a", Dtype::U8, {} } }, {});
    EXPECT_NE(written.find(R"({"b":{"dtype":"F32","shape":[3],"data_offsets":[0,12]},)"
                           R"("e":{"dtype":"F32","shape":[0],"data_offsets":[12,12]},)"
                           R"("a":{"dtype":"U8","shape":[],"data_offsets":[12,13]}})"),
              std::string::npos)
        << written;
    EXPECT_EQ(written.size() % 8, 0U);
}

TEST(WriteSafetensorsHeader, IsAlignedWhateverTheLengthOfTheJson)
{
    for (std::size_t i = 0; i < 17; ++i) {
        const std::string written = writeSafetensorsHeader({ { std::string(i, 'n'), Dtype::U8, { 0 } } }, {});
        EXPECT_EQ(written.size() % 8, 0U);
        const auto parsed = readFile(written);
        ASSERT_TRUE(parsed) << parsed.error().text;
        EXPECT_EQ(parsed->tensors().front().info.name.size(), i);
        EXPECT_LT(written.size() - written.rfind('}'), 9U) << "no more spaces than needed";
    }
}

TEST(WriteSafetensorsHeader, EscapesWhatJsonDemandsAndLeavesTheRest)
{
    const std::string odd("\"\\/\b\t\n\f\r\x01\x1f\x7f\0\xc3\xb6\xf0\x9f\x98\x80", 18);
    const std::string written = writeSafetensorsHeader({ { odd, Dtype::U8, { 0 } } }, { { odd, odd }, { "", "" } });
    const std::string escaped = R"("\"\\/\b\t\n\f\r\u0001\u001f)"
                                "\x7f"
                                R"(\u0000)"
                                "\xc3\xb6\xf0\x9f\x98\x80\"";
    EXPECT_NE(written.find(fmt::format(R"({{"__metadata__":{{"":"",{0}:{0}}},{0}:{{"dtype")", escaped)),
              std::string::npos)
        << written;
    const auto parsed = readFile(written);
    ASSERT_TRUE(parsed) << parsed.error().text;
    EXPECT_NE(parsed->find(odd), nullptr);
    EXPECT_EQ(parsed->meta(odd), odd);
}

// --- Golden files ----------------------------------------------------------------------------------------------------

std::string contentOf(const std::filesystem::path& path)
{
    std::ifstream file(path, std::ios::binary);
    return { std::istreambuf_iterator<char>(file), {} };
}

/// What Deltascope says about the files that it refuses with another code than DS-HOSTILE.
Code expectedCode(const std::string& name, const std::string& officialCode)
{
    const bool cut = officialCode == "header-too-small" || officialCode == "invalid-header-length"
        || officialCode == "metadata-incomplete-buffer";
    if (name == "all-zero.safetensors")
        return Code::Unfinished;
    const bool claims = officialCode == "header-too-large" || officialCode == "duplicate-key"
        || officialCode == "validation-overflow" || name == "reversed-offsets.safetensors"
        || name.find("overlap") != std::string::npos;
    return cut ? Code::Truncated : claims ? Code::Hostile : Code::Malformed;
}

TEST(SafetensorsGolden, HostileFilesAreRefusedAndOddOnesRead)
{
    const std::filesystem::path folder = std::filesystem::path(DELTASCOPE_GOLDEN_DIR) / "safetensors-hostile";
    const Json expected = Json::parse(contentOf(folder / "expected.json"));
    const Json& files = expected.at("files");
    ASSERT_EQ(files.size(), 33U);
    for (const auto& [name, facts] : files.items()) {
        SCOPED_TRACE(name);
        const std::string content = contentOf(folder / "bucket" / name);
        ASSERT_EQ(content.size(), facts.at("bytes").get<std::size_t>());
        const SingleObjectStore store(name, asBytes(content));
        const auto parsed = SafetensorsHeader::read(store, store.info(), test::anyTask());
        EXPECT_EQ(parsed.has_value(), facts.at("valid").get<bool>());
        if (parsed)
            continue;
        EXPECT_EQ(parsed.error().code, expectedCode(name, facts.at("code").get<std::string>())) << parsed.error().text;
        EXPECT_EQ(parsed.error().where, name);
        EXPECT_FALSE(parsed.error().text.empty());
        EXPECT_LT(parsed.error().text.size(), 512U);
    }
}

} // namespace
} // namespace deltascope

#include "format/common/plain_kind.h"

#include "deltascope/engine/safetensors.h"
#include "format/common/index_json.h"
#include "format/common/strict_json.h"
#include "support/any_task.h"
#include "support/single_object_store.h"

#include <gtest/gtest.h>

namespace deltascope {
namespace {

using namespace std::string_literals;

const std::string Pointer = "version https://git-lfs.github.com/spec/v1\n"
                            "oid sha256:4d7a214614ab2935c943f9e0ff69d22e4d7a214614ab2935c943f9e0ff69d22e\n"
                            "size 988097824\n";

Error errorOfTensors(const std::string& content)
{
    const SingleObjectStore store("dir/model.safetensors", asBytes(content));
    auto header = SafetensorsHeader::read(store, store.info(), test::anyTask());
    if (header) {
        ADD_FAILURE() << "accepted";
        return {};
    }
    return header.error();
}

Error errorOfIndex(const std::string& content)
{
    const SingleObjectStore store("dir/model.safetensors.index.json", asBytes(content));
    auto index = readIndexJson(store, store.info(), test::anyTask());
    if (index) {
        ADD_FAILURE() << "accepted";
        return {};
    }
    return index.error();
}

/// A tar archive of one small file.
std::string tar()
{
    std::string block(1024, '\0');
    block.replace(0, 17, "model.safetensors");
    block.replace(257, 5, "ustar");
    return block;
}

TEST(PlainKind, IsNamedWhereTensorsAreWanted)
{
    const std::pair<std::string, std::string> files[] = {
        { Pointer, "a Git LFS pointer" },
        { "/annex/objects/SHA256E-s12--ab.safetensors\n", "git-annex" },
        { "<!DOCTYPE html><html><head><title>Sign in</title>", "an HTML page" },
        { "\n<html>\n<body>404</body></html>", "an HTML page" },
        { "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>", "an XML text" },
        { R"({"error":"Repository not found"})", "a JSON text" },
        { "Entry not found", "a text that begins with \"Entry not found\"" },
        { "PK\3\4\x14\0\0\0\0\0notes.txt"s, "a ZIP archive" },
        { "PK\3\4\0\0\x08\x08\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10\0\x12\0archive/data.pkl"s, "torch.save" },
        { "\x80\2\x8a\x0al\xfc\x9c\x46\xf9 j\xa8P\x19.\x80\2M"s, "before 1.6" },
        { "\x80\4\x95\x10\0\0\0\0\0\0\0}\x94."s, "a pickle of Python" },
        { "\x1f\x8b\x08\0\0\0\0\0\0\3more than eight bytes"s, "gzip" },
        { "\x28\xb5\x2f\xfd\x04\x58more than eight bytes", "zstd" },
        { tar(), "a tar archive" },
        { "GGUF\3\0\0\0\x23\1\0\0\0\0\0\0"s, "GGUF" },
        { "\x89HDF\r\n\x1a\n\0\0\0\0\0\x08\x08\0"s, "HDF5" },
        { "\x93NUMPY\1\0v\0{'descr': '<f4'}"s, "NumPy" },
    };
    for (const auto& [content, what] : files) {
        SCOPED_TRACE(what);
        const Error error = errorOfTensors(content);
        EXPECT_EQ(error.code, Code::Malformed) << error.text;
        EXPECT_NE(error.text.find(what), std::string::npos) << error.text;
        EXPECT_EQ(error.where, "dir/model.safetensors");
        EXPECT_FALSE(error.action.empty());
    }
}

TEST(PlainKind, OfAPointerSaysWhatItStandsForAndHowToGetIt)
{
    const Error error = errorOfTensors(Pointer);
    EXPECT_NE(error.text.find("988097824 bytes"), std::string::npos) << error.text;
    EXPECT_NE(error.text.find("sha256:4d7a214614ab2935"), std::string::npos) << error.text;
    EXPECT_NE(error.action.find("git lfs pull"), std::string::npos) << error.action;
    EXPECT_NE(error.action.find("hf download"), std::string::npos) << error.action;
}

TEST(PlainKind, IsNamedWhereJsonIsWanted)
{
    for (const std::string& content : { Pointer, "<html>"s + std::string(40, ' '), "\x1f\x8b\x08\0\0\0\0\0"s }) {
        EXPECT_EQ(errorOfIndex(content).code, Code::Malformed) << content;
        const SingleObjectStore store("manifest.json", asBytes(content));
        const auto json = readStrictJson(store, store.info(), "the manifest", test::anyTask());
        ASSERT_FALSE(json);
        EXPECT_EQ(json.error().code, Code::Malformed) << content;
    }
    EXPECT_NE(errorOfIndex(Pointer).text.find("Git LFS"), std::string::npos);
    EXPECT_EQ(errorOfIndex(R"({"weight_map":{"a":"model-0)").code, Code::Unfinished) << "a JSON text that breaks off";
}

TEST(PlainKind, OtherBytesAreNoSafetensorsFileEither)
{
    const Error error = errorOfTensors("\xde\xad\xbe\xef\x01\x02\x03\x04\x05\x06\x07\x08"s);
    EXPECT_EQ(error.code, Code::Malformed);
    EXPECT_NE(error.text.find("de ad be ef"), std::string::npos) << error.text;
}

TEST(PlainKind, AFalseLengthInFrontOfAHeaderStaysHostile)
{
    EXPECT_EQ(errorOfTensors("\xff\xff\xff\xff\xff\xff\xff\xff{}"s).code, Code::Hostile);
}

TEST(PlainKind, AnEmptyAndABlankFileSaySo)
{
    const Error empty = errorOfTensors("");
    EXPECT_EQ(empty.code, Code::Truncated);
    EXPECT_NE(empty.text.find("empty"), std::string::npos) << empty.text;
    const Error blank = errorOfTensors(std::string(4096, '\0'));
    EXPECT_EQ(blank.code, Code::Unfinished);
    EXPECT_NE(blank.text.find("zero"), std::string::npos) << blank.text;
}

TEST(PlainKind, ASafetensorsFileIsNone)
{
    for (const TensorInfo& tensor : { TensorInfo { "a", Dtype::U8, { 3 } }, TensorInfo { "b", Dtype::F64, {} } }) {
        std::string file = writeSafetensorsHeader({ tensor }, { { "format", "pt" } });
        file.append(tensor.bytes(), 'x');
        EXPECT_FALSE(plainKindOf(asBytes(file)));
        const SingleObjectStore store("a", asBytes(file));
        EXPECT_TRUE(SafetensorsHeader::read(store, store.info(), test::anyTask()));
    }
}

} // namespace
} // namespace deltascope

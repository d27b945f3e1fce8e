#include "format/dcp/pickle.h"

#include "dcp_fixture.h"

namespace deltascope {
namespace {

using namespace layout_test;
using namespace pickled;

Result<Pickle> parsed(std::string_view bytes)
{
    const ByteSpan span = asBytes(bytes);
    return Pickle::parse({ span.begin(), span.end() });
}

Error refusal(const std::string& body) { return errorOf(parsed(whole(body))); }

TEST(Pickle, ReadsPlainValues)
{
    const auto pickle = parsed(whole(
        tuple({ "N", "\x88", number(7), number(-3), "M\x10\x27", "J\xff\xff\xff\xff", std::string("\x8a\x00", 2),
                "\x8a\x02\xff\x7f", "\x8a\x01\x80", text("größe"), std::string("G\0\0\0\0\0\0\0\0", 9), "C\x02hi" }),
        4));
    ASSERT_TRUE(pickle) << pickle.error().text;
    const auto items = pickle->items(pickle->top());
    ASSERT_EQ(items.size(), 12U);
    EXPECT_TRUE(pickle->isNone(items[0]));
    EXPECT_EQ(pickle->kind(items[1]), PickleKind::Bool);
    EXPECT_EQ(pickle->integer(items[2]), 7);
    EXPECT_EQ(pickle->integer(items[3]), -3);
    EXPECT_EQ(pickle->integer(items[4]), 10000);
    EXPECT_EQ(pickle->integer(items[5]), -1);
    EXPECT_EQ(pickle->integer(items[6]), 0);
    EXPECT_EQ(pickle->integer(items[7]), 32767);
    EXPECT_EQ(pickle->integer(items[8]), -128);
    EXPECT_EQ(pickle->text(items[9]), "größe");
    EXPECT_EQ(pickle->kind(items[10]), PickleKind::Float);
    EXPECT_EQ(pickle->kind(items[11]), PickleKind::Bytes);
    EXPECT_EQ(pickle->text(items[11]), std::nullopt);
}

TEST(Pickle, ReadsContainersAndTheMemo)
{
    const auto pickle = parsed(whole(dict({ text("a") + "q" + std::string(1, '\0'), list({ number(1), number(2) }),
                                            "h" + std::string(1, '\0'), "\x8f(" + number(5) + "\x90" })));
    ASSERT_TRUE(pickle) << pickle.error().text;
    const auto items = pickle->items(pickle->top());
    ASSERT_EQ(items.size(), 4U);
    EXPECT_EQ(pickle->text(items[2]), "a");
    EXPECT_EQ(pickle->sizes(items[1]), (Sizes { 1, 2 }));
    EXPECT_EQ(pickle->kind(items[3]), PickleKind::Set);
    EXPECT_EQ(pickle->sizes(items[3]), std::nullopt);
}

TEST(Pickle, MakesRecordsAndNeverCalls)
{
    const auto pickle = parsed(whole(size({ 3, 4 })));
    ASSERT_TRUE(pickle);
    EXPECT_TRUE(pickle->isRecord(pickle->top(), GlobalKind::Size));
    EXPECT_EQ(pickle->sizes(pickle->top()), (Sizes { 3, 4 }));
    const auto object = parsed(metadataFile({}, {}));
    ASSERT_TRUE(object);
    EXPECT_TRUE(object->attribute(object->top(), "storage_data"));
    EXPECT_FALSE(object->attribute(object->top(), "nothing"));
}

TEST(Pickle, NegativeNumbersAreNoSizes)
{
    const auto pickle = parsed(whole(tuple({ number(-1) })));
    ASSERT_TRUE(pickle);
    EXPECT_EQ(pickle->sizes(pickle->top()), std::nullopt);
}

TEST(Pickle, RefusesGlobalsThatAreNotOnTheList)
{
    for (const auto& [module, name] : std::vector<std::pair<std::string, std::string>> {
             { "posix", "system" },
             { "builtins", "eval" },
             { "torch", "load" },
             { "torch.distributed.checkpoint.metadata", "metadata.os.system" },
             { "", "" } }) {
        const Error error = refusal(call(global(module, name), { text("true") }));
        EXPECT_EQ(error.code, Code::Unsupported);
        EXPECT_TRUE(mentions(error, name)) << error.text;
        EXPECT_EQ(refusal(text(module) + text(name) + "\x93").code, Code::Unsupported);
    }
    EXPECT_EQ(refusal(number(1) + text("system") + "\x93").code, Code::Malformed);
}

TEST(Pickle, RefusesToCallWhatIsNoClassOrFunction)
{
    EXPECT_EQ(refusal(text("print") + ")R").code, Code::Malformed);
    EXPECT_EQ(refusal(number(1) + ")R").code, Code::Malformed);
    EXPECT_EQ(refusal(global("torch", "float32") + ")R").code, Code::Malformed);
    EXPECT_EQ(refusal(size({ 1 }) + ")R").code, Code::Malformed);
    EXPECT_EQ(refusal(global("torch", "Size") + text("x") + "R").code, Code::Malformed);
    EXPECT_EQ(refusal(call(global("collections", "OrderedDict"), { list({}) })).code, Code::Unsupported);
}

TEST(Pickle, TakesGetattrOnlyForTheMembersOfAnEnumeration)
{
    // Early releases of Python 3.11 (3.11.2 of Debian 12) pickle enumerations so.
    const std::string member = text("TORCH_CONTIGUOUS_FORMAT");
    for (const char* module : { "builtins", "__builtin__" }) {
        const std::string getattr = global(module, "getattr");
        EXPECT_TRUE(parsed(whole(call(getattr, { torchMetadata("_MEM_FORMAT_ENCODING"), member }))));
        EXPECT_EQ(refusal(call(getattr, { torchMetadata("Metadata"), text("__init__") })).code, Code::Unsupported);
        EXPECT_EQ(refusal(call(getattr, { size({ 1 }), text("__class__") })).code, Code::Unsupported);
        EXPECT_EQ(refusal(call(getattr, { torchMetadata("_MEM_FORMAT_ENCODING"), number(1) })).code, Code::Unsupported);
        EXPECT_EQ(refusal(call(getattr, { torchMetadata("_MEM_FORMAT_ENCODING"), member, "N" })).code,
                  Code::Unsupported);
    }
}

TEST(Pickle, RefusesToFillWhatCannotBeFilled)
{
    EXPECT_EQ(refusal(text("x") + number(1) + "a").code, Code::Malformed);
    EXPECT_EQ(refusal("}" + number(1) + "a").code, Code::Malformed);
    EXPECT_EQ(refusal("}(" + number(1) + "u").code, Code::Malformed);
    EXPECT_EQ(refusal("](" + number(1) + "u").code, Code::Malformed);
    EXPECT_EQ(refusal("}}b").code, Code::Malformed);
    EXPECT_EQ(refusal(metadataIndex("a", { 0 }) + "}b").code, Code::Malformed);
    EXPECT_EQ(refusal("a").code, Code::Malformed);
}

TEST(Pickle, RefusesBrokenStacksMarksAndMemos)
{
    EXPECT_EQ(refusal("").code, Code::Malformed);
    EXPECT_EQ(refusal("NN").code, Code::Malformed);
    EXPECT_EQ(refusal("N(").code, Code::Malformed);
    EXPECT_EQ(refusal("t").code, Code::Malformed);
    EXPECT_EQ(refusal("N(\x85").code, Code::Malformed);
    EXPECT_EQ(refusal("N\x87").code, Code::Malformed);
    EXPECT_EQ(refusal("h\x01").code, Code::Malformed);
    EXPECT_EQ(refusal("Nq\x01").code, Code::Malformed);
    EXPECT_EQ(refusal("Nr\xff\xff\xff\xff").code, Code::Malformed);
    EXPECT_EQ(refusal("\x94").code, Code::Malformed);
}

TEST(Pickle, RefusesOtherProtocolsAndOpcodes)
{
    EXPECT_EQ(errorOf(parsed("(lp0\n.")).code, Code::Unsupported);
    EXPECT_EQ(errorOf(parsed(whole("N", 1))).code, Code::Unsupported);
    EXPECT_EQ(errorOf(parsed(whole("N", 6))).code, Code::Unsupported);
    for (const char opcode : { 'i', 'o', 'P', 'I', '2', '\x82', '\x92', '\x97', '\x98', '\xff' })
        EXPECT_EQ(refusal(std::string("N") + opcode).code, Code::Unsupported) << opcode;
}

TEST(Pickle, EveryCutIsTruncated)
{
    const std::string bytes = checkpointFiles({ wholeTensor("a", { 2, 4 }, std::string(16, 'x')) })[".metadata"];
    ASSERT_TRUE(parsed(bytes));
    for (std::size_t length = 0; length < bytes.size(); ++length)
        EXPECT_EQ(errorOf(parsed(std::string_view(bytes).substr(0, length))).code, Code::Truncated) << length;
    EXPECT_EQ(errorOf(parsed(bytes + "x")).code, Code::Malformed);
}

TEST(Pickle, HugeCountsCostNothing)
{
    EXPECT_EQ(refusal("X\xff\xff\xff\xff").code, Code::Truncated);
    EXPECT_EQ(refusal("\x8d" + littleEndian(~std::uint64_t { 0 })).code, Code::Truncated);
    EXPECT_EQ(refusal("\x8e" + littleEndian(std::uint64_t { 1 } << 62)).code, Code::Truncated);
    EXPECT_EQ(refusal("\x95" + littleEndian(~std::uint64_t { 0 })).code, Code::Truncated);
    EXPECT_EQ(refusal("\x8b\xff\xff\xff\xff").code, Code::Unsupported);
    EXPECT_EQ(refusal("\x8a\x09" + std::string(9, 'x')).code, Code::Unsupported);
}

TEST(Pickle, DeepNestingNeitherRecursesNorGrows)
{
    std::string tuples = "N";
    tuples.append(1'000'000, '\x85');
    EXPECT_TRUE(parsed(whole(tuples)));
    EXPECT_EQ(refusal(std::string(Pickle::MaxMarks + 1, '(')).code, Code::Hostile);
}

TEST(Pickle, AMemoBombStaysSmall)
{
    // Each level is a tuple of ten times the one before: 10^20 values if they were copied.
    std::string bomb = text("x") + "q" + std::string(1, '\0');
    for (int level = 0; level < 20; ++level) {
        const std::string before = std::string("h") + static_cast<char>(level);
        bomb += tuple(std::vector<std::string>(10, before)) + "q" + static_cast<char>(level + 1);
    }
    EXPECT_TRUE(parsed(whole("(" + bomb + "t")));
}

TEST(Pickle, AListMayHoldItself)
{
    const auto pickle = parsed(whole("]q" + std::string(1, '\0') + "h" + std::string(1, '\0') + "a"));
    ASSERT_TRUE(pickle);
    EXPECT_EQ(pickle->items(pickle->top()).front(), pickle->top());
    EXPECT_EQ(pickle->sizes(pickle->top()), std::nullopt);
}

TEST(Pickle, HasALimitOfValues)
{
    std::string lists;
    lists.append(Pickle::MaxValues, ']');
    const Error error = refusal(lists);
    EXPECT_EQ(error.code, Code::Hostile);
    EXPECT_TRUE(mentions(error, "values")) << error.text;
}

} // namespace
} // namespace deltascope

#include "deltascope/engine/hash_tree.h"

#include "worked_examples.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace deltascope {
namespace {

using Json = nlohmann::json;
using Strength = LeafHasher::Strength;

using layout_test::SlimeAfter;
using layout_test::SlimeDigest;
using layout_test::TrlAfter;
using layout_test::TrlBefore;

// --- Digests ---------------------------------------------------------------------------------------------------------

/// Byte i is (31 i + seed) mod 251, as in tests/reference/dsm1.py.
std::vector<std::byte> pattern(std::size_t bytes, std::size_t seed)
{
    std::vector<std::byte> out(bytes);
    for (std::size_t i = 0; i < bytes; ++i)
        out[i] = std::byte((31 * i + seed) % 251);
    return out;
}

std::string digestOf(std::unique_ptr<StreamingDigest> digest, ByteSpan bytes, std::size_t pieceBytes)
{
    while (!bytes.empty()) {
        const ByteSpan piece = bytes.first(std::min(pieceBytes, bytes.size()));
        digest->update(piece);
        bytes = bytes.subspan(piece.size());
    }
    return digest->hex();
}

// Values of the worked examples, taken from the trainers' own tools (docs/formats: trl-v2.md, slime-v2.md).
TEST(Digests, HaveTheKnownValues)
{
    EXPECT_EQ(toHex(xxh3(asBytes(TrlBefore))), "5ff7fa44e0dd9ee8b657415d65671803");
    EXPECT_EQ(toHex(xxh3(asBytes(TrlAfter))), "35301f3daa6550e30d64b4fa5eda4348");
    EXPECT_EQ(toHex(sha256(asBytes(TrlBefore))), "062c1bc1ea232ca01b29370dde4f21974a35c13510188ac3e1b8495d973e1f47");
    EXPECT_EQ(toHex(sha256(asBytes(TrlAfter))), "e65668727583afc2fba635562e18d32133aa00d4f5e02431e3b3229a3ac55e44");
    const ByteSpan slime = asBytes(SlimeAfter);
    EXPECT_EQ(digestOf(makeDigest(DigestAlgorithm::Xxh3_128), slime, 16), SlimeDigest);
    EXPECT_EQ(digestOf(makeDigest(DigestAlgorithm::Blake3), slime, 16),
              "f4944bba0089e086daedf16c96d53018a573b99774a33da7f478508b1525c73b");
    EXPECT_EQ(digestOf(makeDigest(DigestAlgorithm::Adler32), slime, 16), "2d140583");
}

TEST(Digests, OfNothingHaveTheKnownValues)
{
    EXPECT_EQ(toHex(xxh3({})), "99aa06d3014798d86001c324468d497f");
    EXPECT_EQ(toHex(sha256({})), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(makeDigest(DigestAlgorithm::Blake3)->hex(),
              "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
    const auto adler = makeDigest(DigestAlgorithm::Adler32);
    adler->update({});
    EXPECT_EQ(adler->hex(), "00000001");
}

TEST(Digests, DoNotDependOnThePieces)
{
    const auto bytes = pattern(100'003, 9);
    for (const std::size_t piece : { 1U, 7U, 1024U, 65'537U }) {
        EXPECT_EQ(digestOf(makeXxh3(), bytes, piece), toHex(xxh3(bytes)));
        EXPECT_EQ(digestOf(makeSha256(), bytes, piece), toHex(sha256(bytes)));
        for (const DigestAlgorithm algorithm : { DigestAlgorithm::Blake3, DigestAlgorithm::Adler32 })
            EXPECT_EQ(digestOf(makeDigest(algorithm), bytes, piece),
                      digestOf(makeDigest(algorithm), bytes, bytes.size()));
    }
}

TEST(Digests, SelfTestPasses)
{
    const auto outcome = hashSelfTest();
    EXPECT_TRUE(outcome) << outcome.error().text;
}

// --- Leaves ----------------------------------------------------------------------------------------------------------

LeafHasher leavesOf(ByteSpan bytes, std::size_t pieceBytes, Strength strength = Strength::FastAndStrong)
{
    LeafHasher hasher(strength);
    while (!bytes.empty()) {
        const ByteSpan piece = bytes.first(std::min(pieceBytes, bytes.size()));
        hasher.update(piece);
        bytes = bytes.subspan(piece.size());
    }
    hasher.finish();
    return hasher;
}

TEST(LeafHasher, CutsAtLeafBytes)
{
    const std::vector<std::pair<std::size_t, std::size_t>> leavesBySize { { 0, 0 },
                                                                          { 1, 1 },
                                                                          { LeafBytes - 1, 1 },
                                                                          { LeafBytes, 1 },
                                                                          { LeafBytes + 1, 2 },
                                                                          { 2 * LeafBytes, 2 },
                                                                          { 2 * LeafBytes + 1, 3 } };
    for (const auto& [size, leaves] : leavesBySize) {
        const auto bytes = pattern(size, 1);
        const LeafHasher hasher = leavesOf(bytes, size + 1);
        EXPECT_EQ(hasher.fast().size(), leaves) << size;
        EXPECT_EQ(hasher.strong().size(), leaves) << size;
    }
}

TEST(LeafHasher, StrongLeavesCarryAZeroByteInFront)
{
    std::vector<std::byte> bytes = pattern(1000, 2);
    const LeafHasher hasher = leavesOf(bytes, 1000);
    EXPECT_EQ(hasher.fast().at(0), xxh3(bytes));
    bytes.insert(bytes.begin(), std::byte(0));
    EXPECT_EQ(hasher.strong().at(0), sha256(bytes));
}

TEST(LeafHasher, DoesNotDependOnThePieces)
{
    const auto bytes = pattern(2 * LeafBytes + 12'345, 3);
    const LeafHasher whole = leavesOf(bytes, bytes.size());
    for (const std::size_t piece :
         { std::size_t(997), std::size_t(131'072), std::size_t(LeafBytes), std::size_t(LeafBytes + 1) }) {
        const LeafHasher pieces = leavesOf(bytes, piece);
        EXPECT_EQ(pieces.fast(), whole.fast()) << piece;
        EXPECT_EQ(pieces.strong(), whole.strong()) << piece;
    }
}

TEST(LeafHasher, FastHashersHaveNoStrongLeaves)
{
    const auto bytes = pattern(10, 4);
    const LeafHasher fast = leavesOf(bytes, 10, Strength::Fast);
    EXPECT_EQ(fast.fast(), leavesOf(bytes, 10).fast());
    EXPECT_TRUE(fast.strong().empty());
}

// --- Nodes and roots -------------------------------------------------------------------------------------------------

TEST(TensorNode, HasNoStrongDigestWithoutStrongLeaves)
{
    const TensorInfo info { "a", Dtype::U8, { 10 } };
    const auto bytes = pattern(10, 4);
    const LeafHasher both = leavesOf(bytes, 10);
    const TensorNode strong = tensorNode(info, both.fast(), both.strong());
    const TensorNode fast = tensorNode(info, both.fast(), {});
    EXPECT_EQ(fast.fast, strong.fast);
    EXPECT_EQ(fast.strong, Digest256 {});
    EXPECT_NE(strong.strong, Digest256 {});
}

TEST(TensorNode, DependsOnNameDtypeAndShape)
{
    const std::vector<Digest128> leaves { xxh3({}) };
    const TensorNode node = tensorNode({ "a", Dtype::BF16, { 2, 4 } }, leaves, {});
    EXPECT_NE(tensorNode({ "b", Dtype::BF16, { 2, 4 } }, leaves, {}).fast, node.fast);
    EXPECT_NE(tensorNode({ "a", Dtype::F16, { 2, 4 } }, leaves, {}).fast, node.fast);
    EXPECT_NE(tensorNode({ "a", Dtype::BF16, { 4, 2 } }, leaves, {}).fast, node.fast);
}

TEST(CheckpointRoot, IsOverNodesInTheirOrder)
{
    const TensorNode a { xxh3(asBytes("a")), sha256(asBytes("a")) };
    const TensorNode b { xxh3(asBytes("b")), sha256(asBytes("b")) };
    const CheckpointRoot forward = checkpointRoot({ a, b }, true);
    const CheckpointRoot backward = checkpointRoot({ b, a }, true);
    EXPECT_NE(forward.fast, backward.fast);
    EXPECT_NE(forward.strong, backward.strong);
    EXPECT_TRUE(forward.hasStrong);
}

TEST(CheckpointRoot, HasNoStrongDigestUnlessAskedFor)
{
    const TensorNode a { xxh3(asBytes("a")), sha256(asBytes("a")) };
    const CheckpointRoot root = checkpointRoot({ a }, false);
    EXPECT_EQ(root.fast, checkpointRoot({ a }, true).fast);
    EXPECT_EQ(root.strong, Digest256 {});
    EXPECT_FALSE(root.hasStrong);
}

// --- Against the reference -------------------------------------------------------------------------------------------

/// One file of tests/golden/dsm1: a checkpoint and what tests/reference/dsm1.py makes of it.
class Dsm1Golden : public testing::TestWithParam<std::string> {
protected:
    static Json load(const std::string& name)
    {
        std::ifstream file(std::filesystem::path(DELTASCOPE_GOLDEN_DIR) / "dsm1" / (name + ".json"));
        return Json::parse(file);
    }
    static std::vector<std::byte> content(const Json& data)
    {
        if (!data.contains("hex"))
            return pattern(data["bytes"].get<std::size_t>(), data["pattern"].get<std::size_t>());
        const std::string text = layout_test::fromHex(data["hex"].get<std::string>());
        const ByteSpan bytes = asBytes(text);
        return { bytes.begin(), bytes.end() };
    }
};

template <class Digest> std::vector<std::string> hexOfEach(const std::vector<Digest>& digests)
{
    std::vector<std::string> out;
    for (const Digest& digest : digests)
        out.push_back(toHex(digest));
    return out;
}

TEST_P(Dsm1Golden, EqualsTheReference)
{
    const Json golden = load(GetParam());
    const Json& expected = golden.at("expected");
    std::map<std::string, Json> expectedByName;
    for (const Json& tensor : expected.at("tensors"))
        expectedByName[tensor.at("name").get<std::string>()] = tensor;

    std::map<std::string, TensorNode> byName;
    for (const Json& tensor : golden.at("tensors")) {
        const TensorInfo info { tensor.at("name").get<std::string>(),
                                parseDtype(tensor.at("dtype").get<std::string>()).value(),
                                tensor.at("shape").get<std::vector<std::uint64_t>>() };
        const auto bytes = content(tensor.at("data"));
        ASSERT_EQ(bytes.size(), info.bytes());
        const LeafHasher leaves = leavesOf(bytes, 100'000);
        const TensorNode node = tensorNode(info, leaves.fast(), leaves.strong());
        const Json& known = expectedByName.at(info.name);
        EXPECT_EQ(hexOfEach(leaves.fast()), known.at("fast_leaves").get<std::vector<std::string>>()) << info.name;
        EXPECT_EQ(hexOfEach(leaves.strong()), known.at("strong_leaves").get<std::vector<std::string>>()) << info.name;
        EXPECT_EQ(toHex(node.fast), known.at("fast").get<std::string>()) << info.name;
        EXPECT_EQ(toHex(node.strong), known.at("strong").get<std::string>()) << info.name;
        byName[info.name] = node;
    }
    std::vector<TensorNode> nodes;
    for (const auto& named : byName)
        nodes.push_back(named.second);
    const CheckpointRoot root = checkpointRoot(nodes, true);
    EXPECT_EQ(toHex(root.fast), expected.at("fast").get<std::string>());
    EXPECT_EQ(toHex(root.strong), expected.at("strong").get<std::string>());
}

INSTANTIATE_TEST_SUITE_P(All, Dsm1Golden,
                         testing::Values("worked_example", "no_tensors", "names_and_boundaries", "empty_and_scalar",
                                         "every_dtype", "leaf_boundaries"),
                         [](const auto& info) { return info.param; });

} // namespace
} // namespace deltascope

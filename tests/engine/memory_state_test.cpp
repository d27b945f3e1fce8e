#include "deltascope/engine/memory_state.h"

#include "deltascope/engine/walk.h"
#include "state/changed_state.h"
#include "state_fixture.h"
#include "version_writer_fixture.h"

#include <string>

// Tensors in memory as a state, and states in which some elements have other bits.

namespace deltascope {
namespace {

using namespace layout_test;

/// The bytes of a slice, as a walk reads them.
std::string read(const State& state, TensorSlice slice)
{
    const WalkMeans means = *bench().means();
    const auto walk = state.walk({ slice }, { means });
    EXPECT_TRUE(walk);
    std::string text;
    const auto outcome = walkTensors(**walk, InOrder, test::anyTask(), [&](std::size_t, SliceReader& reader) {
        return forEachBlock(reader, test::anyTask(), [&](ByteSpan block) { text += asText(block); });
    });
    EXPECT_TRUE(outcome);
    return text;
}

TEST(MemoryState, IsReadInAnyOrderAndInSlices)
{
    const std::string a = noise(400'000, 1);
    const std::string b = "01234567";
    const auto state =
        stateOfMemory("here", { { tensor("b", { 4 }), asBytes(b) }, { tensor("a", { 200'000 }), asBytes(a) } });
    ASSERT_TRUE(state) << state.error().text;
    ASSERT_EQ((*state)->tensors().size(), 2U);
    EXPECT_EQ((*state)->tensors()[0].name, "a");
    EXPECT_EQ((*state)->place().where, "here");
    EXPECT_EQ(read(**state, { 1 }), b);
    EXPECT_EQ(read(**state, { 0 }), a);
    EXPECT_EQ(read(**state, { 0, 65536, 131072 }), a.substr(131072, 131072));
}

TEST(MemoryState, OfWrongSizesOrNamesIsRefused)
{
    const std::string eight = "01234567";
    const auto wrong = stateOfMemory("here", { { tensor("a", { 5 }), asBytes(eight) } });
    ASSERT_FALSE(wrong);
    EXPECT_EQ(wrong.error().text, "tensor \"a\" has 8 bytes, and its dtype and shape make 10");
    const auto twice =
        stateOfMemory("here", { { tensor("a", { 4 }), asBytes(eight) }, { tensor("a", { 4 }), asBytes(eight) } });
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().text, "tensor \"a\" occurs twice");
}

TEST(ChangedState, HasTheChangesOfEachBlockAndNoOthers)
{
    const std::string bytes = noise(400'000, 1);
    const auto state = stateOfMemory(
        "here", { { tensor("a", { 200'000 }), asBytes(bytes) }, { tensor("b", { 2 }), asBytes("wxyz") } });
    ASSERT_TRUE(state);
    std::string expected = bytes;
    TensorChanges changes;
    for (const std::uint64_t first : { 0U, 70'000U, 150'000U }) { // stretches that begin and end within blocks
        StretchChanges stretch { first, {}, {} };
        for (const std::uint32_t position : { 0U, 1U, 65'535U - 60'000U, 49'999U }) {
            stretch.positions.push_back(position);
            for (const char c : { 'X', 'Y' }) {
                stretch.values.push_back(static_cast<std::byte>(c));
                expected[(first + position) * 2 + (c == 'Y' ? 1 : 0)] = c;
            }
        }
        changes.push_back(std::move(stretch));
    }
    const std::vector<TensorChanges> all { changes, {} };
    const auto changed = changedState(**state, all);
    EXPECT_EQ(read(*changed, { 0 }), expected);
    EXPECT_EQ(read(*changed, { 0, 65536, 131072 }), expected.substr(131072, 131072));
    EXPECT_EQ(read(*changed, { 1 }), "wxyz");
    EXPECT_EQ(read(**state, { 0 }), bytes) << "the state itself stays as it is";
    std::string applied = bytes;
    applyChanges(changes, Dtype::BF16, 0, std::as_writable_bytes(std::span(applied)));
    EXPECT_EQ(applied, expected);
}

TEST(ChangedState, CountsBytesWhereElementsAreNarrower)
{
    TensorInfo info = tensor("f4", { 8 });
    info.dtype = Dtype::F4;
    const auto state = stateOfMemory("here", { { info, asBytes("abcd") } });
    ASSERT_TRUE(state) << state.error().text;
    const std::vector<TensorChanges> changes { { { 0, { 2 }, { std::byte { 'X' } } } } };
    EXPECT_EQ(read(*changedState(**state, changes), { 0 }), "abXd");
}

} // namespace
} // namespace deltascope

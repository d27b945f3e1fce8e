#include "state/view_state.h"

#include "deltascope/engine/memory_state.h"
#include "deltascope/engine/walk.h"
#include "golden_copy.h"
#include "state_fixture.h"
#include "support/backends.h"
#include "version_writer_fixture.h"

#include <string>

// States whose tensors are put together from stretches of others.

namespace deltascope {
namespace {

using namespace layout_test;

/// The bytes of all slices, one after another.
Result<std::string> readSlices(const State& state, std::vector<TensorSlice> slices)
{
    DS_TRY(const std::unique_ptr<StateWalk> walk, state.walk(std::move(slices), { test::walkMeans() }));
    std::string text;
    const auto add = [&](std::size_t, SliceReader& reader) {
        return forEachBlock(reader, test::anyTask(), [&](ByteSpan block) { text += asText(block); });
    };
    DS_CHECK(walkTensors(*walk, InOrder, test::anyTask(), add));
    return text;
}

constexpr std::uint64_t Columns = 1000;

TensorInfo rows(const std::string& name, std::uint64_t count) { return tensor(name, { count, Columns }); }

TEST(ViewState, PutsRowsBelowEachOther)
{
    const std::string q = noise(2 * Columns * 200, 1);
    const std::string k = noise(2 * Columns * 40, 2);
    const FileState stored = stateOf({ { rows("k", 40), k }, { rows("q", 200), q } });
    const std::string zeros(2 * Columns * 70, '\0');
    const auto view =
        viewOf(stored,
               { { rows("qk", 310), { { 1, 0, 200 * Columns }, { {}, 0, 70 * Columns }, { 0, 0, 40 * Columns } } },
                 { rows("upper", 100), { { 1, 0, 100 * Columns } } },
                 { rows("middle", 150), { { 1, 33 * Columns, 150 * Columns } } },
                 { rows("none", 0), {} } });
    ASSERT_TRUE(view) << view.error().text;
    const State& state = **view;
    ASSERT_EQ(state.tensors().size(), 4U);
    EXPECT_EQ(state.tensors()[0].name, "middle");
    EXPECT_EQ(readSlices(state, { { 0 } }), q.substr(2 * 33 * Columns, 2 * 150 * Columns));
    EXPECT_EQ(readSlices(state, { { 1 } }), "");
    EXPECT_EQ(readSlices(state, { { 2 } }), q + zeros + k);
    EXPECT_EQ(readSlices(state, { { 3 } }), q.substr(0, 2 * 100 * Columns));
}

TEST(ViewState, ShowsTheSlicesThatAreAskedFor)
{
    const std::string a = noise(2 * Columns * 300, 1);
    const std::string b = noise(2 * Columns * 300, 2);
    const FileState stored = stateOf({ { rows("a", 300), a }, { rows("b", 300), b } });
    const auto view = viewOf(
        stored, { { rows("ab", 250), { { 0, 100 * Columns, 123 * Columns }, { 1, 7 * Columns, 127 * Columns } } } });
    ASSERT_TRUE(view) << view.error().text;
    const std::string all =
        a.substr(2 * 100 * Columns, 2 * 123 * Columns) + b.substr(2 * 7 * Columns, 2 * 127 * Columns);
    constexpr std::uint64_t Block = 64 * 1024;
    for (std::uint64_t begin = 0; begin < 250 * Columns; begin += Block) {
        for (const std::uint64_t end : { begin + 1, begin + Block, begin + 3 * Block, UINT64_MAX }) {
            const std::uint64_t last = std::min<std::uint64_t>(end, 250 * Columns);
            EXPECT_EQ(readSlices(**view, { { 0, begin, end } }), all.substr(2 * begin, 2 * (last - begin)))
                << begin << " to " << end;
        }
    }
    EXPECT_EQ(readSlices(**view, { { 0, Block, 2 * Block }, { 0, 0, Block } }),
              all.substr(2 * Block, 2 * Block) + all.substr(0, 2 * Block));
}

TEST(ViewState, HasTheDigestOfACheckpointThatIsStoredSo)
{
    const std::string q = noise(2 * Columns * 200, 1);
    const std::string k = noise(2 * Columns * 40, 2);
    const FileState apart = stateOf({ { rows("k", 40), k }, { rows("q", 200), q } });
    const auto view = viewOf(apart, { { rows("qk", 240), { { 1, 0, 200 * Columns }, { 0, 0, 40 * Columns } } } });
    ASSERT_TRUE(view) << view.error().text;
    const auto digest = digestState(bench(), **view, test::anyTask());
    const auto wanted = digestState(bench(), stateOf({ { rows("qk", 240), q + k } }), test::anyTask());
    ASSERT_TRUE(digest && wanted);
    EXPECT_EQ(digest->root.strong, wanted->root.strong);
}

TEST(ViewState, WrongRecipesAreRefused)
{
    const FileState stored = stateOf({ { tensor("a", { 4 }), "12345678" }, { tensor("f", { 4 }, Dtype::F4), "12" } });
    const auto refusal = [&](TensorRecipe recipe) {
        const auto view = viewOf(stored, { std::move(recipe) });
        EXPECT_FALSE(view);
        return view ? std::string() : view.error().text;
    };
    EXPECT_EQ(refusal({ tensor("x", { 5 }), { { 0, 0, 5 } } }),
              "tensor \"x\" of a view takes elements 0 to 5 of \"a\", which has 4");
    EXPECT_EQ(refusal({ tensor("x", { 1 }), { { 0, 5, 1 } } }),
              "tensor \"x\" of a view takes elements 5 to 6 of \"a\", which has 4");
    EXPECT_EQ(refusal({ tensor("x", { 4 }), { { 7, 0, 4 } } }),
              "tensor \"x\" of a view takes a part of a tensor that the state lacks");
    EXPECT_EQ(refusal({ tensor("x", { 4 }, Dtype::F16), { { 0, 0, 4 } } }),
              "tensor \"x\" of a view is F16 and takes a part of \"a\", which is BF16");
    EXPECT_EQ(refusal({ tensor("x", { 4 }), { { 0, 0, 3 } } }),
              "tensor \"x\" of a view has parts of 3 elements, and its shape makes 4");
    EXPECT_EQ(refusal({ tensor("x", { 2 }, Dtype::F4), { { 1, 1, 2 } } }),
              "tensor \"x\" of a view has a part that begins within a byte");
    EXPECT_EQ(refusal({ tensor("x", { UINT64_MAX, 2 }), {} }), "tensor \"x\" of a view is too large to be one tensor");
    const auto twice = viewOf(stored, { wholeTensor(stored, 0), wholeTensor(stored, 0) });
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().text, "two tensors would have the name \"a\"");
}

TEST(ViewState, RenamedTensorsKeepTheirBytes)
{
    const FileState stored = stateOf({ { tensor("_orig_mod.a", { 1 }), "12" }, { tensor("b", { 1 }), "34" } });
    const auto state = renamed(stored, { { 0, "z" } });
    ASSERT_TRUE(state) << state.error().text;
    ASSERT_EQ((*state)->tensors().size(), 2U);
    EXPECT_EQ((*state)->tensors()[0].name, "b");
    EXPECT_EQ(readSlices(**state, allTensors(**state)), "3412");
    EXPECT_EQ((*state)->fileOf(1), "model.safetensors");
    EXPECT_EQ((*state)->place().where, stored.place().where);
    const auto clash = renamed(stored, { { 0, "b" } });
    ASSERT_FALSE(clash);
    EXPECT_EQ(clash.error().code, Code::Usage);
}

/// States that deltas make, whole and cut anywhere, and what their publisher recorded.
TEST(ViewState, OfARunHasItsBytesAndItsDigests)
{
    const GoldenCopy golden("slime-v2-badchecksum"); // of a tensor of step 3
    OpenOptions how;
    how.base = golden.base;
    const auto run = openRun(bench(), golden.store, how, test::anyTask());
    ASSERT_TRUE(run) << run.error().text;
    const auto pathOf = [&](std::int64_t step) {
        auto path = openPath(*run, *planFor(*run, *run->find(step)), {}, test::anyTask());
        EXPECT_TRUE(path);
        return *path;
    };
    const PathPtr sound = pathOf(2);
    const PathPtr bad = pathOf(3);
    for (std::size_t i = 0; i < sound->tensors().size(); ++i) {
        const TensorInfo& info = sound->tensors()[i];
        const std::uint64_t all = info.elements();
        const auto bytes = readSlices(*sound, { { i } });
        ASSERT_TRUE(bytes) << bytes.error().text;
        for (const std::uint64_t from : { std::uint64_t { 1 }, all / 3, all - 1 }) {
            TensorInfo part = info;
            part.shape = { all - from };
            const auto view = viewOf(*sound, { { part, { { i, from, all - from } } } });
            ASSERT_TRUE(view) << view.error().text;
            EXPECT_EQ(readSlices(**view, { { 0 } }), bytes->substr(from * bitsOf(info.dtype) / 8)) << info.name;
        }
    }
    std::vector<TensorRecipe> whole;
    for (std::size_t i = 0; i < bad->tensors().size(); ++i)
        whole.push_back(wholeTensor(*bad, i));
    const auto view = viewOf(*bad, std::move(whole));
    ASSERT_TRUE(view) << view.error().text;
    EXPECT_TRUE((*view)->hasDigests());
    const auto read = readSlices(**view, allTensors(**view));
    ASSERT_FALSE(read) << "a part that is all of its tensor is compared with its digest";
    EXPECT_EQ(read.error().code, Code::Digest);
}

}
} // namespace deltascope

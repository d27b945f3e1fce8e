#include "deltascope/engine/check_digests.h"

#include "golden_copy.h"
#include "publish_fixture.h"
#include "state_fixture.h"
#include "version_writer_fixture.h"

#include <optional>
#include <string>
#include <vector>

// A state compared with digests that were taken elsewhere.

namespace deltascope {
namespace {

using namespace layout_test;

/// What `digest` knows of a state that is somewhere else.
std::unique_ptr<DigestState> digestsOf(const State& state, TensorHashes hashes = TensorHashes::Xxh3AndSha256)
{
    const auto digest = digestState(bench(), state, test::anyTask(), hashes);
    EXPECT_TRUE(digest) << digest.error().text;
    std::vector<KnownTensor> tensors;
    for (const TensorDigest& tensor : digest->tensors)
        tensors.push_back({ tensor.tensor, tensor.xxh3, tensor.sha256 });
    auto known = DigestState::of("there", std::move(tensors));
    EXPECT_TRUE(known) << known.error().text;
    return std::move(*known);
}

DigestCheck checked(const State& state, const DigestState& digests)
{
    const auto check = checkDigests(bench(), state, digests, test::anyTask());
    EXPECT_TRUE(check) << check.error().text;
    return check.value_or(DigestCheck());
}

std::vector<FileTensor> model()
{
    return { { tensor("a", { 300 }), noise(600, 1) }, { tensor("b", { 200, 500 }), noise(200'000, 2) } };
}

TEST(CheckDigests, AStateWithoutTensorsHasTheDigestsOfNoDocument)
{
    const auto digests = digestsOf(stateOf({}), TensorHashes::Xxh3);
    EXPECT_FALSE(checked(stateOf({}), *digests).equal());
}

TEST(CheckDigests, FindsTheTensorsWithOtherBytes)
{
    std::vector<FileTensor> other = model();
    other[1].data[199'999] ^= 1;
    for (const TensorHashes hashes : { TensorHashes::Xxh3AndSha256, TensorHashes::Xxh3 }) {
        const auto digests = digestsOf(stateOf(model()), hashes);
        const DigestCheck same = checked(stateOf(model()), *digests);
        EXPECT_TRUE(same.equal());
        EXPECT_EQ(same.tensorsCompared, 2U);
        EXPECT_EQ(same.bySha256, hashes == TensorHashes::Xxh3 ? 0U : 2U);
        EXPECT_EQ(same.bytesHashed, 200'600U);
        const DigestCheck check = checked(stateOf(other), *digests);
        EXPECT_FALSE(check.equal());
        EXPECT_EQ(check.different, std::vector<std::string> { "b" });
    }
}

/// A forged XXH3 beside the true SHA-256, and the other way round.
TEST(CheckDigests, EachDigestOfATensorMustFit)
{
    const FileState state = stateOf(model());
    const auto digests = digestsOf(state);
    for (const bool strong : { false, true }) {
        KnownTensor first = digests->known(0);
        (strong ? (*first.sha256)[31] : first.xxh3[15]) ^= std::byte { 1 };
        const auto forged = DigestState::of("there", { first, digests->known(1) });
        ASSERT_TRUE(forged);
        EXPECT_EQ(checked(state, **forged).different, std::vector<std::string> { "a" });
    }
}

TEST(CheckDigests, ListsWhatOneSideLacksOrHasInAnotherShape)
{
    const auto digests =
        digestsOf(stateOf({ { tensor("a", { 30, 10 }), noise(600, 1) }, { tensor("c", { 1 }), "12" } }));
    const DigestCheck check = checked(stateOf(model()), *digests);
    EXPECT_FALSE(check.equal());
    EXPECT_EQ(check.tensorsCompared, 0U);
    ASSERT_EQ(check.reshaped.size(), 1U);
    EXPECT_EQ(check.reshaped[0].b.shape, (std::vector<std::uint64_t> { 30, 10 }));
    EXPECT_EQ(check.onlyInState, std::vector<std::string> { "b" });
    EXPECT_EQ(check.onlyInDigests, std::vector<std::string> { "c" });
}

TEST(CheckDigests, FusesRoundsAndRenamesTheState)
{
    const std::string one("\0\0\x80\x3f", 4); // 1.0, as F32
    const std::string half = one.substr(2);
    const FileState state = stateOf({ { tensor("_orig_mod.l.gate_proj.weight", { 1, 2 }), "1234" },
                                      { tensor("_orig_mod.l.up_proj.weight", { 1, 2 }), "5678" },
                                      { tensor("_orig_mod.norm.weight", { 1 }, Dtype::F32), one } });
    const auto digests = digestsOf(
        stateOf({ { tensor("l.gate_up_proj.weight", { 2, 2 }), "12345678" }, { tensor("norm.weight", { 1 }), half } }));
    const DigestCheck check = checked(state, *digests);
    EXPECT_EQ(check.tensorsCompared, 2U);
    EXPECT_TRUE(check.different.empty());
    EXPECT_TRUE(check.onlyInState.empty() && check.onlyInDigests.empty() && check.reshaped.empty());
    EXPECT_EQ(check.forms.size(), 3U);
    EXPECT_FALSE(check.equal()) << "they are not of one form";
    // Digests cannot be rounded.
    const DigestCheck back = checked(stateOf({ { tensor("norm.weight", { 1 }), half } }),
                                     *digestsOf(stateOf({ { tensor("norm.weight", { 1 }, Dtype::F32), one } })));
    EXPECT_EQ(back.reshaped.size(), 1U);
    EXPECT_FALSE(back.equal());
}

TEST(CheckDigests, DamageOfTheStateIsNoDifference)
{
    const GoldenCopy golden("slime-v2-badchecksum"); // of a tensor of step 3
    OpenOptions how;
    how.base = golden.base;
    const auto run = openRun(bench(), golden.store, how, test::anyTask());
    ASSERT_TRUE(run) << run.error().text;
    const auto pathOf = [&](std::int64_t step) {
        return *openPath(*run, *planFor(*run, *run->find(step)), {}, test::anyTask());
    };
    const auto digests = digestsOf(*pathOf(2));
    EXPECT_TRUE(checked(*pathOf(2), *digests).equal());
    EXPECT_EQ(errorOf(checkDigests(bench(), *pathOf(3), *digests, test::anyTask())).code, Code::Digest);
}

/// Of a run whose publisher recorded roots of states alone.
TEST(CheckDigests, AStateThatFailsItsRootIsDamaged)
{
    Publishing p;
    p.options.encoding = "raw"; // whose values end the file
    p.publishAll(1, 2);
    const auto pathOf = [&](const deltascope::Run& run) { return *p.pathOf(run, 2); };
    const auto sound = p.view();
    const auto digests = digestsOf(*pathOf(sound));
    EXPECT_TRUE(checked(*pathOf(sound), *digests).equal());
    const std::string key = "deltas/step_000002.safetensors";
    std::string bytes = readObject(*p.run, key);
    bytes.back() = static_cast<char>(bytes.back() ^ 1);
    ASSERT_TRUE(putText(*p.run, key, bytes));
    const auto damaged = p.view();
    EXPECT_EQ(errorOf(checkDigests(p.bench, *pathOf(damaged), *digests, p.task)).code, Code::Digest);
}

TEST(DigestState, HasNoBytesAndNoNameTwice)
{
    const auto digests = digestsOf(stateOf(model()));
    EXPECT_EQ(digests->tensors().size(), 2U);
    EXPECT_EQ(digests->place().where, "there");
    const auto digest = digestState(bench(), *digests, test::anyTask());
    ASSERT_FALSE(digest);
    EXPECT_EQ(digest.error().code, Code::Unsupported);
    const auto twice = DigestState::of("there", { digests->known(0), digests->known(0) });
    ASSERT_FALSE(twice);
    EXPECT_EQ(twice.error().code, Code::Usage);
    EXPECT_FALSE(DigestState::of("there", { { tensor("huge", { 1ULL << 62, 4 }), {}, {} } }));
}

}
} // namespace deltascope

#include "materialize_workshop.h"

// What materialize refuses, and that nothing stands under the final name then.

namespace deltascope {
namespace {

using namespace materialize_test;

void expectRefused(Workshop& workshop, std::int64_t step, Code code, std::int64_t culprit)
{
    const Error error = errorOf(workshop.rebuild(step));
    EXPECT_EQ(error.code, code) << error.text;
    EXPECT_EQ(error.step, culprit);
    EXPECT_FALSE(error.where.empty());
    EXPECT_FALSE(workshop.exists());
    EXPECT_TRUE(workshop.leftovers().empty());
}

TEST(MaterializeRefusal, OfAWrongBase)
{
    Workshop workshop("slime-v2-wrongbase");
    expectRefused(workshop, 1, Code::BaseMismatch, 1);
    expectRefused(workshop, 3, Code::BaseMismatch, 1);
}

TEST(MaterializeRefusal, OfAFailingPublisherDigest)
{
    Workshop workshop("slime-v2-badchecksum");
    expectRefused(workshop, 3, Code::Digest, 3);
    expectRefused(workshop, 5, Code::Digest, 3);
}

TEST(MaterializeRefusal, OfAProvenLoss)
{
    Workshop workshop("trl-v2-gap-in-chain");
    expectRefused(workshop, 7, Code::ChainGap, 7);
    expectRefused(workshop, 9, Code::ChainGap, 7);
}

TEST(Materialize, AcrossAProvenLossOnRequestGivesTheChainedState)
{
    Workshop workshop("trl-v2-gap-in-chain");
    workshop.options.acrossGap = true;
    for (const Json& truth : workshop.expected["steps"]) {
        if (!truth.contains("chained_tensors"))
            continue;
        const auto report = workshop.rebuild(truth["step"]);
        ASSERT_TRUE(report);
        EXPECT_TRUE(report->lossProven);
        EXPECT_EQ(workshop.provenance()["checks"]["loss_proven"], true);
        workshop.expectWritten(truth["chained_tensors"]);
        workshop.reset();
    }
}

TEST(MaterializeRefusal, OfAPayloadThatDoesNotFit)
{
    const auto source = std::make_shared<MemoryStore>();
    const auto put = [&](const char* key, const char* sparse, const std::vector<FileTensor>& tensors) {
        ASSERT_TRUE(putText(
            *source, key,
            safetensorsFile(tensors,
                            { { "format", "sparse_weight_patch" }, { "sparse", sparse }, { "encoding", "raw" } })));
    };
    put("anchors/step_000001.safetensors", "False", { { tensor("w", { 2 }), "abcd" } });
    put("deltas/step_000002.safetensors", "True",
        { { tensor("w.idx", { 1 }, Dtype::I32), std::string("\x09\0\0\0", 4) }, { tensor("w.val", { 1 }), "xy" } });
    Workshop workshop(source);
    expectRefused(workshop, 2, Code::Malformed, 2);
}

TEST(MaterializeRefusal, OfADestinationThatIsThere)
{
    Workshop workshop("trl-v2-raw");
    fs::create_directory(workshop.out());
    std::ofstream(workshop.out() + "/mine") << "keep";
    const auto before = contentOf(workshop.folder());
    EXPECT_EQ(errorOf(workshop.rebuild(2)).code, Code::Exists);
    EXPECT_EQ(contentOf(workshop.folder()), before);
    EXPECT_TRUE(workshop.leftovers().empty());
}

TEST(MaterializeRefusal, OfADanglingLinkAtTheDestination)
{
    Workshop workshop("trl-v2-raw");
    fs::create_symlink(workshop.folder() + "/elsewhere", workshop.out());
    EXPECT_EQ(errorOf(workshop.rebuild(2)).code, Code::Exists);
    EXPECT_FALSE(fs::exists(workshop.folder() + "/elsewhere"));
}

TEST(MaterializeRefusal, OfADestinationInAFolderThatIsNotThere)
{
    Workshop workshop("trl-v2-raw");
    workshop.options.destination = workshop.folder() + "/missing/out";
    EXPECT_EQ(errorOf(workshop.rebuild(2)).code, Code::NotFound);
    EXPECT_TRUE(workshop.leftovers().empty());
}

TEST(MaterializeRefusal, OfADestinationThatIsNoNewFolder)
{
    Workshop workshop("trl-v2-raw");
    for (const char* destination : { "", ".", "..", "/" }) {
        workshop.options.destination = destination;
        const Error error = errorOf(workshop.rebuild(2));
        EXPECT_TRUE(error.code == Code::Usage || error.code == Code::Exists) << destination << ": " << error.text;
    }
}

TEST(MaterializeRefusal, OfAPartThatIsNone)
{
    Workshop workshop("trl-v2-raw");
    workshop.options.parts = 2;
    workshop.options.part = 2;
    EXPECT_EQ(errorOf(workshop.rebuild(2)).code, Code::Usage);
    workshop.options.parts = 0;
    workshop.options.part = 0;
    EXPECT_EQ(errorOf(workshop.rebuild(2)).code, Code::Usage);
}

TEST(MaterializeRefusal, OfADestinationThatAppearsMeanwhile)
{
    Workshop workshop("trl-v2-raw");
    workshop.store->onRead = [&](auto&&...) {
        if (!workshop.exists()) {
            fs::create_directory(workshop.out());
            std::ofstream(workshop.out() + "/theirs") << "keep";
        }
    };
    EXPECT_EQ(errorOf(workshop.rebuild(2)).code, Code::Exists);
    EXPECT_EQ(namesIn(workshop.out()), Names { "theirs" });
    EXPECT_TRUE(workshop.leftovers().empty());
}

TEST(Materialize, OfTwoThatRaceForOneDestinationOneWins)
{
    Workshop workshop("trl-v2-raw");
    bool nested = false;
    workshop.store->onRead = [&, reads = 0](auto&&...) mutable {
        if (++reads < 20 || std::exchange(nested, true))
            return;
        const auto other = workshop.rebuild(2); // while the first one is in the middle
        EXPECT_TRUE(other) << other.error().text;
    };
    const auto first = workshop.rebuild(2);
    workshop.store->onRead = {};
    ASSERT_TRUE(nested);
    EXPECT_EQ(errorOf(first).code, Code::Exists);
    workshop.expectStep(2);
    EXPECT_TRUE(workshop.leftovers().empty());
}

} // namespace
} // namespace deltascope

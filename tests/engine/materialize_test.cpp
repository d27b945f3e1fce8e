#include "materialize_workshop.h"
#include "support/any_task.h"
#include "support/test_name.h"

// materialize: the bytes of every step, and what lies beside them.

namespace deltascope {
namespace {

using namespace materialize_test;

class MaterializeGolden : public testing::TestWithParam<const char*> { };

TEST_P(MaterializeGolden, EveryRestorableStepHasTheBytesOfTheTrainer)
{
    Workshop workshop(GetParam());
    workshop.bench.threads = 2;
    for (const Json& truth : workshop.expected["steps"]) {
        if (truth["restorable"] == false)
            continue;
        SCOPED_TRACE(truth["step"].get<int>());
        const auto report = workshop.rebuild(truth["step"]);
        ASSERT_TRUE(report) << report.error().text;
        workshop.expectWritten(truth["tensors"]);
        EXPECT_TRUE(report->committed);
        EXPECT_EQ(report->tensors, truth["tensors"].size());
        EXPECT_EQ(report->root, toHex(workshop.written()->root.fast));
        EXPECT_TRUE(workshop.leftovers().empty());
        workshop.reset();
    }
}

INSTANTIATE_TEST_SUITE_P(Buckets, MaterializeGolden,
                         testing::Values("trl-v2-raw", "trl-v2-partial-anchor", "trl-v2-empty-step",
                                         "trl-v2-drift-bf16", "slime-v2-xor", "slime-v2-overwrite", "slime-v2-dup-name",
                                         "slime-v2-gap-in-chain", "hf-sharded", "hf-single", "dcp", "dcp-hf",
                                         "dcp-ranks"),
                         [](const auto& info) { return test::testName(info.param); });

TEST(Materialize, OddTensorsKeepTheirBytes)
{
    const auto source = std::make_shared<MemoryStore>();
    const std::vector<FileTensor> tensors = { { tensor("gewicht.größe", { 2 }), "abcd" },
                                              { tensor("scalar", {}, Dtype::F32), "1234" },
                                              { tensor("empty", { 0, 7 }), "" },
                                              { tensor("", { 1 }, Dtype::U8), "x" },
                                              { tensor("fp8", { 3 }, Dtype::F8E4M3), "\x7f\x80\x01" },
                                              { tensor("fp4", { 4 }, Dtype::F4), "ab" },
                                              { tensor("a/b \"c\"\n", { 1 }, Dtype::I64), "12345678" } };
    ASSERT_TRUE(putText(*source, "model.safetensors", safetensorsFile(tensors)));
    Workshop workshop(source);
    const auto report = workshop.rebuild(0);
    ASSERT_TRUE(report) << report.error().text;
    const auto digest = workshop.written();
    ASSERT_TRUE(digest) << digest.error().text;
    ASSERT_EQ(digest->tensors.size(), tensors.size());
    for (const TensorDigest& written : digest->tensors) {
        const auto original = std::find_if(tensors.begin(), tensors.end(), [&](const FileTensor& tensor) {
            return tensor.info.name == written.tensor.name;
        });
        ASSERT_NE(original, tensors.end());
        EXPECT_EQ(written.tensor, original->info);
        EXPECT_EQ(toHex(written.xxh3), toHex(xxh3(asBytes(original->data)))) << written.tensor.name;
    }
}

TEST(Materialize, TheReadBackFromDiskGivesTheSameCheckpoint)
{
    Workshop workshop("trl-v2-partial-anchor");
    workshop.options.readBackFromDisk = true;
    ASSERT_TRUE(workshop.rebuild(13));
    workshop.expectStep(13);
}

TEST(Materialize, TheHeaderSaysPtAsTransformersDoes)
{
    Workshop workshop("trl-v2-partial-anchor");
    ASSERT_TRUE(workshop.rebuild(2));
    const auto store = localStore(workshop.out());
    const auto header =
        SafetensorsHeader::read(*store, *store->stat("model.safetensors", test::anyTask()), test::anyTask());
    ASSERT_TRUE(header);
    EXPECT_EQ(header->meta("format"), "pt");
}

TEST(Materialize, ADestinationWithATrailingSlashIsTheSameFolder)
{
    Workshop workshop("trl-v2-partial-anchor");
    workshop.options.destination += "/";
    const auto report = workshop.rebuild(2);
    ASSERT_TRUE(report) << report.error().text;
    workshop.expectStep(2);
}

TEST(MaterializeShards, OneFileNeedsNoIndex)
{
    Workshop workshop("trl-v2-raw");
    ASSERT_TRUE(workshop.rebuild(3));
    EXPECT_EQ(namesIn(workshop.out()), (Names { "model.safetensors", "deltascope.provenance.json" }));
}

TEST(MaterializeShards, FilesWithPiecesOfTensorsBecomeOneFile)
{
    Workshop workshop("dcp-ranks");
    ASSERT_TRUE(workshop.rebuild(6));
    EXPECT_EQ(namesIn(workshop.out()), (Names { "model.safetensors", "deltascope.provenance.json" }));
}

TEST(MaterializeShards, AreThoseOfTheAnchor)
{
    Workshop workshop("slime-v2-xor");
    ASSERT_TRUE(workshop.rebuild(9));
    Names weights;
    for (const std::string& name : namesIn(workshop.out())) {
        if (name.ends_with(".safetensors"))
            weights.insert(name);
    }
    EXPECT_EQ(weights, (Names { "model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors" }));
    const Json index = Json::parse(textOf(workshop.out() + "/model.safetensors.index.json"));
    const Json before = Json::parse(textOf(goldenPath("slime-v2-xor/base/model.safetensors.index.json")));
    EXPECT_EQ(index["weight_map"], before["weight_map"]);
    EXPECT_EQ(index["metadata"]["total_size"], 75'552 * 2);
}

TEST(MaterializeShards, AreCutToTheSizeThatWasAskedFor)
{
    constexpr std::uint64_t Size = 20'000;
    Workshop workshop("trl-v2-gap");
    workshop.options.shardBytes = Size;
    const auto report = workshop.rebuild(12);
    ASSERT_TRUE(report);
    workshop.expectStep(12);
    const Json index = Json::parse(textOf(workshop.out() + "/model.safetensors.index.json"));
    const auto store = localStore(workshop.out());
    Names files;
    std::size_t tensors = 0;
    std::uint64_t bytes = 0;
    for (const auto& [name, file] : index["weight_map"].items())
        files.insert(file.get<std::string>());
    ASSERT_GT(files.size(), 2U);
    for (const std::string& file : files) {
        EXPECT_EQ(file.substr(11), fmt::format("-of-{:05}.safetensors", files.size()));
        const auto header = SafetensorsHeader::read(*store, *store->stat(file, test::anyTask()), test::anyTask());
        ASSERT_TRUE(header);
        std::uint64_t inFile = 0;
        for (const StoredTensor& tensor : header->tensors()) {
            EXPECT_EQ(index["weight_map"][tensor.info.name], file);
            inFile += tensor.bytes;
            ++tensors;
        }
        EXPECT_TRUE(inFile <= Size || header->tensors().size() == 1) << file;
        bytes += inFile;
    }
    EXPECT_EQ(tensors, report->tensors);
    EXPECT_EQ(index["metadata"]["total_size"], bytes);
}

TEST(MaterializeShards, ASizeBelowTheSmallestTensorGivesEachItsFile)
{
    Workshop workshop("trl-v2-partial-anchor");
    workshop.options.shardBytes = 1;
    const auto report = workshop.rebuild(13);
    ASSERT_TRUE(report);
    workshop.expectStep(13);
    EXPECT_EQ(namesIn(workshop.out()).size(), report->tensors + 2); // index, provenance
}

TEST(MaterializeSidecars, OfTheBaseAreCarriedOver)
{
    Workshop workshop("slime-v2-xor");
    const auto report = workshop.rebuild(3);
    ASSERT_TRUE(report);
    for (const std::string& name : report->sidecars)
        EXPECT_EQ(textOf(workshop.out() + "/" + name), textOf(goldenPath("slime-v2-xor/base/" + name))) << name;
    EXPECT_NE(std::find(report->sidecars.begin(), report->sidecars.end(), "config.json"), report->sidecars.end());
}

TEST(MaterializeSidecars, OfACheckpointFolderAreCarriedOverAndTheTrainersOwnFilesAreNot)
{
    Workshop workshop("hf-sharded");
    ASSERT_TRUE(workshop.rebuild(10));
    const Names names = namesIn(workshop.out());
    EXPECT_TRUE(names.contains("config.json"));
    EXPECT_TRUE(names.contains("generation_config.json"));
    EXPECT_FALSE(names.contains("training_args.bin"));
    EXPECT_FALSE(names.contains("trainer_state.json"));
    EXPECT_EQ(textOf(workshop.out() + "/config.json"),
              textOf(goldenPath("hf-sharded/bucket/checkpoint-10/config.json")));
}

TEST(MaterializeSidecars, OfAFolderThatWasNamedAreCarriedOver)
{
    const auto extra = std::make_shared<MemoryStore>();
    for (const char* name : { "config.json", "tokenizer.json", "chat_template.jinja", "README.md", "model.safetensors",
                              "sub/config.json" })
        ASSERT_TRUE(putText(*extra, name, std::string("text of ") + name));
    Workshop workshop("trl-v2-raw");
    workshop.options.sidecars = extra;
    ASSERT_TRUE(workshop.rebuild(2));
    EXPECT_EQ(namesIn(workshop.out()),
              (Names { "model.safetensors", "deltascope.provenance.json", "config.json", "tokenizer.json",
                       "chat_template.jinja" }));
    EXPECT_EQ(textOf(workshop.out() + "/config.json"), "text of config.json");
    workshop.expectStep(2);
}

TEST(MaterializeProvenance, SaysWhatTheCheckpointWasMadeFrom)
{
    Workshop workshop("trl-v2-raw");
    const auto report = workshop.rebuild(12);
    ASSERT_TRUE(report);
    const Json provenance = workshop.provenance();
    EXPECT_EQ(provenance["source"], workshop.store->uri());
    EXPECT_EQ(provenance["layout"], "trl-v2");
    EXPECT_EQ(provenance["step"], 12);
    EXPECT_EQ(provenance["epoch"], 0);
    EXPECT_EQ(provenance["tool_version"], "test");
    EXPECT_EQ(provenance["root"], report->root);
    EXPECT_EQ(provenance["anchor"]["step"], 10);
    ASSERT_EQ(provenance["deltas"].size(), 2U);
    EXPECT_EQ(provenance["deltas"][1]["objects"][0]["key"], "deltas/step_000012.safetensors");
    EXPECT_EQ(provenance["deltas"][1]["objects"][0]["identity"],
              workshop.store->stat("deltas/step_000012.safetensors", test::anyTask())->identity);
    EXPECT_EQ(provenance["checks"]["proven"], false) << "no digest, root or anchor vouches for it";
}

TEST(MaterializeProvenance, NamesTheExternalBaseAndTheDigestsThatMatched)
{
    Workshop workshop("slime-v2-xor");
    const auto report = workshop.rebuild(2);
    ASSERT_TRUE(report);
    EXPECT_GT(report->digestsChecked, 0U);
    const Json provenance = workshop.provenance();
    EXPECT_TRUE(provenance.contains("base"));
    EXPECT_FALSE(provenance.contains("anchor"));
    EXPECT_EQ(provenance["deltas"].size(), 2U);
    EXPECT_EQ(provenance["checks"]["publisher_digests_matched"], report->digestsChecked);
}

TEST(MaterializeProvenance, SaysThatAStepIsUnproven)
{
    Workshop workshop("trl-v2-empty-step");
    ASSERT_TRUE(workshop.rebuild(7));
    const Json provenance = workshop.provenance();
    EXPECT_EQ(provenance["checks"]["proven"], false);
    EXPECT_EQ(provenance["checks"]["across_gap"], true);
}

} // namespace
} // namespace deltascope

#include "deltascope/engine/operations.h"

#include "layout_fixture.h"
#include "read_hook_store.h"
#include "support/any_task.h"
#include "support/faulty_file_system.h"
#include "support/faulty_store.h"
#include "support/sanitizer.h"
#include "support/temp_dir.h"
#include "support/times.h"

#include <atomic>
#include <filesystem>
#include <fstream>
#include <functional>
#include <set>

// materialize: the bytes of every step, and that nothing but a whole checkpoint ever stands under the final name.

namespace deltascope {
namespace {

using namespace layout_test;
using test::DiskOperation;
using test::FaultyFileSystem;
using test::FaultyStore;
using test::LongAfter;
using test::StoreOperation;
using test::TempDir;

namespace fs = std::filesystem;

using EngineRun = deltascope::Run;
using Names = std::set<std::string>;

/// A disk that changes one byte of the `nth` write to a weight file on its way.
class FlippingFileSystem final : public FileSystem {
public:
    explicit FlippingFileSystem(std::uint64_t nth)
        : m_nth(nth)
        , m_disk(makeFileSystem())
    {
    }
    bool flipped() const { return m_writes >= m_nth; }

    Result<void> createFolder(const std::string& path) override { return m_disk->createFolder(path); }
    Result<std::unique_ptr<OutputFile>> create(const std::string& path) override
    {
        DS_TRY(std::unique_ptr<OutputFile> file, m_disk->create(path));
        if (!path.ends_with(".safetensors"))
            return file;
        return std::unique_ptr<OutputFile>(std::make_unique<File>(*this, std::move(file)));
    }
    Result<std::unique_ptr<OutputFile>> openExisting(const std::string& path) override
    {
        return m_disk->openExisting(path);
    }
    Result<std::unique_ptr<const OutputFile>> openForRead(const std::string& path) const override
    {
        return m_disk->openForRead(path);
    }
    Result<std::vector<std::string>> list(const std::string& folder) const override { return m_disk->list(folder); }
    bool exists(const std::string& path) const noexcept override { return m_disk->exists(path); }
    Result<std::uint64_t> sizeOf(const std::string& path) const override { return m_disk->sizeOf(path); }
    Result<std::string> identityOf(const std::string& path) const override { return m_disk->identityOf(path); }
    Result<std::uint64_t> freeBytes(const std::string& folder) const override { return m_disk->freeBytes(folder); }
    Result<void> renameNoReplace(const std::string& from, const std::string& to) override
    {
        return m_disk->renameNoReplace(from, to);
    }
    Result<void> replace(const std::string& from, const std::string& to) override { return m_disk->replace(from, to); }
    Result<void> syncFolder(const std::string& path) override { return m_disk->syncFolder(path); }
    Result<void> removeFile(const std::string& path) override { return m_disk->removeFile(path); }
    Result<void> removeTree(const std::string& path) override { return m_disk->removeTree(path); }
    Result<std::unique_ptr<FolderLock>> lock(const std::string& folder) override { return m_disk->lock(folder); }

private:
    class File final : public OutputFile {
    public:
        File(FlippingFileSystem& owner, std::unique_ptr<OutputFile> inner)
            : m_owner(owner)
            , m_inner(std::move(inner))
        {
        }
        Result<void> preallocate(std::uint64_t size) override { return m_inner->preallocate(size); }
        Result<void> write(std::uint64_t offset, ByteSpan bytes) override
        {
            // the header is written first and is not covered by the leaves
            if (offset == 0 || bytes.empty() || ++m_owner.m_writes != m_owner.m_nth)
                return m_inner->write(offset, bytes);
            std::vector<std::byte> changed(bytes.begin(), bytes.end());
            changed[changed.size() / 2] ^= std::byte { 0x10 };
            return m_inner->write(offset, changed);
        }
        Result<void> read(std::uint64_t offset, MutableByteSpan out) const override
        {
            return m_inner->read(offset, out);
        }
        void startWriteback(std::uint64_t offset, std::uint64_t bytes) noexcept override
        {
            m_inner->startWriteback(offset, bytes);
        }
        Result<void> sync() override { return m_inner->sync(); }
        void dropCache() noexcept override { m_inner->dropCache(); }

    private:
        FlippingFileSystem& m_owner;
        std::unique_ptr<OutputFile> m_inner;
    };

    std::uint64_t m_nth;
    std::atomic<std::uint64_t> m_writes = 0;
    std::unique_ptr<FileSystem> m_disk;
};

Names namesIn(const std::string& folder)
{
    Names names;
    for (const auto& entry : fs::directory_iterator(folder))
        names.insert(entry.path().filename().string());
    return names;
}

std::string textOf(const std::string& path)
{
    std::ifstream stream(path, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
}

/// Names and bytes of everything in a folder.
std::map<std::string, std::string> contentOf(const std::string& folder)
{
    std::map<std::string, std::string> content;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
        if (entry.is_regular_file())
            content[entry.path().string()] = textOf(entry.path().string());
    }
    return content;
}

/// Rebuilds steps of one source into a folder of its own.
class Workshop {
public:
    explicit Workshop(std::shared_ptr<ObjectStore> source, std::shared_ptr<ObjectStore> base = {})
        : store(std::make_shared<ReadHookStore>(std::move(source)))
        , m_base(std::move(base))
        , m_real(makeFileSystem())
    {
        bench.layouts = builtinLayouts();
        bench.disk = m_real.get();
        bench.threads = 1;
        bench.nowUs = [] { return LongAfter; };
        options.destination = out();
        options.toolVersion = "test";
        reopen();
    }
    explicit Workshop(const std::string& golden)
        : Workshop(localStore(goldenPath(golden + "/bucket")),
                   fs::exists(goldenPath(golden + "/base")) ? localStore(goldenPath(golden + "/base")) : nullptr)
    {
        expected = expectedOf(golden);
    }

    void reopen()
    {
        OpenOptions open;
        open.base = m_base;
        TaskContext task;
        auto opened = openRun(bench, store, open, task);
        ASSERT_TRUE(opened) << opened.error().text;
        run = std::move(*opened);
    }

    /// The same bucket and base, found elsewhere.
    void moveTo(const std::string& golden)
    {
        store = std::make_shared<ReadHookStore>(localStore(golden + "/bucket"));
        m_base = localStore(golden + "/base");
        reopen();
    }

    std::string out() const { return m_folder.path("out"); }
    std::string folder() const { return m_folder.path(); }
    bool exists() const { return fs::exists(out()); }
    /// Private folders beside the destination.
    Names leftovers() const
    {
        Names names = namesIn(folder());
        names.erase("out");
        return names;
    }
    void reset() const
    {
        for (const auto& entry : fs::directory_iterator(folder()))
            fs::remove_all(entry.path());
    }

    Result<MaterializeReport> rebuild(std::int64_t step, TaskContext& task)
    {
        const Version* version = run.find(step);
        EXPECT_NE(version, nullptr);
        DS_TRY(const Plan plan, planFor(run, *version, { .acrossGap = options.acrossGap }));
        return materialize(bench, run, *version, plan, options, task);
    }
    Result<MaterializeReport> rebuild(std::int64_t step)
    {
        TaskContext task;
        return rebuild(step, task);
    }
    /// Stops at the `nth` read of the source.
    Result<MaterializeReport> rebuildUntil(std::int64_t step, std::uint64_t nth)
    {
        TaskContext task;
        std::uint64_t reads = 0;
        store->onRead = [&](auto&&...) {
            if (++reads == nth)
                task.requestStop();
        };
        auto report = rebuild(step, task);
        store->onRead = {};
        return report;
    }

    /// The checkpoint in the destination, as a reader sees it.
    Result<CheckpointDigest> written() const
    {
        Workbench reader;
        reader.layouts = builtinLayouts();
        reader.threads = 1;
        reader.nowUs = [] { return LongAfter; };
        TaskContext task;
        DS_TRY(const auto opened, openRun(reader, localStore(out()), {}, task));
        DS_TRY(const Plan plan, planFor(opened, opened.versions.at(0)));
        DS_TRY(const PathPtr path, openPath(opened, plan, { 2 }, task));
        return digestState(reader, *path, task);
    }
    void expectWritten(const Json& tensors) const
    {
        const auto digest = written();
        ASSERT_TRUE(digest) << digest.error().text;
        ASSERT_EQ(digest->tensors.size(), tensors.size());
        for (const TensorDigest& tensor : digest->tensors) {
            ASSERT_TRUE(tensors.contains(tensor.tensor.name)) << tensor.tensor.name;
            const Json& truth = tensors[tensor.tensor.name];
            EXPECT_EQ(toHex(tensor.sha256.value()), truth["sha256"].get<std::string>()) << tensor.tensor.name;
            EXPECT_EQ(toHex(tensor.xxh3), truth["xxh3_128"].get<std::string>()) << tensor.tensor.name;
            EXPECT_EQ(word(tensor.tensor.dtype), truth["dtype"].get<std::string>());
            EXPECT_EQ(tensor.tensor.shape, truth["shape"].get<std::vector<std::uint64_t>>());
        }
    }
    Json provenance() const { return Json::parse(textOf(out() + "/deltascope.provenance.json")); }
    void expectStep(std::int64_t step) const
    {
        for (const Json& truth : expected["steps"]) {
            if (truth["step"] == step)
                return expectWritten(truth["tensors"]);
        }
        ADD_FAILURE() << "no step " << step;
    }

    std::shared_ptr<ReadHookStore> store;
    Workbench bench;
    MaterializeOptions options;
    EngineRun run;
    Json expected;

private:
    std::shared_ptr<ObjectStore> m_base;
    std::unique_ptr<FileSystem> m_real;
    TempDir m_folder;
};

// --- bytes -----------------------------------------------------------------------------------------------------------

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
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace_if(
                                 name.begin(), name.end(), [](char c) { return std::isalnum(c) == 0; }, '_');
                             return name;
                         });

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

// --- shards and what lies beside them --------------------------------------------------------------------------------

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

// --- refusals --------------------------------------------------------------------------------------------------------

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

// --- faults of the disk ----------------------------------------------------------------------------------------------

const Error DiskError { Code::Io, "input/output error", "some file", {}, {} };

struct NamedOperation {
    DiskOperation operation;
    const char* name;
};

class MaterializeFaults : public testing::TestWithParam<NamedOperation> { };

TEST_P(MaterializeFaults, TheNthCallThatFailsLeavesNothingUnderTheFinalName)
{
    Workshop workshop("slime-v2-overwrite");
    const auto source = contentOf(goldenPath("slime-v2-overwrite"));
    FaultyFileSystem disk;
    workshop.bench.disk = &disk;
    std::uint64_t nth = 1;
    for (;; ++nth) {
        SCOPED_TRACE(nth);
        const std::uint64_t before = disk.faults();
        disk.failNth(GetParam().operation, nth, DiskError);
        const auto report = workshop.rebuild(4);
        const bool hit = disk.faults() > before;
        disk.clearFaults();
        if (!hit) {
            ASSERT_TRUE(report) << report.error().text;
            break;
        }
        if (!report) {
            EXPECT_EQ(report.error().code, Code::Io);
            ASSERT_FALSE(workshop.exists());
            const auto again = workshop.rebuild(4);
            ASSERT_TRUE(again) << again.error().text;
        }
        workshop.expectStep(4);
        EXPECT_TRUE(workshop.leftovers().empty());
        workshop.reset();
    }
    EXPECT_EQ(contentOf(goldenPath("slime-v2-overwrite")), source);
}

INSTANTIATE_TEST_SUITE_P(
    Operations, MaterializeFaults,
    testing::Values(
        NamedOperation { DiskOperation::CreateFolder, "CreateFolder" },
        NamedOperation { DiskOperation::Create, "Create" },
        NamedOperation { DiskOperation::OpenExisting, "OpenExisting" },
        NamedOperation { DiskOperation::OpenForRead, "OpenForRead" }, NamedOperation { DiskOperation::List, "List" },
        NamedOperation { DiskOperation::SizeOf, "SizeOf" }, NamedOperation { DiskOperation::FreeBytes, "FreeBytes" },
        NamedOperation { DiskOperation::Rename, "Rename" }, NamedOperation { DiskOperation::SyncFolder, "SyncFolder" },
        NamedOperation { DiskOperation::RemoveFile, "RemoveFile" },
        NamedOperation { DiskOperation::RemoveTree, "RemoveTree" }, NamedOperation { DiskOperation::Lock, "Lock" },
        NamedOperation { DiskOperation::Preallocate, "Preallocate" }, NamedOperation { DiskOperation::Write, "Write" },
        NamedOperation { DiskOperation::Read, "Read" }, NamedOperation { DiskOperation::Sync, "Sync" }),
    [](const auto& info) { return info.param.name; });

TEST(MaterializeFaults, EveryCallOfAResumedRebuildMayFail)
{
    Workshop workshop("slime-v2-overwrite");
    FaultyFileSystem disk;
    workshop.bench.disk = &disk;
    for (std::uint64_t nth = 1;; ++nth) {
        SCOPED_TRACE(nth);
        ASSERT_EQ(errorOf(workshop.rebuildUntil(4, 30)).code, Code::Canceled);
        const std::uint64_t before = disk.faults();
        disk.failNth(DiskOperation::Any, nth, DiskError);
        const auto report = workshop.rebuild(4);
        const bool hit = disk.faults() > before;
        disk.clearFaults();
        if (!hit) {
            ASSERT_TRUE(report);
            EXPECT_GT(nth, 20U);
            break;
        }
        if (!report) {
            ASSERT_FALSE(workshop.exists());
            const auto again = workshop.rebuild(4);
            ASSERT_TRUE(again) << again.error().text;
        }
        workshop.expectStep(4);
        workshop.reset();
    }
}

TEST(MaterializeFaults, ADiskThatFailsForeverLeavesNothingUnderTheFinalName)
{
    Workshop workshop("slime-v2-overwrite");
    FaultyFileSystem disk;
    workshop.bench.disk = &disk;
    for (std::uint64_t nth = 1;; ++nth) {
        SCOPED_TRACE(nth);
        disk.failNth(DiskOperation::Any, nth, DiskError, test::Repeat::Forever);
        const std::uint64_t before = disk.faults();
        const auto report = workshop.rebuild(4);
        const bool hit = disk.faults() > before;
        disk.clearFaults();
        if (report) {
            workshop.expectStep(4);
            if (!hit)
                break;
        } else if (workshop.exists()) {
            workshop.expectStep(4); // renamed and then neither synced nor taken back: whole at least
        } else {
            ASSERT_TRUE(workshop.rebuild(4));
        }
        workshop.reset();
    }
}

TEST(MaterializeFaults, ADiskThatIsFullAtAnySizeSaysSoAndLeavesNothing)
{
    Workshop workshop("slime-v2-overwrite");
    FaultyFileSystem disk;
    workshop.bench.disk = &disk;
    ASSERT_TRUE(workshop.rebuild(4));
    std::uint64_t whole = 0;
    for (const auto& entry : fs::directory_iterator(workshop.out()))
        whole += entry.file_size();
    workshop.reset();
    std::size_t refused = 0, kept = 0;
    for (std::uint64_t budget = 0;; budget += budget < whole - 1500 ? whole / 23 : 97) {
        SCOPED_TRACE(budget);
        disk.limitBytes(budget);
        const auto report = workshop.rebuild(4);
        disk.clearFaults();
        if (report) {
            EXPECT_GE(budget + 1, whole);
            break;
        }
        ++refused;
        EXPECT_EQ(report.error().code, Code::NoSpace) << report.error().text;
        EXPECT_FALSE(workshop.exists());
        const bool saysKept = report.error().text.find("is kept") != std::string::npos;
        EXPECT_EQ(workshop.leftovers().size(), saysKept ? 1U : 0U);
        kept += saysKept ? 1 : 0;
        workshop.reset();
    }
    EXPECT_GT(refused, 20U);
    EXPECT_GT(kept, 5U);
    workshop.expectStep(4);
}

TEST(MaterializeFaults, AByteThatChangesOnItsWayToTheDiskIsFound)
{
    Workshop workshop("slime-v2-overwrite");
    for (std::uint64_t nth = 1;; ++nth) {
        SCOPED_TRACE(nth);
        FlippingFileSystem disk(nth);
        workshop.bench.disk = &disk;
        const auto report = workshop.rebuild(4);
        if (!disk.flipped()) {
            ASSERT_TRUE(report);
            EXPECT_GT(nth, 10U);
            break;
        }
        ASSERT_FALSE(report);
        EXPECT_EQ(report.error().code, Code::Digest) << report.error().text;
        EXPECT_NE(report.error().text.find("leaf 0"), std::string::npos) << report.error().text;
        EXPECT_FALSE(workshop.exists());
        EXPECT_TRUE(workshop.leftovers().empty());
    }
    workshop.expectStep(4);
}

// --- stop and go on --------------------------------------------------------------------------------------------------

TEST(MaterializeResume, AStoppedRebuildIsKeptAndGoneOnWith)
{
    Workshop workshop("slime-v2-xor");
    std::uint64_t mostResumed = 0;
    for (std::uint64_t stopAt = 1;; stopAt += 17) {
        SCOPED_TRACE(stopAt);
        const auto stopped = workshop.rebuildUntil(9, stopAt);
        if (stopped)
            break;
        EXPECT_EQ(stopped.error().code, Code::Canceled);
        EXPECT_FALSE(workshop.exists());
        EXPECT_EQ(workshop.leftovers().size(), 1U);
        const auto report = workshop.rebuild(9);
        ASSERT_TRUE(report) << report.error().text;
        mostResumed = std::max(mostResumed, report->resumedBytes);
        workshop.expectStep(9);
        EXPECT_TRUE(workshop.leftovers().empty());
        EXPECT_EQ(report->root, toHex(workshop.written()->root.fast));
        workshop.reset();
    }
    EXPECT_GT(mostResumed, 75'552U); // at least half of the model was not written again
}

TEST(MaterializeResume, WhatMayPassKeepsWhatIsBuilt)
{
    for (const Code code : { Code::Transient, Code::Auth, Code::ListSuspect, Code::Digest, Code::Hostile, Code::Io }) {
        SCOPED_TRACE(word(code));
        const auto faulty = std::make_shared<FaultyStore>(localStore(goldenPath("slime-v2-xor/bucket")));
        Workshop workshop(faulty, localStore(goldenPath("slime-v2-xor/base")));
        workshop.expected = expectedOf("slime-v2-xor");
        const std::uint64_t before = faulty->calls(StoreOperation::Read);
        ASSERT_TRUE(workshop.rebuild(9));
        const std::uint64_t reads = faulty->calls(StoreOperation::Read) - before;
        workshop.reset();
        faulty->failNth(StoreOperation::Read, reads - 2, { code, "it fails", {}, {}, {} }, test::Repeat::Forever);
        const Error error = errorOf(workshop.rebuild(9));
        EXPECT_EQ(error.code, code) << error.text;
        EXPECT_FALSE(workshop.exists());
        const bool passes = code == Code::Transient || code == Code::Auth || code == Code::ListSuspect;
        EXPECT_EQ(workshop.leftovers().size(), passes ? 1U : 0U);
        EXPECT_EQ(error.text.find("is kept") != std::string::npos, passes) << error.text;
        faulty->clearFaults();
        const auto report = workshop.rebuild(9);
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_EQ(report->resumedBytes > 0, passes);
        workshop.expectStep(9);
        EXPECT_TRUE(workshop.leftovers().empty());
    }
}

TEST(MaterializeResume, WhatFailsBeforeATensorIsFinishedLeavesNothing)
{
    const auto faulty = std::make_shared<FaultyStore>(localStore(goldenPath("slime-v2-xor/bucket")));
    Workshop workshop(faulty, localStore(goldenPath("slime-v2-xor/base")));
    faulty->failNth(StoreOperation::Read, 1, { Code::Transient, "it fails", {}, {}, {} }, test::Repeat::Forever);
    EXPECT_EQ(errorOf(workshop.rebuild(9)).code, Code::Transient);
    EXPECT_TRUE(workshop.leftovers().empty());
}

TEST(MaterializeResume, WhatCameWrongAndComesRightNowIsBuiltFromTheBeginning)
{
    for (const bool passes : { true, false }) {
        SCOPED_TRACE(passes);
        Workshop workshop("slime-v2-xor");
        const auto faulty = std::make_shared<FaultyStore>(localStore(goldenPath("slime-v2-xor/bucket")));
        workshop.store = std::make_shared<ReadHookStore>(faulty);
        workshop.reopen();
        TaskContext task;
        std::uint64_t reads = 0;
        workshop.store->onRead = [&](auto&&...) {
            if (++reads != 60 && reads != 200)
                return;
            faulty->failNth(StoreOperation::Read, 1, { Code::Digest, "it came wrong", "key", {}, {} });
            if (passes)
                task.addNotice({ Code::Refetched, "it came wrong and comes right now", "key", {}, {} });
        };
        const auto report = workshop.rebuild(9, task);
        ASSERT_EQ(bool(report), passes);
        EXPECT_TRUE(workshop.leftovers().empty());
        if (!passes)
            continue;
        EXPECT_EQ(report->resumedBytes, 0U);
        EXPECT_EQ(report->notices, task.notices());
        workshop.expectStep(9);
    }
}

/// Stops when almost everything is done.
void stopLate(Workshop& workshop, std::int64_t step)
{
    std::uint64_t reads = 0;
    workshop.store->onRead = [&](auto&&...) { ++reads; };
    EXPECT_TRUE(workshop.rebuild(step));
    workshop.reset();
    EXPECT_EQ(errorOf(workshop.rebuildUntil(step, reads - 2)).code, Code::Canceled);
}

/// Stops late, calls `tamper` with the private folder, and goes on.
MaterializeReport resumedAfter(Workshop& workshop, const std::function<void(const std::string&)>& tamper)
{
    stopLate(workshop, 9);
    EXPECT_EQ(workshop.leftovers().size(), 1U);
    tamper(workshop.folder() + "/" + *workshop.leftovers().begin());
    const auto report = workshop.rebuild(9);
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : MaterializeReport();
}

TEST(MaterializeResume, FinishedTensorsAreNotReadAgain)
{
    Workshop workshop("slime-v2-xor");
    std::uint64_t whole = 0;
    workshop.store->onRead = [&](auto&&...) { ++whole; };
    ASSERT_TRUE(workshop.rebuild(9));
    workshop.reset();
    ASSERT_EQ(errorOf(workshop.rebuildUntil(9, whole - 2)).code, Code::Canceled);
    std::uint64_t rest = 0;
    workshop.store->onRead = [&](auto&&...) { ++rest; };
    ASSERT_TRUE(workshop.rebuild(9));
    EXPECT_LT(rest, whole);
    workshop.expectStep(9);
}

TEST(MaterializeResume, TensorsThatWereTamperedWithAreWrittenAgain)
{
    Workshop workshop("slime-v2-xor");
    const MaterializeReport sound = resumedAfter(workshop, [](const std::string&) {});
    workshop.reset();
    const MaterializeReport tampered = resumedAfter(workshop, [](const std::string& folder) {
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() != ".safetensors")
                continue;
            std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
            file.seekp(static_cast<std::streamoff>(entry.file_size() / 2));
            file.put('\x5a');
        }
    });
    EXPECT_GT(sound.resumedBytes, 0U);
    EXPECT_LT(tampered.resumedBytes, sound.resumedBytes);
    EXPECT_EQ(tampered.root, sound.root);
    workshop.expectStep(9);
}

TEST(MaterializeResume, ARecordThatNobodyWroteIsNotBelieved)
{
    for (const char* text :
         { "", "{\"tensor\":1}\n", "{\"tensor\":\"lm_head.weight\",\"leaves\":\"zz\",\"digests\":0,\"noops\":false}\n",
           "{\"tensor\":\"lm_head.weight\",\"leaves\":\"00000000000000000000000000000000\",\"digests\":0,\"noops\":"
           "false}\n",
           "{\"tensor\":\"lm_head.weight\",\"leaves\":\"\",\"digests\":-1,\"noops\":7}\n[]\n5\nnull\n{\"end\":\"x\"}\n",
           "torn line without end", "\0\0\0\0\0\0\0\0" }) {
        Workshop workshop("slime-v2-xor");
        resumedAfter(workshop,
                     [&](const std::string& folder) { std::ofstream(folder + "/deltascope-progress.jsonl") << text; });
        workshop.expectStep(9);
    }
}

TEST(MaterializeResume, FilesThatAreMissingOrShortAreWrittenAgain)
{
    for (const bool remove : { true, false }) {
        Workshop workshop("slime-v2-xor");
        resumedAfter(workshop, [&](const std::string& folder) {
            const fs::path file = folder + "/model-00001-of-00002.safetensors";
            remove ? static_cast<void>(fs::remove(file)) : fs::resize_file(file, 100);
        });
        workshop.expectStep(9);
    }
}

TEST(MaterializeResume, ALeftoverOfAnotherStepIsNotTaken)
{
    Workshop workshop("slime-v2-xor");
    stopLate(workshop, 9);
    const auto report = workshop.rebuild(4);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resumedBytes, 0U);
    workshop.expectStep(4);
    EXPECT_EQ(workshop.leftovers().size(), 1U); // is never removed blindly
}

TEST(MaterializeResume, ALeftoverWithAnotherShardSizeIsNotTaken)
{
    Workshop workshop("slime-v2-xor");
    stopLate(workshop, 9);
    workshop.options.shardBytes = 20'000;
    const auto report = workshop.rebuild(9);
    ASSERT_TRUE(report);
    EXPECT_EQ(report->resumedBytes, 0U);
    workshop.expectStep(9);
}

TEST(MaterializeResume, StoppedBeforeItBeganItLeavesNothingUnderTheFinalName)
{
    Workshop workshop("slime-v2-xor");
    TaskContext task;
    task.requestStop();
    EXPECT_EQ(errorOf(workshop.rebuild(9, task)).code, Code::Canceled);
    EXPECT_FALSE(workshop.exists());
    ASSERT_TRUE(workshop.rebuild(9));
    EXPECT_TRUE(workshop.leftovers().empty());
}

// --- shared rebuilds -------------------------------------------------------------------------------------------------

class MaterializeParts : public testing::Test {
protected:
    MaterializeParts()
        : workshop("slime-v2-xor")
    {
        workshop.options.shardBytes = 30'000;
    }
    Result<MaterializeReport> part(std::uint32_t part, std::uint32_t parts)
    {
        workshop.options.part = part;
        workshop.options.parts = parts;
        workshop.options.commit = false;
        return workshop.rebuild(9);
    }
    Result<MaterializeReport> commit()
    {
        workshop.options.part = 0;
        workshop.options.parts = 1;
        workshop.options.commit = true;
        return workshop.rebuild(9);
    }
    void expectWhole()
    {
        workshop.expectStep(9);
        EXPECT_TRUE(workshop.leftovers().empty());
        for (const std::string& name : namesIn(workshop.out()))
            EXPECT_FALSE(name.starts_with("part-")) << name;
    }

    Workshop workshop;
};

TEST_F(MaterializeParts, MakeOneCheckpointOnceCommitted)
{
    for (std::uint32_t i = 0; i < 3; ++i) {
        const auto report = part(i, 3);
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_FALSE(report->committed);
        EXPECT_FALSE(workshop.exists());
    }
    const auto report = commit();
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_TRUE(report->committed);
    EXPECT_EQ(report->root, toHex(workshop.written()->root.fast));
    expectWhole();
}

TEST_F(MaterializeParts, ACommittedCheckpointEqualsOneThatWasMadeAtOnce)
{
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(part(0, 2));
    const auto shared = commit();
    ASSERT_TRUE(shared);
    auto content = contentOf(workshop.out());
    workshop.reset();
    workshop.options.commit = false;
    const auto alone = workshop.rebuild(9);
    ASSERT_TRUE(alone);
    EXPECT_EQ(shared->root, alone->root);
    EXPECT_EQ(shared->digestsChecked, alone->digestsChecked);
    EXPECT_EQ(shared->sidecars, alone->sidecars);
    EXPECT_EQ(contentOf(workshop.out()), content);
}

TEST_F(MaterializeParts, MayBeMoreThanThereAreFiles)
{
    for (std::uint32_t i = 0; i < 20; ++i)
        ASSERT_TRUE(part(i, 20)) << i;
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, AreNotCommittedBeforeAllAreDone)
{
    ASSERT_TRUE(part(0, 2));
    const Error error = errorOf(commit());
    EXPECT_EQ(error.code, Code::Unfinished);
    EXPECT_NE(error.text.find("part 1 of 2"), std::string::npos) << error.text;
    EXPECT_FALSE(workshop.exists());
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, WithoutAnyThereIsNothingToCommit)
{
    EXPECT_EQ(errorOf(commit()).code, Code::NotFound);
    EXPECT_FALSE(workshop.exists());
}

TEST_F(MaterializeParts, OfTwoDivisionsAreNotMixed)
{
    ASSERT_TRUE(part(0, 2));
    const Error error = errorOf(part(1, 3));
    EXPECT_EQ(error.code, Code::Usage);
    EXPECT_NE(error.text.find("in 2 parts, not in 3"), std::string::npos) << error.text;
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, FindEachOtherAcrossMachinesThatMountTheSourceDifferently)
{
    const std::string original = goldenPath("slime-v2-xor");
    const TempDir folder;
    const std::string elsewhere = folder.path("elsewhere");
    fs::copy(original, elsewhere, fs::copy_options::recursive); // other device and inode numbers, another path
    for (const auto& entry : fs::recursive_directory_iterator(original)) {
        if (entry.is_regular_file())
            fs::last_write_time(fs::path(elsewhere) / fs::relative(entry.path(), original),
                                fs::last_write_time(entry.path()));
    }
    ASSERT_TRUE(part(0, 2));
    workshop.moveTo(elsewhere);
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, OnePartIsNotDoneByTwoAtATime)
{
    bool nested = false;
    Result<MaterializeReport> second = MaterializeReport();
    workshop.store->onRead = [&, reads = 0](auto&&...) mutable {
        if (++reads > 60 && !std::exchange(nested, true))
            second = part(0, 2);
    };
    ASSERT_TRUE(part(0, 2));
    workshop.store->onRead = {};
    ASSERT_TRUE(nested);
    EXPECT_EQ(errorOf(second).code, Code::Exists);
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, ADonePartCanBeRunAgain)
{
    ASSERT_TRUE(part(0, 2));
    const auto again = part(0, 2);
    ASSERT_TRUE(again);
    EXPECT_GT(again->resumedBytes, 0U);
    ASSERT_TRUE(part(1, 2));
    ASSERT_TRUE(commit());
    expectWhole();
}

TEST_F(MaterializeParts, AFileThatWasCutShortBeforeTheCommitIsNoticed)
{
    ASSERT_TRUE(part(0, 2));
    ASSERT_TRUE(part(1, 2));
    const std::string folder = workshop.folder() + "/" + *workshop.leftovers().begin();
    for (const auto& entry : fs::directory_iterator(folder)) {
        if (entry.path().extension() == ".safetensors")
            fs::resize_file(entry.path(), entry.file_size() - 1);
    }
    EXPECT_EQ(errorOf(commit()).code, Code::Unfinished);
    EXPECT_FALSE(workshop.exists());
}

TEST_F(MaterializeParts, AFileThatWasChangedBeforeTheCommitIsNamedAndWrittenAgainByItsPart)
{
    for (const bool inHeader : { true, false }) {
        SCOPED_TRACE(inHeader);
        ASSERT_TRUE(part(0, 2));
        ASSERT_TRUE(part(1, 2));
        const std::string folder = workshop.folder() + "/" + *workshop.leftovers().begin();
        std::set<std::string> files;
        for (const auto& entry : fs::directory_iterator(folder)) {
            if (entry.path().extension() == ".safetensors")
                files.insert(entry.path().string());
        }
        ASSERT_GT(files.size(), 1U);
        const std::string changed = *std::next(files.begin()); // of part 1
        std::fstream file(changed, std::ios::in | std::ios::out | std::ios::binary);
        file.seekg(inHeader ? 12 : -7, inHeader ? std::ios::beg : std::ios::end);
        const std::streamoff at = file.tellg();
        const int byte = file.get();
        file.seekp(at);
        file.put(static_cast<char>(byte ^ 4));
        file.close();
        const Error error = errorOf(commit());
        EXPECT_EQ(error.code, Code::Digest);
        EXPECT_EQ(error.where, changed);
        EXPECT_EQ(error.action, "run materialize --shard 1/2 again, then --commit");
        EXPECT_FALSE(workshop.exists());
        ASSERT_TRUE(part(1, 2));
        ASSERT_TRUE(commit());
        expectWhole();
        workshop.reset();
    }
}

TEST_F(MaterializeParts, EveryCallOfACommitMayFail)
{
    FaultyFileSystem disk;
    workshop.bench.disk = &disk;
    constexpr std::uint64_t Each = test::UnderSanitizer ? 5 : 1;
    for (std::uint64_t nth = 1;; nth += Each) {
        SCOPED_TRACE(nth);
        ASSERT_TRUE(part(0, 2));
        ASSERT_TRUE(part(1, 2));
        const std::uint64_t before = disk.faults();
        disk.failNth(DiskOperation::Any, nth, DiskError);
        const auto report = commit();
        const bool hit = disk.faults() > before;
        disk.clearFaults();
        if (!hit) {
            ASSERT_TRUE(report);
            break;
        }
        if (!report) {
            ASSERT_FALSE(workshop.exists());
            if (!commit()) { // then at least the parts can be run again
                ASSERT_TRUE(part(0, 2));
                ASSERT_TRUE(part(1, 2));
                const auto again = commit();
                ASSERT_TRUE(again) << again.error().text;
            }
        }
        expectWhole();
        workshop.reset();
    }
}

} // namespace
} // namespace deltascope

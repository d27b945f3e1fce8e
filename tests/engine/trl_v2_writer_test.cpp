#include "format/trl/trl_v2_writer.h"

#include "format/trl/trl_layout.h"
#include "support/any_task.h"
#include "support/temp_dir.h"
#include "version_writer_fixture.h"
#include "worked_examples.h"

#include <algorithm>

namespace deltascope {
namespace {

using namespace layout_test;

const Model LayerBefore = modelOf("layer.weight", TrlBefore);
const Model LayerAfter = modelOf("layer.weight", TrlAfter);

TrlV2WriterOptions optionsOf(TrlV2Encoding encoding, std::int64_t step = 2)
{
    TrlV2WriterOptions options;
    options.step = step;
    options.encoding = encoding;
    return options;
}

Result<std::vector<ObjectInfo>> publish(Source& source, const Model& before, const Model& after,
                                        TrlV2WriterOptions options, std::size_t blockBytes = 192)
{
    DS_TRY(const std::unique_ptr<VersionWriter> writer, makeTrlV2DeltaWriter(std::move(options)));
    DS_CHECK(writeModel(*writer, before, after, blockBytes));
    return writer->finish(source.store(), source.task);
}

Result<std::vector<ObjectInfo>> publishAnchor(Source& source, const Model& model, TrlV2WriterOptions options)
{
    std::vector<TensorInfo> tensors;
    for (const auto& [name, tensor] : model)
        tensors.push_back(tensor.info);
    DS_TRY(const std::unique_ptr<VersionWriter> writer, makeTrlV2AnchorWriter(std::move(options), tensors));
    for (const auto& [name, tensor] : model) {
        DS_TRY(const std::unique_ptr<TensorWriter> out, writer->begin(tensor.info));
        for (std::size_t begin = 0; begin < tensor.data.size(); begin += 192)
            DS_CHECK(out->add({ {}, asBytes(std::string_view(tensor.data).substr(begin, 192)), {} }));
        DS_CHECK(out->end(source.task));
    }
    return writer->finish(source.store(), source.task);
}

/// Everything that the layout carries.
struct TrlStep : ModelStep {
    TrlStep() { after["scalar"].data = fromHex("813f"); }
};

TEST(TrlV2Writer, WritesTheExamplesOfTheFormatPage)
{
    const std::map<TrlV2Encoding, std::pair<std::size_t, std::string>> expected {
        { TrlV2Encoding::Raw, { 378, "01 00 00 00 04 00 00 00 07 00 00 00 01 c0 81 3e c9 42" } },
        { TrlV2Encoding::GapDelta, { 380, "01 c0 81 3e c9 42 01 00 02 00 02 00" } },
    };
    for (const auto& [encoding, file] : expected) {
        for (const std::size_t blockBytes : { 2U, 6U, 16U }) {
            Source source;
            const auto objects = publish(source, LayerBefore, LayerAfter, optionsOf(encoding), blockBytes);
            ASSERT_TRUE(objects) << objects.error().text;
            ASSERT_EQ(objects->size(), 1U);
            EXPECT_EQ((*objects)[0].key, TrlDeltaKey);
            const std::string bytes = readObject(source.store(), TrlDeltaKey);
            EXPECT_EQ(bytes.size(), file.first);
            EXPECT_TRUE(bytes.ends_with(fromHex(file.second))) << hexOf(bytes);
            const SafetensorsHeader header = headerOf(source.store(), TrlDeltaKey);
            const Metadata metadata { { "format", "sparse_weight_patch" },
                                      { "version", "1" },
                                      { "sparse", "True" },
                                      { "model_version", "2" },
                                      { "num_changed_params", "1" },
                                      { "total_changed_elements", "3" },
                                      { "total_elements", "8" },
                                      { "sparsity", "0.625" },
                                      { "encoding", encoding == TrlV2Encoding::Raw ? "raw" : "gap_delta" } };
            EXPECT_EQ(header.metadata(), metadata);
        }
    }
}

TEST(TrlV2Writer, WritesTheAnchorOfTheFormatPage)
{
    Source source;
    const auto objects = publishAnchor(source, LayerBefore, optionsOf(TrlV2Encoding::GapDelta, 1));
    ASSERT_TRUE(objects) << objects.error().text;
    ASSERT_EQ(objects->size(), 1U);
    EXPECT_EQ((*objects)[0].key, "anchors/step_000001.safetensors");
    EXPECT_EQ((*objects)[0].sizeBytes, 312U);
    const SafetensorsHeader header = headerOf(source.store(), (*objects)[0].key);
    EXPECT_EQ(header.meta("sparse"), "False");
    EXPECT_EQ(header.meta("sparsity"), "0.0");
    EXPECT_EQ(header.meta("total_changed_elements"), "8");
    EXPECT_EQ(header.meta("encoding"), "gap_delta");
    expectVersion(TrlLayout(TrlV2), source, {}, LayerBefore);
}

TEST(TrlV2Writer, WhatItWritesIsReadBack)
{
    const TrlStep states;
    for (const TrlV2Encoding encoding : { TrlV2Encoding::Raw, TrlV2Encoding::GapDelta }) {
        for (const std::size_t blockBytes : { 8U, 24'000U, 1'000'000U }) {
            Source source;
            ASSERT_TRUE(publish(source, states.before, states.after, optionsOf(encoding), blockBytes));
            const PatchCounts counts = expectVersion(TrlLayout(TrlV2), source, states.before, states.after);
            const std::uint64_t changed = countChanged(states.before, states.after);
            PatchCounts expected = countsOf(changed, 0, changed);
            expected.sameLowByte = counts.sameLowByte; // says nothing of the writer: it compares all bits
            EXPECT_EQ(counts, expected);
            const SafetensorsHeader header = headerOf(source.store(), TrlDeltaKey);
            EXPECT_EQ(header.tensors().size(), 8U);
            std::vector<TensorInfo> order;
            for (const StoredTensor& stored : header.tensors())
                order.push_back(stored.info);
            EXPECT_TRUE(std::is_sorted(order.begin(), order.end(), canonicalBefore));
        }
    }
}

TEST(TrlV2Writer, TheTypeOfGapsIsChosenPerTensor)
{
    Model before;
    addTensor(before, tensor("narrow", { 131'072 }), std::string(262'144, '\0'));
    addTensor(before, tensor("wide", { 131'075 }), std::string(262'150, '\0'));
    Model after = changedAt(before, "narrow", { 65'535, 131'071 });
    after["wide"] = changedAt(before, "wide", { 0, 65'536, 65'537, 131'074 })["wide"];
    Source source;
    ASSERT_TRUE(publish(source, before, after, optionsOf(TrlV2Encoding::GapDelta), 4096));
    const SafetensorsHeader header = headerOf(source.store(), TrlDeltaKey);
    EXPECT_EQ(header.tensors()[0].info.name, "wide.idx");
    EXPECT_EQ(header.find("narrow.idx")->info.dtype, Dtype::U16);
    EXPECT_EQ(header.find("wide.idx")->info.dtype, Dtype::U32);
    EXPECT_EQ(hexOf(tensorBytes(source.store(), header, TrlDeltaKey, "narrow.idx")), "ffffffff");
    EXPECT_EQ(hexOf(tensorBytes(source.store(), header, TrlDeltaKey, "wide.idx")), "00000000ffff00000000000000000100");
    expectVersion(TrlLayout(TrlV2), source, before, after);
}

TEST(TrlV2Writer, ManyChangesGoThroughTheSpoolFile)
{
    const test::TempDir folder;
    Model before;
    addTensor(before, tensor("a", { 900'000 }), noise(1'800'000, 4));
    addTensor(before, tensor("b", { 900'000 }), noise(1'800'000, 5));
    Model after = before;
    for (std::size_t i = 0; i < 500'000; ++i)
        after["a"].data[i * 2] ^= '\x01';
    after["a"].data[899'999 * 2] ^= '\x01'; // widens half a million gaps of u16
    for (std::size_t i = 0; i < 900'000; i += 2)
        after["b"].data[i * 2 + 1] ^= '\x40';
    for (const TrlV2Encoding encoding : { TrlV2Encoding::Raw, TrlV2Encoding::GapDelta }) {
        TrlV2WriterOptions options = optionsOf(encoding);
        options.spoolFolder = folder.path();
        Source source;
        ASSERT_TRUE(publish(source, before, after, options, 131'072));
        EXPECT_EQ(expectVersion(TrlLayout(TrlV2), source, before, after).changed, 950'001U);

        Source parallel;
        const auto writer = makeTrlV2DeltaWriter(options);
        ASSERT_TRUE(writer);
        writeModelInParallel(**writer, before, after, 131'072);
        ASSERT_TRUE((*writer)->finish(parallel.store(), parallel.task));
        EXPECT_TRUE(readObject(parallel.store(), TrlDeltaKey) == readObject(source.store(), TrlDeltaKey));
    }
    EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(TrlV2Writer, NothingChangedPutsNothing)
{
    Source source;
    const auto objects = publish(source, LayerBefore, LayerBefore, optionsOf(TrlV2Encoding::GapDelta));
    ASSERT_TRUE(objects);
    EXPECT_TRUE(objects->empty());
    EXPECT_TRUE(source.listing().empty());
}

TEST(TrlV2Writer, SparsityIsPythonsFloat)
{
    // python3 -c 'print(1.0 - 1 / n)'
    const std::map<std::uint64_t, std::string> expected {
        { 1, "0.0" },
        { 2, "0.5" },
        { 3, "0.6666666666666667" },
        { 7, "0.8571428571428572" },
        { 10, "0.9" },
        { 11'376, "0.9999120956399438" },
        { 2'000'000, "0.9999995" },
    };
    for (const auto& [elements, text] : expected) {
        Model before;
        addTensor(before, tensor("w", { elements }), std::string(elements * 2, '\0'));
        Source source;
        ASSERT_TRUE(publish(source, before, changedAt(before, "w", { elements - 1 }),
                            optionsOf(TrlV2Encoding::GapDelta), 1U << 20));
        EXPECT_EQ(headerOf(source.store(), TrlDeltaKey).meta("sparsity"), text);
    }
}

TEST(TrlV2Writer, FactsAndFolderOfTheRun)
{
    TrlV2WriterOptions options = optionsOf(TrlV2Encoding::GapDelta, 1'234'567);
    options.root = "runs/a";
    options.facts = { { "ds.run", "r\u00f6" } };
    const auto writer = makeTrlV2DeltaWriter(options);
    ASSERT_TRUE(writer);
    ASSERT_TRUE(writeModel(**writer, LayerBefore, LayerAfter));
    EXPECT_TRUE((*writer)->addFact("ds.root", "ab12"));
    EXPECT_EQ(errorOf((*writer)->addFact("encoding", "raw")).code, Code::Usage);
    EXPECT_EQ(errorOf((*writer)->addFact("ds.x", "a\nb")).code, Code::Usage);
    Source source;
    ASSERT_TRUE((*writer)->finish(source.store(), source.task));
    const SafetensorsHeader header = headerOf(source.store(), "runs/a/deltas/step_1234567.safetensors");
    EXPECT_EQ(header.meta("ds.run"), "r\u00f6");
    EXPECT_EQ(header.meta("ds.root"), "ab12");
    EXPECT_EQ(header.metadata().size(), 11U);
    expectVersion(TrlLayout(TrlV2), source, LayerBefore, LayerAfter);
}

TEST(TrlV2Writer, NeverReplacesAStep)
{
    Source source;
    ASSERT_TRUE(publish(source, LayerBefore, LayerAfter, optionsOf(TrlV2Encoding::Raw)));
    const std::string bytes = readObject(source.store(), TrlDeltaKey);
    for (const TrlV2Encoding encoding : { TrlV2Encoding::Raw, TrlV2Encoding::GapDelta }) {
        const Error error = errorOf(publish(source, LayerBefore, LayerAfter, optionsOf(encoding)));
        EXPECT_EQ(error.code, Code::Exists);
        EXPECT_EQ(error.step, 2);
        EXPECT_EQ(error.where, TrlDeltaKey);
    }
    EXPECT_EQ(readObject(source.store(), TrlDeltaKey), bytes);
}

TEST(TrlV2Writer, RefusesChangesThatAreNotBf16)
{
    Model before;
    addTensor(before, tensor("fp32", { 3 }, Dtype::F32), noise(12, 1));
    Model after = before;
    after["fp32"].data[0] ^= '\x01';
    Source source;
    const Error error = errorOf(publish(source, before, after, optionsOf(TrlV2Encoding::GapDelta), 12));
    EXPECT_EQ(error.code, Code::Unsupported);
    EXPECT_NE(error.text.find("\"fp32\""), std::string::npos) << error.text;
    EXPECT_TRUE(source.listing().empty());
}

TEST(TrlV2Writer, RefusesPositionsBeyond31Bits)
{
    constexpr std::uint64_t Elements = (std::uint64_t(1) << 31) + 8;
    const HugeSpan zeros(Elements * 2);
    if (!zeros.exists())
        GTEST_SKIP() << "no address space";
    const std::uint32_t last = 0x7FFF'FFFF;
    for (const TrlV2Encoding encoding : { TrlV2Encoding::Raw, TrlV2Encoding::GapDelta }) {
        for (const std::uint32_t position : { last, last + 1 }) {
            const auto writer = makeTrlV2DeltaWriter(optionsOf(encoding));
            const auto out = (*writer)->begin(tensor("huge", { Elements }));
            ASSERT_TRUE(out);
            const std::string value = fromHex("803f");
            const auto added = (*out)->add({ {}, zeros.bytes(), { 0, std::span(&position, 1), asBytes(value) } });
            if (position > last) {
                EXPECT_EQ(errorOf(added).code, Code::Unsupported);
                EXPECT_NE(errorOf(added).text.find("\"huge\""), std::string::npos);
                continue;
            }
            ASSERT_TRUE(added);
            Source source;
            ASSERT_TRUE((*out)->end(source.task));
            ASSERT_TRUE((*writer)->finish(source.store(), source.task));
            const SafetensorsHeader header = headerOf(source.store(), TrlDeltaKey);
            EXPECT_EQ(hexOf(tensorBytes(source.store(), header, TrlDeltaKey, "huge.idx")), "ffffff7f");
        }
    }
}

TEST(TrlV2Writer, FindsTheCallersMistakes)
{
    Source source;
    const std::string data(16, '\0');
    const std::string value = fromHex("803f 803f");
    const std::vector<std::uint32_t> backward { 3, 3 }, beyond { 0, 8 }, good { 0, 7 };
    const auto addTo = [&](const TensorBlock& block) {
        const auto writer = makeTrlV2DeltaWriter(optionsOf(TrlV2Encoding::GapDelta));
        return (*(*writer)->begin(tensor("w")))->add(block);
    };
    EXPECT_TRUE(addTo({ {}, asBytes(data), { 0, good, asBytes(value) } }));
    for (const TensorBlock& block : {
             TensorBlock { {}, asBytes(data), { 0, backward, asBytes(value) } },
             TensorBlock { {}, asBytes(data), { 0, beyond, asBytes(value) } },
             TensorBlock { {}, asBytes(data), { 1, good, asBytes(value) } },
             TensorBlock { {}, asBytes(data), { 0, good, asBytes(value).first(2) } },
             TensorBlock { {}, asBytes(data).first(15), {} },
         })
        EXPECT_EQ(errorOf(addTo(block)).code, Code::Internal);

    const auto writer = makeTrlV2DeltaWriter(optionsOf(TrlV2Encoding::GapDelta));
    const auto out = (*writer)->begin(tensor("w"));
    EXPECT_EQ(errorOf((*out)->end(source.task)).code, Code::Internal);
    EXPECT_EQ(errorOf((*writer)->begin(tensor("bad\n"))).code, Code::Usage);
    EXPECT_EQ(errorOf((*writer)->begin(tensor("bad\xff"))).code, Code::Usage);
    EXPECT_EQ(errorOf((*writer)->begin(tensor("bad\u202e"))).code, Code::Usage);
    EXPECT_EQ(errorOf(makeTrlV2DeltaWriter(optionsOf(TrlV2Encoding::Raw, -1))).code, Code::Usage);
    expectOneChangePerTensor(**writer);
}

TEST(TrlV2AnchorWriter, HoldsEveryElementType)
{
    const TrlStep states;
    Model model = states.before;
    addTensor(model, tensor("f4", { 6 }, Dtype::F4), "abc");
    addTensor(model, tensor("i64", { 2 }, Dtype::I64), noise(16, 9));
    Source source;
    ASSERT_TRUE(publishAnchor(source, model, optionsOf(TrlV2Encoding::Raw, 20)));
    expectVersion(TrlLayout(TrlV2), source, {}, model);
    EXPECT_EQ(errorOf(publishAnchor(source, model, optionsOf(TrlV2Encoding::Raw, 20))).code, Code::Exists);
}

TEST(TrlV2AnchorWriter, WantsExactlyItsTensors)
{
    Source source;
    const TensorInfo w = tensor("w");
    EXPECT_EQ(errorOf(makeTrlV2AnchorWriter(optionsOf(TrlV2Encoding::Raw), { w, w })).code, Code::Usage);
    const TensorInfo wide { "w", Dtype::F32, { 4 } };
    EXPECT_EQ(errorOf(makeTrlV2AnchorWriter(optionsOf(TrlV2Encoding::Raw), { w, tensor("x"), wide })).code,
              Code::Usage);
    EXPECT_EQ(errorOf(makeTrlV2AnchorWriter(optionsOf(TrlV2Encoding::Raw), { tensor("__metadata__") })).code,
              Code::Usage);
    const auto writer = makeTrlV2AnchorWriter(optionsOf(TrlV2Encoding::Raw), { w });
    EXPECT_EQ(errorOf((*writer)->begin(tensor("v"))).code, Code::Usage);
    EXPECT_EQ(errorOf((*writer)->begin(tensor("w", { 8 }))).code, Code::Usage);
    EXPECT_EQ(errorOf((*writer)->finish(source.store(), source.task)).code, Code::Internal);
    const auto out = (*writer)->begin(w);
    ASSERT_TRUE((*out)->add({ {}, asBytes(TrlBefore), {} }));
    EXPECT_EQ(errorOf((*out)->add({ {}, asBytes(TrlBefore), {} })).code, Code::Internal);
    EXPECT_EQ(errorOf((*writer)->finish(source.store(), source.task)).code, Code::Internal);
    ASSERT_TRUE((*out)->end(source.task));
    EXPECT_EQ(errorOf((*writer)->begin(w)).code, Code::Usage);
    EXPECT_TRUE((*writer)->finish(source.store(), source.task));
}

class TrlV2WriterGolden : public testing::TestWithParam<const char*> { };

TEST_P(TrlV2WriterGolden, WritesTheTrainersBytes)
{
    Golden golden(GetParam());
    const TrlLayout layout(TrlV2);
    Model state;
    std::size_t compared = 0;
    for (const VersionObjects& version : layout.group(golden.listing)) {
        const auto index = layout.index(*golden.store, version, golden.task);
        if (!index)
            break; // the truncated one
        Model next = state;
        const auto counts = applyVersion(layout, *golden.store, version, next);
        ASSERT_TRUE(counts) << counts.error().text;
        Source source;
        const TrlV2Encoding encoding = index->encoding == "raw" ? TrlV2Encoding::Raw : TrlV2Encoding::GapDelta;
        if (index->full) {
            ASSERT_TRUE(publishAnchor(source, next, optionsOf(encoding, version.step)));
            expectVersion(layout, source, {}, next);
        }
        if (!state.empty()) {
            Source delta;
            ASSERT_TRUE(publish(delta, state, next, optionsOf(encoding, version.step)));
            if (!delta.listing().empty()) {
                EXPECT_EQ(expectVersion(layout, delta, state, next).changed, countChanged(state, next));
            }
            if (!index->full && counts->noops == 0) {
                const std::string theirs = version.objects[0].key;
                const std::string ours = fmt::format("deltas/step_{:06}.safetensors", version.step);
                const SafetensorsHeader expected = headerOf(*golden.store, theirs);
                const SafetensorsHeader written = headerOf(delta.store(), ours);
                ASSERT_EQ(written.tensors().size(), expected.tensors().size());
                for (std::size_t i = 0; i < expected.tensors().size(); ++i) {
                    const std::string& name = expected.tensors()[i].info.name;
                    EXPECT_EQ(written.tensors()[i].info, expected.tensors()[i].info);
                    EXPECT_EQ(tensorBytes(delta.store(), written, ours, name),
                              tensorBytes(*golden.store, expected, theirs, name));
                }
                EXPECT_EQ(written.metadata(), expected.metadata()) << theirs;
                EXPECT_EQ((*delta.store().stat(ours, test::anyTask())).sizeBytes, version.objects[0].sizeBytes);
                ++compared;
            }
        }
        state = std::move(next);
    }
    EXPECT_GE(compared, std::string(GetParam()) == "trl-v2-drift-bf16" ? 0U : 3U);
}

INSTANTIATE_TEST_SUITE_P(Cases, TrlV2WriterGolden,
                         testing::Values("trl-v2-raw", "trl-v2-gap", "trl-v2-empty-step", "trl-v2-partial-anchor",
                                         "trl-v2-drift-bf16", "trl-v2-restart", "trl-v2-gap-in-chain",
                                         "trl-v2-truncated", "trl-v2-bitflip"),
                         [](const auto& info) {
                             std::string name = info.param;
                             std::replace(name.begin(), name.end(), '-', '_');
                             return name;
                         });

} // namespace
} // namespace deltascope

#include "ops/fused_projections.h"

#include "publish/tensor_difference.h"
#include "state_fixture.h"
#include "version_writer_fixture.h"

#include <algorithm>
#include <string>
#include <vector>

// Checkpoints of which one stores projections apart and the other fuses them in one tensor.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr std::uint64_t Columns = 700; // rows do not end with blocks

FileTensor weight(const std::string& name, std::uint64_t rows, unsigned seed)
{
    return { tensor(name, { rows, Columns }), noise(2 * rows * Columns, seed) };
}

FileTensor below(const std::string& name, const std::vector<FileTensor>& parts)
{
    FileTensor fused { parts.front().info, {} };
    fused.info.name = name;
    fused.info.shape[0] = 0;
    for (const FileTensor& part : parts) {
        fused.info.shape[0] += part.info.shape[0];
        fused.data += part.data;
    }
    return fused;
}

/// One model, with the names that each of its tensors begins with.
struct Model {
    std::vector<FileTensor> apart, fused;

    explicit Model(const std::string& prefix = {}, const std::string& fusedPrefix = {})
    {
        for (const std::string layer : { "model.layers.0.", "model.layers.1." }) {
            const FileTensor q = weight(prefix + layer + "self_attn.q_proj.weight", 128, 1);
            const FileTensor k = weight(prefix + layer + "self_attn.k_proj.weight", 32, 2);
            const FileTensor v = weight(prefix + layer + "self_attn.v_proj.weight", 32, 3);
            const FileTensor gate = weight(prefix + layer + "mlp.gate_proj.weight", 200, 4);
            const FileTensor up = weight(prefix + layer + "mlp.up_proj.weight", 200, 5);
            apart.insert(apart.end(), { q, k, v, gate, up });
            fused.push_back(below(fusedPrefix + layer + "self_attn.qkv_proj.weight", { q, k, v }));
            fused.push_back(below(fusedPrefix + layer + "mlp.gate_up_proj.weight", { gate, up }));
        }
        apart.push_back(weight(prefix + "model.norm.weight", 1, 6));
        fused.push_back(weight(fusedPrefix + "model.norm.weight", 1, 6));
    }
};

Result<DiffReport> across(const std::vector<FileTensor>& a, const std::vector<FileTensor>& b, DiffOptions options = {})
{
    options.acrossForms = true;
    return diffStates(bench(), stateOf(a), stateOf(b), {}, test::anyTask(), options);
}

TEST(FusedProjections, AreComparedRowByRow)
{
    const Model model;
    std::vector<FileTensor> other = model.apart;
    other[1].data[40] ^= 1; // k_proj of layer 0
    other[4].data[0] ^= 1; // up_proj of layer 0
    for (const bool back : { false, true }) {
        const auto same = back ? across(model.fused, model.apart) : across(model.apart, model.fused);
        ASSERT_TRUE(same) << same.error().text;
        EXPECT_EQ(same->tensorsCompared, 5U);
        EXPECT_EQ(same->elementsDifferent(), 0U);
        EXPECT_TRUE(same->onlyInA.empty() && same->onlyInB.empty() && same->reshaped.empty());
        EXPECT_FALSE(same->equal()) << "they are not of one form";
        ASSERT_EQ(same->forms.size(), 2U);
        EXPECT_EQ(same->forms[0].kind, FormDifference::Kind::Fused);
        EXPECT_EQ(same->forms[0].tensors, 2U);
        EXPECT_EQ(same->forms[0].text(),
                  back ? "A stores qkv_proj where B stores q_proj, k_proj, v_proj: they are compared as one tensor, "
                         "with their rows below each other"
                       : "A stores q_proj, k_proj, v_proj where B stores qkv_proj: they are compared as one tensor, "
                         "with their rows below each other");

        const auto report = back ? across(model.fused, other) : across(other, model.fused);
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_EQ(report->elementsDifferent(), 2U);
        ASSERT_EQ(report->tensors.size(), 2U);
        EXPECT_EQ(report->tensors[0].tensor.name, "model.layers.0.mlp.gate_up_proj.weight");
        EXPECT_EQ(report->tensors[1].tensor.name, "model.layers.0.self_attn.qkv_proj.weight");
    }
}

TEST(FusedProjections, InAnotherOrderDiffer)
{
    Model model;
    const std::vector<FileTensor> all = model.apart;
    model.fused[1] = below(model.fused[1].info.name, { all[4], all[3] }); // up above gate
    const auto report = across(model.apart, model.fused);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->tensorsDifferent(), 1U);
}

TEST(FusedProjections, AreFoundBehindAnotherPrefix)
{
    const Model model("_orig_mod.", "language_model.");
    const auto report = across(model.apart, model.fused);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->tensorsCompared, 5U);
    EXPECT_EQ(report->elementsDifferent(), 0U);
    ASSERT_EQ(report->forms.size(), 3U);
    EXPECT_EQ(report->forms[0].kind, FormDifference::Kind::Names);
    const auto named = across(model.fused, model.apart, { {}, true, PrefixMap { "language_model.", "_orig_mod." } });
    ASSERT_TRUE(named) << named.error().text;
    EXPECT_EQ(named->tensorsCompared, 5U);
}

/// A vision tower that both store apart, and one that only one of them has.
TEST(FusedProjections, ThatOtherPartsStoreApartStayApart)
{
    Model model;
    for (const std::string projection : { "q_proj", "k_proj", "v_proj" }) {
        const FileTensor part = weight("vision.layers.0.self_attn." + projection + ".weight", 16, 9);
        model.apart.push_back(part);
        model.fused.push_back(part);
        model.apart.push_back(weight("audio.layers.0.self_attn." + projection + ".weight", 16, 9));
    }
    const auto report = across(model.apart, model.fused);
    ASSERT_TRUE(report) << report.error().text;
    EXPECT_EQ(report->tensorsCompared, 8U);
    EXPECT_EQ(report->elementsDifferent(), 0U);
    EXPECT_EQ(report->forms.size(), 2U);
    EXPECT_EQ(
        report->onlyInA,
        (std::vector<std::string> { "audio.layers.0.self_attn.k_proj.weight", "audio.layers.0.self_attn.q_proj.weight",
                                    "audio.layers.0.self_attn.v_proj.weight" }));
    EXPECT_TRUE(report->onlyInB.empty());
}

TEST(FusedProjections, AreMeantByTheNamesOfTheirParts)
{
    const Model model;
    for (const std::string glob : { "*.0.self_attn.k_proj.weight", "*.0.self_attn.qkv_proj.weight" }) {
        const auto report = across(model.apart, model.fused, { TensorGlobs({ glob }), true, {} });
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_EQ(report->tensorsCompared, 1U);
        EXPECT_EQ(report->tensorsLeftOut, 4U);
        ASSERT_EQ(report->forms.size(), 1U) << "gate_up_proj is not compared";
        EXPECT_EQ(report->forms[0].b, "qkv_proj");
        EXPECT_EQ(report->forms[0].tensors, 1U);
    }
    const auto others = across(model.apart, model.fused, { TensorGlobs({ "*.norm.weight" }), true, {} });
    ASSERT_TRUE(others) << others.error().text;
    EXPECT_EQ(others->tensorsCompared, 1U);
    EXPECT_TRUE(others->forms.empty()) << "no projection is compared";
    const auto none = across(model.apart, model.fused, { TensorGlobs({ "*.o_proj.weight" }), true, {} });
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Code::NotFound);
}

/// Tensors that no rule puts below each other: adapters, packed weights, parts that do not fit or are missing.
TEST(FusedProjections, OfOtherKindsAreListed)
{
    const auto listed = [](const std::vector<FileTensor>& apart) {
        const auto report = across(apart,
                                   { below("l.qkv_proj.weight", { weight("x", 24, 1) }),
                                     weight("l.qkv_proj.qweight", 24, 1), weight("l.qkv_proj.lora_A.weight", 24, 1) });
        EXPECT_TRUE(report) << report.error().text;
        EXPECT_TRUE(report->forms.empty());
        EXPECT_EQ(report->tensorsCompared, 0U);
        return report->onlyInA.size();
    };
    for (const std::string end : { ".lora_A.weight", ".qweight" })
        EXPECT_EQ(
            listed({ weight("l.q_proj" + end, 8, 1), weight("l.k_proj" + end, 8, 1), weight("l.v_proj" + end, 8, 1) }),
            3U);
    EXPECT_EQ(listed({ weight("l.q_proj.weight", 8, 1), weight("l.k_proj.weight", 8, 1) }), 2U);
    EXPECT_EQ(listed({ weight("l.q_proj.weight", 8, 1),
                       weight("l.k_proj.weight", 8, 1),
                       { tensor("l.v_proj.weight", { 8, 3 }), noise(48, 1) } }),
              3U);
}

/// Padded, cut among ranks, or quantized: nothing is said to be compared.
TEST(FusedProjections, OfOtherShapesOrTypesStayApart)
{
    const std::vector<FileTensor> apart { weight("l.q_proj.weight", 8, 1), weight("l.k_proj.weight", 8, 1),
                                          weight("l.v_proj.weight", 8, 1) };
    FileTensor wholeNumbers = weight("l.qkv_proj.weight", 24, 1);
    wholeNumbers.info.dtype = Dtype::I16;
    for (const FileTensor& fused : { weight("l.qkv_proj.weight", 48, 1), wholeNumbers }) {
        const auto report = across(apart, { fused });
        ASSERT_TRUE(report) << report.error().text;
        EXPECT_TRUE(report->forms.empty());
        EXPECT_EQ(report->tensorsCompared, 0U);
        EXPECT_EQ(report->onlyInA.size(), 3U);
        EXPECT_EQ(report->onlyInB.size(), 1U);
        EXPECT_TRUE(report->reshaped.empty());
    }
}

TEST(FusedProjections, AreNamedWhereADeltaIsRefused)
{
    const Model model;
    const auto refused = expectSameTensors(stateOf(model.apart), stateOf(model.fused));
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::BaseMismatch);
    for (const char* words :
         { "A stores q_proj, k_proj, v_proj where B stores qkv_proj (model.layers.0.self_attn.q_proj"
           ".weight and model.layers.0.self_attn.qkv_proj.weight)",
           "(model.layers.0.mlp.gate_proj.weight and model.layers.0.mlp.gate_up_proj.weight)" })
        EXPECT_NE(refused.error().text.find(words), std::string::npos) << refused.error().text;
    EXPECT_TRUE(expectSameTensors(stateOf(model.fused), stateOf(model.fused)));
}

}
} // namespace deltascope

#include "deltascope/engine/operations.h"

#include "session.h"
#include "state_fixture.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

// Prefixes that are found although one side has more than what they stand in front of; and those that are not taken.

namespace deltascope {
namespace {

using namespace layout_test;

using Names = std::vector<std::string>;

FileState namedState(const Names& names)
{
    std::vector<FileTensor> tensors;
    for (const std::string& name : names)
        tensors.push_back({ tensor(name, { 1 }), "12" });
    return stateOf(tensors);
}

DiffReport diffOfNames(const Names& a, const Names& b)
{
    Session session;
    const auto report = diffStates(session.bench, namedState(a), namedState(b), {}, session.task,
                                   { TensorGlobs(), true, std::nullopt });
    EXPECT_TRUE(report) << report.error().text;
    return report ? *report : DiffReport();
}

Names below(const std::string& prefix, const Names& names)
{
    Names all;
    for (const std::string& name : names)
        all.push_back(prefix + name);
    return all;
}

const Names Language { "embed_tokens.weight", "layers.0.mlp.up_proj.weight", "layers.0.norm.weight",
                       "layers.1.mlp.up_proj.weight", "layers.1.norm.weight" };

TEST(VotedPrefixes, AreFoundBesideATowerOfOneSide)
{
    const Names tower =
        below("model.visual.", { "blocks.0.attn.qkv.weight", "blocks.1.attn.qkv.weight", "patch.weight" });
    Names both = below("model.language_model.", Language);
    both.insert(both.end(), tower.begin(), tower.end());
    const Names plain = below("model.", Language);
    const DiffReport report = diffOfNames(both, plain);
    ASSERT_EQ(report.forms.size(), 1U);
    EXPECT_EQ(report.forms[0].a, "model.language_model.");
    EXPECT_EQ(report.forms[0].b, "model.");
    EXPECT_EQ(report.tensorsCompared, Language.size());
    EXPECT_EQ(report.onlyInA, tower);
    EXPECT_TRUE(report.onlyInB.empty());
    const DiffReport back = diffOfNames(plain, both);
    ASSERT_EQ(back.forms.size(), 1U);
    EXPECT_EQ(back.forms[0].a, "model.");
    EXPECT_EQ(back.forms[0].b, "model.language_model.");
    EXPECT_EQ(back.onlyInB, tower);
}

TEST(VotedPrefixes, OfTwoTowersThatAreAlikeNoneIsTaken)
{
    Names twins = below("actor.", Language);
    const Names critic = below("critic.", Language);
    twins.insert(twins.end(), critic.begin(), critic.end());
    const DiffReport report = diffOfNames(twins, below("model.", Language));
    EXPECT_TRUE(report.forms.empty());
    EXPECT_EQ(report.tensorsCompared, 0U);
}

TEST(VotedPrefixes, NamesThatEndAlikeByChanceAreNotForcedTogether)
{
    const DiffReport report = diffOfNames({ "a.x.weight", "a.y.weight", "b.z.bias", "b.u.bias" },
                                          { "c.p.weight", "c.q.weight", "d.r.bias", "d.s.bias" });
    EXPECT_TRUE(report.forms.empty());
    EXPECT_EQ(report.tensorsCompared, 0U);
    EXPECT_TRUE(diffOfNames({ "lm_head.weight" }, { "embed_tokens.weight", "visual.patch.bias" }).forms.empty());
}

Names with(Names names, const Names& more)
{
    names.insert(names.end(), more.begin(), more.end());
    return names;
}

/// What the first line says, and how many tensors are compared; "" if names alone bring tensors together.
std::string pairing(const Names& a, const Names& b)
{
    const DiffReport report = diffOfNames(a, b);
    return report.forms.empty() ? std::string()
                                : report.forms[0].reason() + fmt::format(" ({})", report.tensorsCompared);
}

TEST(PrefixesOfALeftOver, ThatMayBeTwoThingsAreNotTakenForOne)
{
    const Names model = below("model.", Language);
    EXPECT_EQ(pairing(with(model, { "lm_head.weight" }), with(model, { "score.weight" })), "");
    EXPECT_EQ(pairing(with(model, { "v_head.summary.weight" }), with(model, { "score.dense.weight" })), "");
    const Names tower { "patch.weight", "blocks.0.norm.weight", "blocks.1.norm.weight", "blocks.2.norm.weight" };
    EXPECT_EQ(pairing(with(model, below("visual.", tower)), with(model, below("audio.", tower))), "");
    EXPECT_EQ(pairing(below("model.layers.0.", Language), below("model.layers.1.", Language)), "") << "pruned";
}

TEST(PrefixesOfALeftOver, ThatOneSidePutsInFrontAreTaken)
{
    const Names model = below("model.", Language);
    EXPECT_EQ(pairing(with(model, { "lm_head.weight" }), with(model, { "_orig_mod.lm_head.weight" })),
              "of 6 tensors that both have, the name of 1 begins with _orig_mod. in B and not in A (6)");
    EXPECT_EQ(pairing(below("model.language_model.", Language), model),
              "names that begin with model.language_model. in A begin with model. in B (5)");
    EXPECT_EQ(pairing(with(below("transformer.", Language), { "lm_head.weight" }), with(model, { "lm_head.weight" })),
              "names that begin with transformer. in A begin with model. in B (6)")
        << "most of the model";
}

TEST(PrefixesOfALeftOver, ThatAreGivenMayBeTheSame)
{
    Session session;
    const auto under = [&](const PrefixMap& map) {
        const FileState state = namedState(below("model.", Language));
        return diffStates(session.bench, state, state, {}, session.task, { TensorGlobs(), true, map });
    };
    const auto same = under({ "model.", "model." });
    ASSERT_TRUE(same) << same.error().text;
    EXPECT_TRUE(same->equal());
    EXPECT_TRUE(same->forms.empty());
    EXPECT_EQ(errorOf(under({ "none.", "none." })).code, Code::NotFound);
    EXPECT_EQ(errorOf(under({ "model.", "none." })).code, Code::NotFound);
}

TEST(WrappersInside, AreNoDifferenceOfTensors)
{
    const Names plain { "model.layers.0.up.weight", "model.layers.1.up.weight", "model.norm.weight", "lm_head.weight" };
    const Names compiled { "model.layers.0._orig_mod.up.weight", "model.layers.1._orig_mod.up.weight",
                           "model.norm.weight", "lm_head.weight" };
    EXPECT_EQ(pairing(plain, compiled), "the names of 2 of 4 tensors hold _orig_mod. in B and not in A (4)");
    EXPECT_EQ(pairing(compiled, plain), "the names of 2 of 4 tensors hold _orig_mod. in A and not in B (4)");
    const Names twice { "_orig_mod.model.layers.0._checkpoint_wrapped_module.up.weight",
                        "_orig_mod.model.layers.1._checkpoint_wrapped_module.up.weight", "_orig_mod.model.norm.weight",
                        "_orig_mod.lm_head.weight" };
    EXPECT_EQ(pairing(plain, twice),
              "the names of 4 of 4 tensors hold _checkpoint_wrapped_module. and _orig_mod. in B and not in A (4)");
    EXPECT_EQ(pairing({ "x.a_orig_mod.up" }, { "x.aup" }), "") << "a part of a part is none";
    EXPECT_EQ(pairing({ "x.up" }, { "x._orig_mod.up", "x._fsdp_wrapped_module.up" }), "") << "it may be either";
    EXPECT_EQ(pairing(compiled, compiled), "");
}

TEST(PrefixesOfALeftOver, ThatAreGivenComeBeforeNamesAndPairEachTensorOnce)
{
    const Names model = below("model.", Language);
    const Names average = below("ema.model.", Language);
    Session session;
    const auto compared = [&](const Names& a, const Names& b, const PrefixMap& map) {
        const auto report =
            diffStates(session.bench, namedState(a), namedState(b), {}, session.task, { TensorGlobs(), true, map });
        EXPECT_TRUE(report) << report.error().text;
        return report ? *report : DiffReport();
    };
    const DiffReport toAverage = compared(model, with(model, average), { "", "ema." });
    EXPECT_EQ(toAverage.tensorsCompared, model.size());
    EXPECT_EQ(toAverage.onlyInB, model);
    const DiffReport ofAverage = compared(with(model, average), model, { "ema.", "" });
    EXPECT_EQ(ofAverage.tensorsCompared, model.size());
    EXPECT_EQ(ofAverage.onlyInA, model);
    const DiffReport head =
        compared(with(model, { "lm_head.weight" }), with(model, { "score.weight" }), { "lm_head.", "score." });
    EXPECT_EQ(head.tensorsCompared, model.size() + 1) << "the user says so";
}

} // namespace
} // namespace deltascope

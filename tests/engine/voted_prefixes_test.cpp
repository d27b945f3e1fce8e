#include "deltascope/engine/operations.h"

#include "session.h"
#include "state_fixture.h"

#include <gtest/gtest.h>

// Prefixes that are found although one side has more than what they stand in front of.

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

} // namespace
} // namespace deltascope

#include "deltascope/engine/evidence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace deltascope {
namespace {

constexpr EvidenceAround OnBase { Evidence::Base, Evidence::FirstSight };
constexpr EvidenceAround BetweenAnchors { Evidence::Anchor, Evidence::Anchor };

ComparedTensors of(std::initializer_list<std::pair<Compared, const char*>> tensors)
{
    ComparedTensors compared;
    for (const auto& [how, name] : tensors)
        compared.add(how, name);
    return compared;
}

TEST(Coverage, IsVerifiedOnlyIfEveryTensorIs)
{
    const Coverage all = coverageOf(of({ { Compared::Digest, "a" }, { Compared::Root, "b" } }), OnBase);
    EXPECT_TRUE(all.isVerified());
    EXPECT_EQ(all.tensors(), 2U);
    EXPECT_TRUE(all.weakest.empty());

    const Coverage oneWithout = coverageOf(of({ { Compared::Digest, "a" }, { Compared::Nothing, "b" } }), OnBase);
    EXPECT_FALSE(oneWithout.isVerified()) << "a digest of one tensor says nothing of another";
    EXPECT_FALSE(oneWithout.isConsistent());
    EXPECT_EQ(oneWithout.weakest, std::vector<std::string> { "b" });
}

TEST(Coverage, KeepsItsWordOnTheBaseThatWasGiven)
{
    const Coverage some = coverageOf(of({ { Compared::Digest, "a" }, { Compared::Start, "b" } }), OnBase);
    EXPECT_TRUE(some.isVerified());
    EXPECT_EQ(some.of(Evidence::Base), 1U);
    EXPECT_EQ(some.weakest, std::vector<std::string> { "b" }) << "nothing vouches for it";
}

TEST(Coverage, OfABaseAloneIsNothing)
{
    const Coverage untouched = coverageOf(of({ { Compared::Start, "a" }, { Compared::Start, "b" } }), OnBase);
    EXPECT_FALSE(untouched.isVerified());
    EXPECT_FALSE(untouched.isConsistent());
}

TEST(Coverage, OfAnEmptyStateIsNothing)
{
    EXPECT_FALSE(Coverage().isVerified());
    EXPECT_FALSE(Coverage().isConsistent());
}

TEST(Coverage, IsAtMostConsistentByAnchorOrWeakDigest)
{
    const Coverage weak = coverageOf(of({ { Compared::Digest, "a" }, { Compared::Weak, "b" } }), OnBase);
    EXPECT_FALSE(weak.isVerified());
    EXPECT_TRUE(weak.isConsistent());
    const Coverage replayed = coverageOf(of({ { Compared::Nothing, "a" }, { Compared::Start, "b" } }), BetweenAnchors);
    EXPECT_FALSE(replayed.isVerified());
    EXPECT_TRUE(replayed.isConsistent());
    EXPECT_EQ(replayed.of(Evidence::Anchor), 2U);
}

TEST(Coverage, NamesThoseWithTheLeastEvidenceFirst)
{
    ComparedTensors compared = of({ { Compared::Weak, "weak" }, { Compared::Start, "base" } });
    for (int i = 11; i >= 0; --i)
        compared.add(Compared::Nothing, fmt::format("seen-{:02}", i));
    const Coverage coverage = coverageOf(compared, OnBase);
    ASSERT_EQ(coverage.weakest.size(), 10U);
    EXPECT_EQ(coverage.weakest.front(), "seen-00");
    EXPECT_EQ(coverage.weakest.back(), "seen-09");

    const Coverage few = coverageOf(
        of({ { Compared::Weak, "weak" }, { Compared::Start, "base" }, { Compared::Nothing, "seen" } }), OnBase);
    EXPECT_EQ(few.weakest, (std::vector<std::string> { "seen", "weak", "base" }));
}

TEST(TensorGroup, KeepsTheFirstNames)
{
    TensorGroup group;
    for (int i = 99; i >= 0; --i)
        group.add(fmt::format("t{:02}", i));
    EXPECT_EQ(group.tensors, 100U);
    ASSERT_EQ(group.names.size(), TensorGroup::MostNames);
    EXPECT_EQ(group.names.front(), "t00");
    EXPECT_EQ(group.names.back(), "t09");
}

} // namespace
} // namespace deltascope

#include "deltascope/engine/discard.h"

#include "deltascope/engine/hash_tree.h"
#include "support/faulty_file_system.h"
#include "support/temp_dir.h"

#include <algorithm>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <set>

// A discard deletes what its plan lists, and nothing else; what is not as planned is refused by name.

namespace deltascope {
namespace {

namespace fs = std::filesystem;

constexpr int Nobody = 2'000'000'000; ///< no process has this number

class Discard : public testing::Test {
protected:
    static std::string nameOf(const std::string& destination, const std::string& plan = "plan")
    {
        return fmt::format(".{}.ds-{}-{}-0badf00d", destination, toHex(xxh3(asBytes(plan))).substr(0, 16), Nobody);
    }
    static std::string sharedName(const std::string& destination)
    {
        return fmt::format(".{}.ds-{}-shared", destination, toHex(xxh3(asBytes("plan"))).substr(0, 16));
    }
    /// A rebuild that was killed in the middle: 1024 bytes.
    std::string left(const std::string& destination, const std::string& plan = "plan")
    {
        const std::string name = nameOf(destination, plan);
        folder.write(name + "/deltascope-plan.json", plan);
        folder.write(name + "/model.safetensors", std::string(1024 - plan.size(), 'x'));
        return folder.path(name);
    }
    std::string leftShared(const std::string& destination)
    {
        folder.write(sharedName(destination) + "/part-0-of-1/progress.jsonl", "{}");
        return folder.path(sharedName(destination));
    }
    DiscardPlan planned(const std::string& name = {}, bool alsoShared = false)
    {
        auto plan = planDiscard(*disk, { folder.path(), name, alsoShared }, task);
        EXPECT_TRUE(plan) << plan.error().text;
        return plan.value_or(DiscardPlan());
    }
    std::vector<Discarded> discarded(const DiscardPlan& plan)
    {
        auto outcomes = discard(*disk, plan.act, task);
        EXPECT_TRUE(outcomes) << outcomes.error().text;
        return outcomes.value_or(std::vector<Discarded>());
    }
    /// Everything below the folder; folders end with a slash.
    std::set<std::string> everything() const
    {
        std::set<std::string> keys;
        for (const auto& entry : fs::recursive_directory_iterator(folder.path())) {
            const std::string key = entry.path().lexically_relative(folder.path()).string();
            keys.insert(entry.is_directory() && !entry.is_symlink() ? key + "/" : key);
        }
        return keys;
    }

    test::TempDir folder;
    std::shared_ptr<FileSystem> disk = makeFileSystem();
    TaskContext task;
};

TEST_F(Discard, DeletesExactlyWhatItsPlanLists)
{
    left("a");
    left("b", "another plan");
    leftShared("c");
    fs::create_directory(folder.path(nameOf("d"))); // killed before it wrote anything
    const std::string elsewhere = folder.write("checkpoint/model.safetensors", "kept");
    fs::create_symlink(elsewhere, folder.path(nameOf("a") + "/link"));
    folder.write(nameOf("notes", "what is no plan") + "/notes.txt", "called so, but holds something else");
    const std::set<std::string> before = everything();
    const DiscardPlan plan = planned({}, true);
    EXPECT_EQ(everything(), before) << "a plan removes nothing";
    std::set<std::string> listed;
    for (const PlannedObject& object : plan.act.deletes) {
        EXPECT_EQ(object.store, folder.path() + "/");
        EXPECT_FALSE(object.identity.empty()) << object.key;
        listed.insert(object.key);
    }
    EXPECT_TRUE(plan.act.reads.empty() && plan.act.writes.empty());
    ASSERT_EQ(plan.act.effects.size(), 4U);
    for (const Discarded& one : discarded(plan))
        EXPECT_FALSE(one.refusal) << one.path << ": " << one.refusal->text;
    std::set<std::string> gone;
    const std::set<std::string> after = everything();
    std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::inserter(gone, gone.end()));
    EXPECT_EQ(gone, listed);
    EXPECT_TRUE(fs::exists(elsewhere));
    EXPECT_TRUE(planned({}, true).act.deletes.empty()) << "there is nothing left to discard";
}

TEST_F(Discard, IsOfOneCheckpointWhereItIsNamed)
{
    left("a");
    left("a", "another plan");
    const std::string other = left("ab");
    const std::string shared = leftShared("a");
    const DiscardPlan plan = planned("a");
    EXPECT_EQ(plan.leftovers.size(), 2U);
    ASSERT_EQ(plan.act.warnings.size(), 1U);
    EXPECT_EQ(plan.act.warnings[0].where, shared);
    const std::vector<Discarded> outcomes = discarded(plan);
    ASSERT_EQ(outcomes.size(), 2U);
    EXPECT_EQ(outcomes[0].destination, folder.path("a"));
    EXPECT_EQ(outcomes[0].bytes, 1024U);
    EXPECT_EQ(planned({}, true).leftovers.size(), 2U);
    EXPECT_TRUE(fs::exists(other) && fs::exists(shared));
    EXPECT_EQ(planDiscard(*disk, { folder.path(), "a/b", false }, task).error().code, Code::Usage);
    EXPECT_EQ(planDiscard(*disk, { folder.path("none"), {}, false }, task).error().code, Code::NotFound);
}

TEST_F(Discard, OneThatIsNotAsPlannedIsRefusedAndTheOthersGo)
{
    const std::string changed = left("a");
    const std::string gone = left("b");
    const std::string held = left("c");
    const std::string sound = left("d");
    const DiscardPlan plan = planned();
    folder.write(nameOf("a") + "/model.safetensors", std::string(1020, 'y'));
    fs::remove_all(gone);
    const auto lock = disk->lock(held);
    const std::string late = left("e"); // nobody has looked at it
    const std::vector<Discarded> outcomes = discarded(plan);
    ASSERT_EQ(outcomes.size(), 4U);
    ASSERT_TRUE(outcomes[0].refusal && outcomes[1].refusal && outcomes[2].refusal);
    EXPECT_EQ(outcomes[0].refusal->code, Code::Exists);
    EXPECT_EQ(outcomes[0].refusal->where, changed);
    EXPECT_EQ(outcomes[1].refusal->code, Code::NotFound);
    EXPECT_EQ(outcomes[2].refusal->code, Code::Exists);
    EXPECT_EQ(outcomes[2].refusal->where, held);
    EXPECT_EQ(outcomes[3].path, sound);
    EXPECT_FALSE(outcomes[3].refusal);
    EXPECT_TRUE(fs::exists(changed) && fs::exists(held) && fs::exists(late));
    EXPECT_FALSE(fs::exists(sound));
}

TEST_F(Discard, OneThatAProcessWorksInIsNoPartOfThePlan)
{
    const std::string held = left("a");
    const std::string free = left("b");
    auto lock = disk->lock(held);
    const DiscardPlan plan = planned();
    ASSERT_EQ(plan.leftovers.size(), 1U);
    EXPECT_EQ(plan.leftovers[0].path, free);
    ASSERT_EQ(plan.act.warnings.size(), 1U);
    EXPECT_EQ(plan.act.warnings[0].where, held);
    lock->reset();
    discarded(plan);
    EXPECT_TRUE(fs::exists(held)) << "it was not planned";
    EXPECT_TRUE(planned().act.warnings.empty());
}

TEST_F(Discard, TheHashIsOfWhatIsThere)
{
    left("a");
    const std::string before = planned().act.hash();
    EXPECT_EQ(planned().act.hash(), before);
    EXPECT_NE(planned("a").act.hash(), before);
    EXPECT_NE(planned({}, true).act.hash(), before);
    folder.write(nameOf("a") + "/model.safetensors", std::string(1020, 'y'));
    EXPECT_NE(planned().act.hash(), before);
}

TEST_F(Discard, AnotherPlanIsRefused)
{
    left("a");
    ActPlan plan = planned().act;
    plan.kind = "rollback";
    EXPECT_EQ(discard(*disk, plan, task).error().code, Code::Usage);
    plan.kind = "discard";
    plan.deletes.push_back({ folder.path() + "/", "checkpoint/model.safetensors", "1", 1 });
    EXPECT_EQ(discard(*disk, plan, task).error().code, Code::Usage);
    EXPECT_EQ(planned().leftovers.size(), 1U) << "nothing of it was removed";
}

TEST_F(Discard, ADiskThatFailsIsSaidOfThatLeftover)
{
    const std::string first = left("a");
    const std::string second = left("b");
    const auto faulty = std::make_shared<test::FaultyFileSystem>();
    disk = faulty;
    const DiscardPlan plan = planned();
    faulty->failNth(test::DiskOperation::RemoveTree, 1, Error { Code::Auth, "not permitted", first, {}, {} });
    const std::vector<Discarded> outcomes = discarded(plan);
    ASSERT_EQ(outcomes.size(), 2U);
    ASSERT_TRUE(outcomes[0].refusal);
    EXPECT_EQ(outcomes[0].refusal->code, Code::Auth);
    EXPECT_FALSE(outcomes[1].refusal);
    EXPECT_FALSE(fs::exists(second));
    faulty->failNth(test::DiskOperation::IdentityOf, 1, Error { Code::Io, "broken", first, {}, {} });
    EXPECT_EQ(planDiscard(*disk, { folder.path(), {}, false }, task).error().code, Code::Io)
        << "what cannot be looked at is not planned";
}

} // namespace
} // namespace deltascope

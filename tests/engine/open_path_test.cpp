#include "golden_copy.h"
#include "read_hook_store.h"

#include "deltascope/engine/operations.h"

#include <chrono>
#include <thread>

namespace deltascope {
namespace {

using namespace layout_test;

TEST(OpenPath, TellsTheFirstVersionThatCannotBeOpenedWhicheverFailsFirst)
{
    const GoldenCopy golden("trl-v2-raw");
    const auto store = std::make_shared<ReadHookStore>(golden.store);
    Session session;
    const auto run = session.open(store);
    ASSERT_TRUE(run) << run.error().text;
    const auto plan = planFor(*run, run->versions.back());
    ASSERT_TRUE(plan) << plan.error().text;
    ASSERT_GE(plan->links.size(), 3U);
    const auto damage = [&](std::size_t link) {
        const Version& version = run->versions[plan->links[link].version];
        golden.edit(version.objects.objects.front().key, [](std::string& bytes) { bytes.at(8) = 'x'; });
        return &version;
    };
    const Version& first = *damage(1);
    damage(2);
    store->onRead = [&](std::string_view key, std::uint64_t) {
        if (key == first.objects.objects.front().key)
            std::this_thread::sleep_for(std::chrono::milliseconds(50));
    };
    for (const unsigned threads : { 1U, 2U, 8U }) {
        const Error error =
            errorOf(openPath(*run, *plan, { .threads = threads, .replaced = Replaced::Followed }, session.task));
        EXPECT_EQ(error.code, Code::Malformed) << error.text;
        EXPECT_EQ(error.step, first.step()) << threads;
    }
}

TEST(OpenPath, AnObjectThatIsReplacedMeanwhileFailsTheNextReadOrTheEnd)
{
    for (const Replaced replaced : { Replaced::Fails, Replaced::Followed }) {
        const GoldenCopy golden("trl-v2-raw");
        Session session;
        const auto run = session.open(golden.store);
        ASSERT_TRUE(run) << run.error().text;
        const auto plan = planFor(*run, run->versions.back());
        ASSERT_TRUE(plan) << plan.error().text;
        const auto path = openPath(*run, *plan, { .threads = 2, .replaced = replaced }, session.task);
        ASSERT_TRUE(path) << path.error().text;
        const auto root = digestState(session.bench, **path, session.task);
        ASSERT_TRUE(root) << root.error().text;
        golden.edit(run->versions.back().objects.objects.front().key, [](std::string& bytes) { bytes.at(8) = 'x'; });
        if (replaced == Replaced::Followed) {
            EXPECT_EQ(errorOf((*path)->expectSoundReads(session.task)).code, Code::Rewritten);
            continue;
        }
        EXPECT_TRUE((*path)->expectSoundReads(session.task)) << "what was read is of the object that was listed";
        EXPECT_EQ(errorOf((*path)->expectUnchanged(session.task)).code, Code::Rewritten);
        const auto again = digestState(session.bench, **path, session.task);
        EXPECT_TRUE(again ? again->root.strong == root->root.strong : again.error().code == Code::Rewritten);
    }
}

} // namespace
} // namespace deltascope

#include "publish_fixture.h"
#include "session.h"

#include "support/any_task.h"
#include "support/forwarding_store.h"

#include <algorithm>
#include <memory>
#include <string>

// What errors call a rewritten object: a key and a step of a run, the address of a checkpoint that is no step.

namespace deltascope {
namespace {

using namespace layout_test;

constexpr const char* Key = "model.safetensors";

/// A folder in an object store whose server the address names.
class OptionStore final : public test::ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    std::string uri() const override { return "s3://bucket/run?endpoint=http://h:9"; }
};

/// How reading the only or newest version ends, once it was seen and `key` was rewritten.
Error refusalOf(const std::string& key)
{
    Session session;
    session.openRecords();
    const auto memory = std::make_shared<MemoryStore>();
    const auto store = std::make_shared<OptionStore>(memory);
    const auto open = [&]() -> Result<void> {
        DS_TRY(Run run, session.open(store));
        DS_TRY(const Plan plan, planFor(run, run.versions.back()));
        DS_TRY(const PathPtr path, openChecked(session.bench, run, plan, false, session.task));
        DS_CHECK(digestState(session.bench, *path, session.task));
        return {};
    };
    EXPECT_TRUE(putText(*memory, key, Publishing::fileOf(1)));
    auto run = session.open(store);
    EXPECT_TRUE(run && verifyRun(session.bench, *run, VerifyOptions(), session.task));
    EXPECT_TRUE(putText(*memory, key, Publishing::fileOf(1))); // a copy
    EXPECT_TRUE(open());
    EXPECT_TRUE(putText(*memory, key, Publishing::fileOf(2)));
    return errorOf(open());
}

TEST(RewrittenCheckpoint, OfAFolderIsNamedByItsAddress)
{
    const Error error = refusalOf(Key);
    EXPECT_EQ(error.code, Code::Rewritten);
    EXPECT_EQ(error.where, "s3://bucket/run/model.safetensors?endpoint=http://h:9");
    EXPECT_FALSE(error.step) << *error.step;
}

TEST(RewrittenCheckpoint, OfARunIsNamedByItsKeyAndStep)
{
    const Error error = refusalOf("checkpoint-7/model.safetensors");
    EXPECT_EQ(error.code, Code::Rewritten);
    EXPECT_EQ(error.where, "checkpoint-7/model.safetensors");
    EXPECT_EQ(error.step, 7);
}

TEST(RewrittenCheckpoint, ThatIsABaseHasNoStep)
{
    Session session;
    session.openRecords();
    Publishing p("slime-v2");
    p.publishAll(1, 2);
    p.base.base = std::make_shared<OptionStore>(p.base.base);
    p.bench.records = session.bench.records;
    const auto verify = [&] {
        deltascope::Run run = p.view();
        auto report = verifyRun(p.bench, run, VerifyOptions(), p.task);
        EXPECT_TRUE(report);
        return report ? report->problems : std::vector<Error>();
    };
    EXPECT_TRUE(verify().empty());
    std::string other = Publishing::fileOf(0);
    other.back() ^= 1;
    EXPECT_TRUE(putText(*p.base.base, Key, other));
    const std::vector<Error> problems = verify();
    const auto rewritten = std::find_if(problems.begin(), problems.end(),
                                        [](const Error& error) { return error.code == Code::Rewritten; });
    ASSERT_NE(rewritten, problems.end());
    EXPECT_EQ(rewritten->where, "s3://bucket/run/model.safetensors?endpoint=http://h:9");
    EXPECT_FALSE(rewritten->step) << *rewritten->step;
}

} // namespace
} // namespace deltascope

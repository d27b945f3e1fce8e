#include "service_fixture.h"

#include <algorithm>
#include <filesystem>
#include <string>

// What the facade says of a run with an object that was rewritten since it was first seen.

namespace deltascope::app {
namespace {

class RewrittenValues : public ServiceFixture {
protected:
    /// A copy of a golden bucket that is on record, then with an object rewritten: its last value is another.
    void rewrite(const BucketCopy& bucket, const std::string& key)
    {
        VerifyRequest request;
        request.source = bucket.source();
        viewOf<VerifyView>(service->verify(request));
        bucket.damage(key, std::filesystem::file_size(bucket.file(key)) - 1);
        viewOf<VerifyView>(service->verify(request));
    }

    static TensorRequest tensor(const BucketCopy& bucket, const std::string& step, const std::string& name)
    {
        TensorRequest request;
        request.version = VersionRequest { bucket.source(), step };
        request.tensor = name;
        return request;
    }

    static bool saysRewritten(const std::vector<ProblemView>& problems)
    {
        return std::any_of(problems.begin(), problems.end(),
                           [](const ProblemView& problem) { return problem.code == "DS-REWRITTEN"; });
    }
};

constexpr const char* Name = BucketCopy::Tensor;

TEST_F(RewrittenValues, OfASoundStepAreShownWithoutTheStateBefore)
{
    const BucketCopy bucket("trl-v2-raw");
    const TensorRequest request = tensor(bucket, "10", Name); // an anchor; steps 3 to 9 stand on step 3
    const auto before = viewOf<BlocksView>(service->blocks(request, 4));
    EXPECT_EQ(before->a, 9);
    rewrite(bucket, "deltas/step_000003.safetensors");
    const auto blocks = viewOf<BlocksView>(service->blocks(request, 4));
    EXPECT_FALSE(blocks->a);
    EXPECT_TRUE(saysRewritten(blocks->reads.notices));
    const auto elements = viewOf<ElementsView>(service->elements(request, 0, 0, 4, 4));
    EXPECT_FALSE(elements->a);
    EXPECT_TRUE(saysRewritten(elements->reads.notices));
    EXPECT_TRUE(saysRewritten(viewOf<StatisticsView>(service->statistics(request))->reads.notices));

    EXPECT_EQ(errorOf(service->blocks(tensor(bucket, "9", Name), 4)).code, Code::Rewritten);
    const auto twin = viewOf<ElementsView>(service->elements(tensor(bucket, "12", Name), 0, 0, 4, 4));
    EXPECT_EQ(twin->a, 11);
    EXPECT_TRUE(twin->reads.notices.empty());
}

/// Another form of a version makes up for the one that was rewritten.
TEST_F(RewrittenValues, AreReadAroundTheObject)
{
    const BucketCopy bucket("grail");
    const auto run = viewOf<RunView>(service->openRun(bucket.source(), Depth::Headers));
    const StepView* twice = nullptr;
    for (const StepView& step : run->epochs.back().steps)
        twice = step.forms.size() > 1 ? &step : twice;
    ASSERT_TRUE(twice);
    const FormView& used =
        *std::find_if(twice->forms.begin(), twice->forms.end(), [](const FormView& form) { return form.isUsed; });
    std::string key;
    const auto listing = viewOf<ListingView>(service->listObjects(bucket.source()));
    for (const ListingEntryView& entry : listing->objects) {
        if (entry.object.key.starts_with(used.name) && entry.object.key.ends_with(".safetensors"))
            key = entry.object.key;
    }
    ASSERT_FALSE(key.empty()) << used.name;
    VersionRequest version { bucket.source(), std::to_string(twice->step) };
    const auto shown = viewOf<StepDetailView>(service->showStep(version, Depth::Headers));
    const TensorRequest request = tensor(bucket, version.version, shown->tensors.front().name);
    viewOf<ElementsView>(service->elements(request, 0, 0, 1, 4));
    rewrite(bucket, key);
    viewOf<ElementsView>(service->elements(request, 0, 0, 1, 4));
    viewOf<StatisticsView>(service->statistics(request));
}

/// Neither its own changes nor those of steps behind it are counted, and no other step is accused.
TEST_F(RewrittenValues, AreNotCounted)
{
    const BucketCopy bucket("trl-v2-raw");
    CostRequest cost;
    cost.source = bucket.source();
    const auto before = viewOf<CostView>(service->cost(cost));
    EXPECT_TRUE(before->problems.empty());
    rewrite(bucket, "deltas/step_000003.safetensors");
    const auto run = viewOf<RunView>(service->openRun(bucket.source(), Depth::Replayed));
    for (const StepView& step : run->epochs.front().steps) {
        const bool isCounted = step.step == 2 || step.step > 10;
        EXPECT_EQ(step.changedVsPrevious.has_value(), isCounted) << step.step;
        EXPECT_EQ(saysRewritten(step.problems), step.step == 3) << step.step;
        EXPECT_TRUE(step.step == 3 || step.problems.empty()) << step.step << step.problems.front().text;
    }
    const auto after = viewOf<CostView>(service->cost(cost));
    EXPECT_TRUE(saysRewritten(after->problems));
    EXPECT_EQ(after->replayedDeltas, 1U + 4U); // step 2, and those on the anchor of step 10
}

}
} // namespace deltascope::app

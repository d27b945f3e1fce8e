#include "monitor_fixture.h"

#include "bundle/held_monitor.h"
#include "server/api/api.h"

#include "deltascope/app/view/json.h"

// What is recorded of a run that moves meanwhile: it as it was at one moment.

namespace deltascope::app {
namespace {

bool never() { return false; }

class BundleMoment : public MonitorFixture {
protected:
    void hold(const BucketCopy& bucket)
    {
        id = monitor->follow(bucket.source(), "", false);
        Result<bundle::Moment> held = bundle::holdMoment(*monitor, id, never);
        ASSERT_TRUE(held) << held.error().text;
        moment = std::move(*held);
    }
    /// Waits until the monitor shows another newest step.
    void moveTo(std::int64_t latest)
    {
        runWhen(id, [&](const RunSnapshot& run) { return run.run && run.run->settled && run.run->latest == latest; });
    }
    void record()
    {
        bundle::HeldMonitor held(*monitor, moment);
        server::EventHub hub;
        const auto api = server::makeApi(*service, held, hub, {});
        Result<bundle::Recording> made = bundle::record(*api, id, never);
        ASSERT_TRUE(made) << made.error().text;
        recording = std::move(*made);
        hasListingMoved = held.hasListingMoved();
    }
    std::set<std::string> listedKeys() const
    {
        std::set<std::string> keys;
        for (const auto& object : recording.listing.at("objects"))
            keys.insert(object.at("key").get<std::string>());
        return keys;
    }

    std::string id;
    bundle::Moment moment;
    bundle::Recording recording;
    bool hasListingMoved = false;
};

TEST_F(BundleMoment, ARunThatDoesNotMoveIsRecordedWhole)
{
    const BucketCopy bucket("trl-v2-gap");
    hold(bucket);
    record();
    EXPECT_EQ(moment.unverified, 0U);
    EXPECT_FALSE(hasListingMoved);
    EXPECT_TRUE(recording.leftOut.empty());
    EXPECT_EQ(recording.of("steps").at("steps").size(), 15U);
    const auto listing = viewOf<ListingView>(service->listObjects(bucket.source()));
    EXPECT_EQ(recording.listing, nlohmann::ordered_json::parse(toJson(*listing)));
}

TEST_F(BundleMoment, AStepThatComesMeanwhileIsInNoDocument)
{
    const std::string late = "deltas/step_000015.safetensors";
    const BucketCopy bucket("trl-v2-gap", [&](const std::string& key) { return key != late; });
    hold(bucket);
    bucket.publish(late);
    moveTo(15);
    record();
    EXPECT_EQ(recording.of("steps").at("steps").size(), 14U);
    EXPECT_TRUE(recording.answers.contains("runs/" + id + "/steps/0:14"));
    for (const auto& [address, answer] : recording.answers) {
        EXPECT_EQ(answer.find("step_000015"), std::string::npos) << address;
        EXPECT_EQ(answer.find("\"step\":15"), std::string::npos) << address;
    }
    EXPECT_TRUE(hasListingMoved);
    EXPECT_FALSE(listedKeys().contains(late));
    EXPECT_EQ(listedKeys().size(), 14U);
    for (const auto& object : recording.listing.at("objects"))
        EXPECT_TRUE(object.at("needed_by").is_null()) << "counts the step that came";
}

TEST_F(BundleMoment, AStepThatGoesMeanwhileIsListedAndItsTensorsAreLeftOut)
{
    const std::string key = "deltas/step_000015.safetensors";
    const BucketCopy bucket("trl-v2-gap");
    hold(bucket);
    std::filesystem::remove(bucket.file(key));
    moveTo(14);
    record();
    EXPECT_EQ(recording.of("steps").at("steps").size(), 15U);
    EXPECT_FALSE(recording.answers.contains("runs/" + id + "/steps/0:15"));
    EXPECT_TRUE(recording.answers.contains("runs/" + id + "/steps/0:14"));
    EXPECT_EQ(recording.leftOut,
              std::vector<std::string> { "tensors of 1 step that changed or went during the export" });
    EXPECT_TRUE(hasListingMoved);
    EXPECT_TRUE(listedKeys().contains(key));
}

TEST_F(BundleMoment, WordsThatAreSaidMeanwhileAreNotInIt)
{
    const BucketCopy bucket("trl-v2-gap");
    hold(bucket);
    const ActRequest ref { "ref", { { "step", std::string("12") }, { "name", std::string("good") } } };
    ASSERT_EQ(endOf(start(id, ref).id).state, "done");
    record();
    EXPECT_TRUE(recording.of("annotations").at("refs").empty());
    EXPECT_FALSE(recording.answer("runs/" + id + "/steps/0:12").at("step").contains("refs"));
}

}
} // namespace deltascope::app

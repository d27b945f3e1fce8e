#include "service_fixture.h"
#include "view/make_views.h"

// The objects of a source: which version each belongs to, and what its loss would cost.

namespace deltascope::app {
namespace {

class ListingViews : public ServiceFixture {
protected:
    /// As somebody sees it who has replayed the run before.
    std::shared_ptr<const ListingView> listingOf(const SourceRequest& source)
    {
        viewOf<RunView>(service->openRun(source, Depth::Replayed));
        return viewOf<ListingView>(service->listObjects(source));
    }
};

ListingEntryView objectOf(const ListingView& listing, const std::string& key)
{
    for (const ListingEntryView& entry : listing.objects) {
        if (entry.object.key == key)
            return entry;
    }
    ADD_FAILURE() << "no object " << key;
    return {};
}

TEST_F(ListingViews, AnObjectIsNeededByAllThatBuildsOnIt)
{
    const auto listing = listingOf(goldenSource("trl-v2-gap"));
    EXPECT_EQ(listing->layout, "trl-v2");
    const ListingEntryView anchor = objectOf(*listing, "anchors/step_000001.safetensors");
    EXPECT_EQ(anchor.step, 1);
    EXPECT_EQ(anchor.kind, "anchor");
    EXPECT_EQ(anchor.neededBy, 9U);
    const ListingEntryView delta = objectOf(*listing, "deltas/step_000009.safetensors");
    EXPECT_EQ(delta.step, 9);
    EXPECT_EQ(delta.kind, "delta");
    EXPECT_EQ(delta.neededBy, 1U);
}

TEST_F(ListingViews, AFullFormBesideADeltaIsAnAnchorThatNobodyNeeds)
{
    const auto listing = listingOf(goldenSource("grail"));
    const std::string window = "grail/checkpoints/checkpoint-2700/";
    const ListingEntryView full = objectOf(*listing, window + "FULL/model.safetensors");
    EXPECT_EQ(full.step, 2700);
    EXPECT_EQ(full.kind, "anchor");
    EXPECT_EQ(full.neededBy, 0U);
    const ListingEntryView delta = objectOf(*listing, window + "DELTA/delta_sparse.bin.zst");
    EXPECT_EQ(delta.step, 2700);
    EXPECT_EQ(delta.kind, "delta");
    EXPECT_EQ(delta.neededBy, 0U);
    EXPECT_EQ(objectOf(*listing, window + "READY-2730").neededBy, 5U) << "it belongs to both";
    EXPECT_EQ(objectOf(*listing, "grail/checkpoints/checkpoint-2640/DELTA/delta_sparse.bin.zst").neededBy, 2U);
}

TEST_F(ListingViews, AnObjectOfNoVersionIsNeededByNothingThatIsKnown)
{
    const BucketCopy bucket("trl-v2-raw");
    std::ofstream(bucket.file("notes.txt")) << "to be kept";
    const auto listing = listingOf(bucket.source());
    const ListingEntryView notes = objectOf(*listing, "notes.txt");
    EXPECT_EQ(notes.object.sizeBytes, 10U);
    EXPECT_EQ(notes.step, std::nullopt);
    EXPECT_EQ(notes.kind, "");
    EXPECT_EQ(notes.neededBy, std::nullopt);
}

TEST_F(ListingViews, NothingIsSaidOfAVersionThatCannotBeRebuilt)
{
    const auto listing = listingOf(goldenSource("trl-v2-truncated"));
    const ListingEntryView cut = objectOf(*listing, "deltas/step_000013.safetensors");
    EXPECT_EQ(cut.step, 13);
    EXPECT_EQ(cut.kind, "delta");
    EXPECT_EQ(cut.neededBy, std::nullopt);
    EXPECT_EQ(objectOf(*listing, "deltas/step_000012.safetensors").neededBy, 1U) << "13 was lost before";
}

TEST_F(ListingViews, AUselessDeltaBesideAFullFormIsNeededByNoStep)
{
    const BucketCopy bucket("grail");
    const std::string delta = "grail/checkpoints/checkpoint-2700/DELTA/delta_sparse.bin.zst";
    bucket.damage(delta, 40);
    const auto listing = listingOf(bucket.source());
    EXPECT_EQ(objectOf(*listing, delta).neededBy, 0U);
    EXPECT_EQ(objectOf(*listing, "grail/checkpoints/checkpoint-2700/FULL/model.safetensors").neededBy, 5U);
}

TEST(ListingViewOfNoRun, HasTheObjectsAlone)
{
    const ListingView listing = makeListingView("file:///x", { ObjectInfo { "a", 3, "id", 7, false, {} } }, nullptr);
    EXPECT_EQ(listing.source, "file:///x");
    EXPECT_EQ(listing.layout, "");
    ASSERT_EQ(listing.objects.size(), 1U);
    const ListingEntryView& entry = listing.objects[0];
    EXPECT_EQ(entry.object.key, "a");
    EXPECT_EQ(entry.object.sizeBytes, 3U);
    EXPECT_EQ(entry.object.modifiedUs, 7);
    EXPECT_EQ(entry.step, std::nullopt);
    EXPECT_EQ(entry.kind, "");
    EXPECT_EQ(entry.neededBy, std::nullopt);
}

} // namespace
} // namespace deltascope::app

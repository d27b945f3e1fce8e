#include "deltascope/app/view/listing_page.h"

#include "run_views.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <set>

// A bucket folder by folder and page by page.

namespace deltascope::app {
namespace {

ListingEntryView entry(std::string key, std::uint64_t size = 1, std::string kind = {})
{
    ListingEntryView view;
    view.object = { std::move(key), size, 10 };
    view.kind = std::move(kind);
    if (!view.kind.empty())
        view.step = 7;
    return view;
}

ListingView listingOf(std::vector<ListingEntryView> entries)
{
    ListingView view;
    view.objects = std::move(entries);
    return view;
}

std::vector<std::string> keysOf(const ListingPage& page)
{
    std::vector<std::string> keys;
    for (const ListingRowView& row : page.rows)
        keys.push_back(row.key);
    return keys;
}

using Keys = std::vector<std::string>;

const ListingView& usualListing()
{
    static const ListingView listing =
        listingOf({ entry("anchors/step_1", 1000, "anchor"), entry("config.json", 5), entry("deltas/a/x", 3, "delta"),
                    entry("deltas/step_2", 10, "delta"), entry("deltas/step_3", 20, "delta"),
                    entry("partial", 300, "partial_anchor") });
    return listing;
}

TEST(ListingPage, TheRootShowsFoldersAndObjects)
{
    const ListingPage page = makeListingPage(usualListing(), {}, "", "", 100);
    EXPECT_EQ(keysOf(page), (Keys { "anchors/", "config.json", "deltas/", "partial" }));
    EXPECT_TRUE(page.rows[0].folder);
    EXPECT_FALSE(page.rows[1].folder);
    EXPECT_EQ(page.rows[2].sizeBytes, 33U) << "of all that is in it";
    EXPECT_EQ(page.rows[2].step, std::nullopt);
    EXPECT_EQ(page.rows[2].kind, "");
    EXPECT_EQ(page.rows[3].step, 7);
    EXPECT_EQ(page.rows[3].kind, "partial_anchor");
    EXPECT_EQ(page.nextCursor, "");
}

TEST(ListingPage, AFolderShowsWhatLiesRightBelow)
{
    const ListingPage page = makeListingPage(usualListing(), {}, "deltas/", "", 100);
    EXPECT_EQ(keysOf(page), (Keys { "deltas/a/", "deltas/step_2", "deltas/step_3" }));
    EXPECT_EQ(page.prefix, "deltas/");
}

TEST(ListingPage, AFolderIsAsNewAsItsNewestObject)
{
    ListingView listing = usualListing();
    listing.objects[3].object.modifiedUs = 99;
    EXPECT_EQ(makeListingPage(listing, {}, "", "", 100).rows[2].modifiedUs, 99);
}

TEST(ListingPage, APrefixThatNothingHasIsEmpty)
{
    for (const char* prefix : { "nothing/", "../", "/", "deltas/step_2", "deltas/step_2/" })
        EXPECT_TRUE(makeListingPage(usualListing(), {}, prefix, "", 100).rows.empty()) << prefix;
}

TEST(ListingPage, TotalsAreOfTheWholeSourceOnEveryPage)
{
    for (const char* prefix : { "", "deltas/", "nothing/" }) {
        const ListingTotals totals = makeListingPage(usualListing(), {}, prefix, "", 1).totals;
        EXPECT_EQ(totals.anchors, 2U);
        EXPECT_EQ(totals.anchorBytes, 1300U);
        EXPECT_EQ(totals.deltas, 3U);
        EXPECT_EQ(totals.deltaBytes, 33U);
        EXPECT_EQ(totals.other, 1U);
        EXPECT_EQ(totals.otherBytes, 5U);
    }
}

TEST(ListingPage, ObjectsOfVersionsHaveTheirState)
{
    RunView run = runView({ { stepView(2), stepView(3) } });
    run.revision = 9;
    run.epochs[0].steps[0].objects = { { "deltas/step_2", 10, 10 } };
    run.epochs[0].steps[1].objects = { { "deltas/step_3", 20, 10 } };
    run.epochs[0].steps[1].state = "broken";
    const ListingPage page = makeListingPage(usualListing(), run, "deltas/", "", 100);
    EXPECT_EQ(page.revision, 9U);
    EXPECT_EQ(page.rows[0].state, "") << "a folder has none";
    EXPECT_EQ(page.rows[1].state, "complete");
    EXPECT_EQ(page.rows[2].state, "broken");
}

TEST(ListingPage, NoRowIsLostOrRepeatedFromPageToPage)
{
    std::mt19937 random(8); // NOLINT: the same every time
    const std::string parts[] = { "a", "b", "a/", "b/", "-", ".", "\xff", "0", "/" };
    for (int round = 0; round < 100; ++round) {
        std::set<std::string> keys;
        while (keys.size() < 40) {
            std::string key = "k";
            for (unsigned n = 1 + random() % 5; n > 0; --n)
                key += parts[random() % std::size(parts)];
            keys.insert(key + "x");
        }
        std::vector<ListingEntryView> entries;
        for (const std::string& key : keys)
            entries.push_back(entry(key));
        std::shuffle(entries.begin(), entries.end(), random);
        const ListingView listing = listingOf(entries);
        const std::string prefix = round % 2 == 0 ? "" : "ka/";
        const Keys whole = keysOf(makeListingPage(listing, {}, prefix, "", 1000));
        EXPECT_TRUE(std::is_sorted(whole.begin(), whole.end()));
        const std::size_t limit = 1 + random() % 7;
        Keys paged;
        std::string cursor;
        do {
            const ListingPage page = makeListingPage(listing, {}, prefix, cursor, limit);
            ASSERT_LE(page.rows.size(), limit);
            for (const std::string& key : keysOf(page))
                paged.push_back(key);
            cursor = page.nextCursor;
        } while (!cursor.empty());
        EXPECT_EQ(paged, whole) << "round " << round;
    }
}

TEST(ListingPage, APageThatEndsWithTheLastRowIsTheLast)
{
    EXPECT_EQ(makeListingPage(usualListing(), {}, "", "", 4).nextCursor, "");
    EXPECT_EQ(makeListingPage(usualListing(), {}, "", "", 3).nextCursor, "deltas/");
}

} // namespace
} // namespace deltascope::app

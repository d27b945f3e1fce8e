#include "format/common/droppings.h"

#include <algorithm>
#include <gtest/gtest.h>

namespace deltascope {
namespace {

std::vector<ObjectInfo> listingOf(std::vector<std::string> keys)
{
    std::sort(keys.begin(), keys.end());
    std::vector<ObjectInfo> listing;
    for (std::string& key : keys) {
        ObjectInfo object;
        object.key = std::move(key);
        listing.push_back(std::move(object));
    }
    return listing;
}

TEST(Droppings, OfOneKindAreOneNoticeWithACount)
{
    auto listing = listingOf({ "a/model.safetensors", "a/._model.safetensors", "._b", "b", "a/._config.json" });
    const std::vector<Error> notices = takeDroppings(listing);
    ASSERT_EQ(notices.size(), 1U);
    EXPECT_EQ(notices[0].code, Code::Stray);
    EXPECT_NE(notices[0].text.find("3 of the objects are AppleDouble files"), std::string::npos) << notices[0].text;
    EXPECT_EQ(notices[0].where, "._b");
    ASSERT_EQ(listing.size(), 2U);
    EXPECT_EQ(listing[0].key, "a/model.safetensors");
    EXPECT_EQ(listing[1].key, "b");
}

TEST(Droppings, OfManyToolsAreKnown)
{
    const std::string name = "step_000007.safetensors";
    for (const std::string& dropping :
         { "._" + name, "." + name + ".Ab12Cd", name + ".6eF5A2c9", name + ".1a2b3c4d.partial",
           name + ":Zone.Identifier", std::string("step_000007 (1).safetensors"),
           std::string("step_000007 copy.safetensors"), std::string("step_000007 copy 2.safetensors"),
           std::string(".nfs00000000012a8f0300000007"), ".ipynb_checkpoints/" + name, "@eaDir/" + name + "/SYNO@.quota",
           std::string(".DS_Store") }) {
        auto listing = listingOf({ "deltas/" + name, "deltas/" + dropping });
        EXPECT_EQ(takeDroppings(listing).size(), 1U) << dropping;
        EXPECT_EQ(listing.size(), 1U) << dropping;
    }
}

TEST(Droppings, ObjectsOfRunsAreNone)
{
    auto listing =
        listingOf({ ".metadata", "__0_0.distcp", "READY-120", "STABLE", "checkpoint-10/model.safetensors",
                    "checkpoint-10/rng_state.pth", "checkpoint-10/model-00001-of-00002.safetensors",
                    "model.safetensors.index.json", "rank0000_flush000000.safetensors", ".deltascope/v1/x.json",
                    "weight_v000001/model-00000-of-00003.safetensors", "notes copy.txt", "run (1)/config.json",
                    "DELTA/delta_sparse.bin.zst", "model.fp16.safetensors", "a.checkpoint", ".gitattributes",
                    "events.out.tfevents.1700000000.host.12345678" });
    const std::size_t before = listing.size();
    EXPECT_TRUE(takeDroppings(listing).empty());
    EXPECT_EQ(listing.size(), before);
}

} // namespace
} // namespace deltascope

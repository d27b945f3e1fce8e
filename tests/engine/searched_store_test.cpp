#include "ops/searched_store.h"

#include "layout_fixture.h"

// A search in a large place ends, unless a run was found by then.

namespace deltascope {
namespace {

using namespace layout_test;

std::shared_ptr<MemoryStore> filled(const std::vector<std::string>& keys, int others)
{
    auto store = std::make_shared<MemoryStore>();
    for (const std::string& key : keys)
        EXPECT_TRUE(putText(*store, key, "x"));
    for (int i = 0; i < others; ++i)
        EXPECT_TRUE(putText(*store, fmt::format("home/file-{:05}", i), "x"));
    return store;
}

Result<std::vector<ObjectInfo>> search(const std::shared_ptr<MemoryStore>& store, SearchLimits limits)
{
    return listAll(SearchedStore(store, builtinLayouts(), limits), "", test::anyTask());
}

TEST(SearchedStore, EndsWhereNoRunWasFound)
{
    const Error error = errorOf(search(filled({}, 5000), { 1000, std::chrono::hours(1) }));
    EXPECT_EQ(error.code, Code::Layout);
    EXPECT_NE(error.text.find("ended after 4096 objects, at home/file-04095"), std::string::npos) << error.text;
    EXPECT_NE(error.action.find("--layout"), std::string::npos);
    EXPECT_EQ(errorOf(search(filled({}, 5000), { 100'000, std::chrono::milliseconds(0) })).code, Code::Layout);
}

TEST(SearchedStore, ListsARunToItsEnd)
{
    const auto listing = search(filled({ "a/checkpoint-1/model.safetensors" }, 5000), { 1000, std::chrono::hours(1) });
    ASSERT_TRUE(listing) << listing.error().text;
    EXPECT_EQ(listing->size(), 5001U);
    EXPECT_EQ(search(filled({}, 900), { 1000, std::chrono::milliseconds(0) })->size(), 900U) << "one page";
}

} // namespace
} // namespace deltascope

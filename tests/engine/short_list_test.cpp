#include "deltascope/base/short_list.h"

#include <gtest/gtest.h>

namespace deltascope {
namespace {

using List = ShortList<std::uint64_t, 2>;

List upTo(std::uint64_t count)
{
    List list;
    for (std::uint64_t i = 0; i < count; ++i)
        list.push_back(i);
    return list;
}

TEST(ShortList, IsAsSmallAsItsItems) { EXPECT_EQ(sizeof(List), 24U); }

TEST(ShortList, HoldsWhatIsPutIn)
{
    for (std::uint64_t count = 0; count < 20; ++count) {
        const List list = upTo(count);
        std::vector<std::uint64_t> items;
        for (std::uint64_t i = 0; i < count; ++i)
            items.push_back(i);
        EXPECT_EQ(list.size(), count);
        EXPECT_EQ(list.empty(), count == 0);
        EXPECT_EQ(std::vector<std::uint64_t>(list), items);
        EXPECT_EQ(list, items);
        EXPECT_NE(list, upTo(count + 1));
    }
}

TEST(ShortList, CopiesAndMovesInlineAndOnTheHeap)
{
    for (const std::uint64_t from : { 0, 1, 2, 3, 9 }) {
        for (const std::uint64_t to : { 0, 2, 3, 9 }) {
            List copied = upTo(to);
            const List source = upTo(from);
            copied = source;
            EXPECT_EQ(copied, source);
            List moved = upTo(to);
            moved = std::move(copied);
            EXPECT_EQ(moved, source);
            EXPECT_TRUE(copied.empty()); // NOLINT(bugprone-use-after-move): it can be filled again
            copied.push_back(7);
            EXPECT_EQ(copied, (List { 7 }));
            EXPECT_EQ(List(std::move(moved)), source);
        }
    }
}

TEST(ShortList, TakesOneOfItsOwnItems)
{
    List list { 1, 2 };
    list.push_back(list.front());
    list = *&list;
    EXPECT_EQ(list, (List { 1, 2, 1 }));
    EXPECT_EQ(list.back(), 1U);
    EXPECT_EQ(list.at(1), 2U);
    EXPECT_THROW(static_cast<void>(list.at(3)), std::out_of_range);
}

}
} // namespace deltascope

#include "widgets/reads_note.h"

#include <gtest/gtest.h>

// What is known of the bytes behind a result, beside it.

namespace deltascope::desktop {
namespace {

TEST(ReadsNote, NamesRewrittenObjectsAndNotices)
{
    app::ReadsView reads;
    reads.rewritten = { "deltas/3" };
    reads.notices.push_back({ "DS-CATALOG", std::nullopt, "records", "2 records are damaged", {} });
    ReadsNote note;
    note.setReads(reads);
    EXPECT_FALSE(note.isHidden());
    EXPECT_EQ(note.text().toStdString(), "⚑ rewritten and used: deltas/3\n✕ DS-CATALOG 2 records are damaged");
}

TEST(ReadsNote, TakesNoRoomWhereThereIsNothingToSay)
{
    ReadsNote note;
    note.setReads({});
    EXPECT_TRUE(note.isHidden());
    app::ReadsView reads;
    reads.rewritten = { "deltas/3" };
    note.setReads(reads);
    note.setReads({});
    EXPECT_TRUE(note.isHidden()) << "of the result before";
}

}
} // namespace deltascope::desktop

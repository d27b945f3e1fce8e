// Typed filters, and the field that they are typed into.

#include "widgets/filter_field.h"
#include "widgets/query.h"

#include <QSignalSpy>
#include <QTest>
#include <QUndoStack>

#include <gtest/gtest.h>

namespace deltascope::desktop {

namespace {

const std::vector<QueryField> Fields { { QStringLiteral("kind"), false }, { QStringLiteral("size"), true } };

struct Row {
    QString kind;
    std::optional<double> size;

    std::optional<double> number(std::size_t) const { return size; }
    bool hasWord(std::size_t, const Query::WordTest& test) const { return test(kind); }
    bool contains(const QString& text) const { return kind.contains(text, Qt::CaseInsensitive); }
};

bool passes(const char* text, const Row& row)
{
    const Query query = Query::parse(QString::fromUtf8(text), Fields);
    EXPECT_TRUE(query.error().isEmpty()) << text;
    return query.matches(row);
}

TEST(QueryTest, AllTermsHaveToHold)
{
    const Row row { "delta", 12e6 };
    EXPECT_TRUE(passes("", row));
    EXPECT_TRUE(passes("kind:DELTA size:>10M", row));
    EXPECT_FALSE(passes("kind:delta size:<10M", row));
    EXPECT_TRUE(passes("size:1k..12MB elt", row));
    EXPECT_FALSE(passes("anchor", row));
    EXPECT_TRUE(passes("kind:~el", row));
    EXPECT_TRUE(passes("kind:*", row));
    EXPECT_FALSE(passes("kind:*", Row {}));
}

TEST(QueryTest, LimitsAreExact)
{
    EXPECT_TRUE(passes("size:12", Row { "x", 12 }));
    EXPECT_FALSE(passes("size:>12", Row { "x", 12 }));
    EXPECT_TRUE(passes("size:>=12", Row { "x", 12 }));
    EXPECT_FALSE(passes("size:<12", Row { "x", 12 }));
    EXPECT_TRUE(passes("size:12..12", Row { "x", 12 }));
    EXPECT_FALSE(passes("size:<=12", Row { "x", std::nullopt })) << "what is not known is not small";
}

TEST(QueryTest, MistakesAreNamedAndHideNothing)
{
    for (const char* text : { "sise:3", "size:", "size:big", "size:1..x" }) {
        const Query query = Query::parse(QString::fromUtf8(text), Fields);
        EXPECT_FALSE(query.error().isEmpty()) << text;
        EXPECT_TRUE(query.matches(Row { "x", 1 })) << text;
    }
    EXPECT_TRUE(Query::parse("sise:3", Fields).error().contains("size"));
}

TEST(FilterFieldTest, ShowsWhetherItIsUnderstood)
{
    QUndoStack undo;
    FilterField field(Fields, undo);
    field.setText("size:>3");
    field.setFound(2, 10);
    EXPECT_EQ(field.property("state").toString(), "valid");
    EXPECT_EQ(field.accessibleDescription(), QStringLiteral("✓ 2 of 10"));
    field.setText("size:>three");
    EXPECT_EQ(field.property("state").toString(), "invalid");
    EXPECT_TRUE(field.accessibleDescription().startsWith(QStringLiteral("✕")));
    EXPECT_TRUE(field.query().isEmpty());
    field.setText({});
    EXPECT_EQ(field.property("state").toString(), "");
}

TEST(FilterFieldTest, TypingIsOneStepOfTheHistory)
{
    QUndoStack undo;
    FilterField field(Fields, undo);
    field.show();
    QTest::keyClicks(&field, "delta");
    EXPECT_EQ(undo.count(), 1);
    QSignalSpy changed(&field, &FilterField::queryChanged);
    undo.undo();
    EXPECT_EQ(field.text(), "");
    EXPECT_TRUE(field.query().isEmpty());
    undo.redo();
    EXPECT_EQ(field.text(), "delta");
    EXPECT_EQ(changed.count(), 2);
}

}

} // namespace deltascope::desktop

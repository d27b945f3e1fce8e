#include "deltascope/engine/annotate.h"

#include "deltascope/engine/beside_keys.h"
#include "publish_fixture.h"

// Words and notes as acts: what is planned is what is written, once, and the journal tells it.

namespace deltascope {
namespace {

using namespace layout_test;

struct Annotating : Publishing {
    Annotating()
        : Publishing("trl-v2")
    {
        publishAll(1, 4);
    }
    Result<AnnotationPlan> plan(std::int64_t of, const Annotation& annotation)
    {
        return planAnnotation(bench, source, base, step(of), annotation, task);
    }
    Result<Annotated> annotateWith(const std::string& hash, std::int64_t of, const Annotation& annotation)
    {
        return annotate(bench, source, base, step(of), annotation, { hash, "kim@host" }, task);
    }
    Result<Annotated> doIt(std::int64_t of, const Annotation& annotation)
    {
        DS_TRY(const AnnotationPlan planned, plan(of, annotation));
        return annotateWith(planned.act.hash(), of, annotation);
    }
    std::vector<std::string> texts()
    {
        std::vector<std::string> texts;
        for (const JournalEntry& entry : readJournal(*source, {}, task).value_or(std::vector<JournalEntry>()))
            texts.push_back(entry.text);
        return texts;
    }
    std::size_t objectsBelow(std::string_view folder) { return listAll(*source, folder, task)->size(); }

    std::shared_ptr<ObjectStore> source = Publishing::run;
};

const Annotation Good { Annotation::Kind::Ref, "good", "best eval", false };
const Annotation Collapse { Annotation::Kind::Note, {}, "reward collapses here", false };

TEST(Annotate, APlanWritesNothingAndListsWhatIsWritten)
{
    Annotating a;
    const std::vector<std::string> before = a.keys();
    const auto planned = a.plan(3, Good);
    ASSERT_TRUE(planned) << planned.error().text;
    EXPECT_EQ(a.keys(), before);
    EXPECT_EQ(planned->text, "good: step 3 (best eval)");
    EXPECT_TRUE(planned->act.writes.empty());
    EXPECT_EQ(planned->act.beside, (std::vector<PlannedEffect> { { "journal", "1" }, { "refs", "1" } }));
    EXPECT_EQ(planned->act.effects, (std::vector<PlannedEffect> { { "good", "no step to step 3" } }));
    ASSERT_TRUE(a.annotateWith(planned->act.hash(), 3, Good));
    EXPECT_EQ(a.objectsBelow(beside::Refs), 1U);
    EXPECT_EQ(a.objectsBelow(beside::Journal), 1U);
    EXPECT_EQ(a.texts(), (std::vector<std::string> { "good: step 3 (best eval)" }));
}

TEST(Annotate, AWordThatWasMovedSinceThePlanIsNotMoved)
{
    Annotating a;
    const auto planned = a.plan(3, Good);
    ASSERT_TRUE(planned);
    ASSERT_TRUE(a.doIt(2, Good));
    const auto moved = a.annotateWith(planned->act.hash(), 3, Good);
    ASSERT_FALSE(moved);
    EXPECT_EQ(moved.error().code, Code::Exists);
    EXPECT_EQ(a.texts().size(), 1U);
    EXPECT_NE(a.plan(3, Good)->act.hash(), planned->act.hash());
}

TEST(Annotate, WhatIsSoAlreadyIsNotWrittenAgain)
{
    Annotating a;
    for (const Annotation& annotation : { Good, Collapse }) {
        ASSERT_TRUE(a.doIt(3, annotation));
        const std::vector<std::string> before = a.keys();
        const auto planned = a.plan(3, annotation);
        ASSERT_TRUE(planned);
        EXPECT_TRUE(planned->isDone);
        EXPECT_TRUE(planned->act.beside.empty());
        const auto again = a.doIt(3, annotation);
        ASSERT_TRUE(again) << again.error().text;
        EXPECT_TRUE(again->wasThere);
        EXPECT_EQ(a.keys(), before);
    }
    EXPECT_FALSE(a.plan(2, Collapse)->isDone) << "a note about another step";
    Annotation other = Good;
    other.text = "another reason";
    EXPECT_FALSE(a.plan(3, other)->isDone);
}

TEST(Annotate, AProcessThatEndedBeforeItWroteTheJournalIsCompletedByTheSameCall)
{
    Annotating a;
    for (const Annotation& annotation : { Good, Collapse }) {
        ASSERT_TRUE(a.doIt(3, annotation));
        const auto journal = listAll(*a.source, beside::Journal, a.task);
        ASSERT_TRUE(a.source->remove({ journal->back() }, a.task).front());
        const auto again = a.doIt(3, annotation);
        ASSERT_TRUE(again);
        EXPECT_TRUE(again->wasThere);
    }
    EXPECT_EQ(a.texts(), (std::vector<std::string> { "good: step 3 (best eval)", "step 3: reward collapses here" }));
}

TEST(Annotate, AWordThatIsTakenBackMustBeThere)
{
    Annotating a;
    Annotation remove = Good;
    remove.remove = true;
    EXPECT_EQ(a.plan(0, remove).error().code, Code::NotFound);
    ASSERT_TRUE(a.doIt(3, Good));
    ASSERT_TRUE(a.doIt(2, { Annotation::Kind::Pin, {}, {}, false }));
    const auto other = a.plan(0, { Annotation::Kind::Ref, "best", {}, true });
    EXPECT_NE(other.error().text.find("it has good, pin/step-2"), std::string::npos) << other.error().text;
    ASSERT_TRUE(a.doIt(0, remove)) << "no step is asked for";
    EXPECT_EQ(a.texts().back(), "good: removed, was step 3 (best eval)");
    EXPECT_EQ(a.plan(0, remove).error().code, Code::NotFound);
}

TEST(Annotate, RefusesNamesAndTextsThatCannotBe)
{
    Annotating a;
    for (const char* name : { "latest", "12", "", "a b", "pin/x" })
        EXPECT_EQ(a.plan(3, { Annotation::Kind::Ref, name, {}, false }).error().code, Code::Usage) << name;
    EXPECT_EQ(a.plan(3, { Annotation::Kind::Note, {}, {}, false }).error().code, Code::Usage);
    EXPECT_EQ(a.plan(3, { Annotation::Kind::Note, {}, std::string(5000, 'x'), false }).error().code, Code::Usage);
    EXPECT_EQ(a.plan(99, Good).error().code, Code::NotFound);
}

}
} // namespace deltascope

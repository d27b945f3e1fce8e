#include "deltascope/engine/beside.h"

#include "beside/series.h"
#include "deltascope/engine/beside_keys.h"
#include "deltascope/engine/forwarding_store.h"
#include "support/any_task.h"
#include "support/memory_store.h"
#include "support/temp_dir.h"

#include <atomic>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <thread>

namespace deltascope {
namespace {

using test::anyTask;
using test::MemoryStore;

constexpr std::int64_t Us = 1'700'000'000'000'000;
const RefTarget Twelve { 12, 0, "root12", "aa" };
const RefTarget Fifteen { 15, 1, "", "bb" };

/// As Google Cloud Storage and the Hub: nothing keeps two writers of one key apart.
class Unconditional final : public ForwardingStore {
public:
    using ForwardingStore::ForwardingStore;
    StoreTraits traits() const noexcept override
    {
        StoreTraits traits = ForwardingStore::traits();
        traits.conditionalPut = false;
        return traits;
    }
    Result<ObjectInfo> put(std::string_view key, const Payload& bytes, PutMode mode, TaskContext& task) override
    {
        if (mode == PutMode::IfAbsent)
            return fail(Code::Unsupported, "no condition");
        return ForwardingStore::put(key, bytes, mode, task);
    }
};

/// What the one knows who moved it last, beside the run.
RefMoves movesBehind(const Ref& ref)
{
    return { ref.number, 0, ref.target ? RefMoves::Stands::InSource : RefMoves::Stands::Nowhere };
}

std::vector<ObjectInfo> listing(const ObjectStore& store) { return *listAll(store, {}, anyTask()); }

class BesideTest : public testing::Test {
protected:
    Beside of(std::shared_ptr<ObjectStore> source)
    {
        return Beside(std::move(source), { "kim@host", folder.path("shadow"), [] { return Us; } });
    }
    Annotations annotations(const ObjectStore& source)
    {
        Result<Annotations> annotations = readAnnotations(source, listing(source), folder.path("shadow"), anyTask());
        EXPECT_TRUE(annotations) << annotations.error().text;
        return annotations ? *annotations : Annotations {};
    }

    test::TempDir folder;
    std::shared_ptr<MemoryStore> store = std::make_shared<MemoryStore>();
};

TEST_F(BesideTest, ARefStandsWhereItWasMovedLast)
{
    Beside beside = of(store);
    const auto first = beside.moveRef(RefKind::Ref, "good", {}, Twelve, "eval 0.71", anyTask());
    ASSERT_TRUE(first) << first.error().text;
    EXPECT_EQ(first->number, 1U);
    EXPECT_FALSE(first->isLocal);
    const auto second = beside.moveRef(RefKind::Ref, "good", movesBehind(*first), Fifteen, "", anyTask());
    ASSERT_TRUE(second) << second.error().text;
    const Annotations now = annotations(*store);
    ASSERT_EQ(now.refs, std::vector<Ref> { *second });
    EXPECT_EQ(now.find("good")->target, Fifteen);
    EXPECT_EQ(now.find("good")->by, "kim@host");
    EXPECT_EQ(now.find("pin/good"), nullptr);
    EXPECT_TRUE(now.problems.empty());
}

TEST_F(BesideTest, WhoseViewIsOldMovesNothing)
{
    Beside beside = of(store);
    const auto first = beside.moveRef(RefKind::Ref, "good", {}, Twelve, "", anyTask());
    ASSERT_TRUE(first);
    for (const RefMoves& seen : { RefMoves(), movesBehind(*first) }) {
        if (seen.inSource > 0) {
            ASSERT_TRUE(beside.moveRef(RefKind::Ref, "good", seen, Fifteen, "", anyTask()));
        }
        const std::size_t objects = listing(*store).size();
        const auto stale = beside.moveRef(RefKind::Ref, "good", seen, Twelve, "", anyTask());
        ASSERT_FALSE(stale);
        EXPECT_EQ(stale.error().code, Code::Exists);
        EXPECT_EQ(listing(*store).size(), objects);
    }
}

TEST_F(BesideTest, ARemovedRefIsGoneAndMayComeBack)
{
    Beside beside = of(store);
    const auto pin = beside.moveRef(RefKind::Pin, "eval", {}, Twelve, "", anyTask());
    ASSERT_TRUE(pin);
    EXPECT_EQ(annotations(*store).find("pin/eval")->target, Twelve);
    const auto removed = beside.moveRef(RefKind::Pin, "eval", movesBehind(*pin), std::nullopt, "", anyTask());
    ASSERT_TRUE(removed);
    EXPECT_TRUE(annotations(*store).refs.empty());
    const auto back =
        beside.moveRef(RefKind::Pin, "eval", annotations(*store).movesOf(RefKind::Pin, "eval"), Fifteen, "", anyTask());
    ASSERT_TRUE(back) << back.error().text;
    EXPECT_EQ(back->number, 3U);
    EXPECT_EQ(annotations(*store).find("pin/eval")->target, Fifteen);
    EXPECT_FALSE(beside.moveRef(RefKind::Pin, "eval", movesBehind(*removed), Twelve, "", anyTask()))
        << "it was moved since it was removed";
}

TEST_F(BesideTest, AMoveThatCannotBeReadHidesTheOneBefore)
{
    Beside beside = of(store);
    ASSERT_TRUE(beside.moveRef(RefKind::Ref, "good", {}, Twelve, "", anyTask()));
    ASSERT_TRUE(test::putText(*store, ".deltascope/v1/refs/good/00000002.json", "{\"step\":"));
    const Annotations now = annotations(*store);
    ASSERT_NE(now.find("good"), nullptr);
    EXPECT_FALSE(now.find("good")->target);
    EXPECT_TRUE(now.find("good")->failure);
    EXPECT_EQ(now.problems.size(), 1U);
}

TEST_F(BesideTest, OfTwoWritersAtOnceOneMovesTheRef)
{
    for (const bool isConditional : { true, false }) {
        const auto memory = std::make_shared<MemoryStore>();
        const std::shared_ptr<ObjectStore> shared =
            isConditional ? std::shared_ptr<ObjectStore>(memory) : std::make_shared<Unconditional>(memory);
        constexpr std::int64_t Writers = 6;
        std::atomic<int> winners = 0;
        std::atomic<std::int64_t> winner = -1;
        std::atomic<bool> go = false;
        std::vector<std::thread> threads;
        for (std::int64_t i = 0; i < Writers; ++i) {
            threads.emplace_back([&, i] {
                Beside beside = of(shared);
                TaskContext task;
                while (!go)
                    std::this_thread::yield();
                const auto moved = beside.moveRef(RefKind::Ref, "good", {}, RefTarget { i, 0, {}, {} }, "", task);
                if (moved) {
                    ++winners;
                    winner = i;
                } else {
                    EXPECT_EQ(moved.error().code, Code::Exists) << moved.error().text;
                }
            });
        }
        go = true;
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(winners, 1) << isConditional;
        const Annotations now = annotations(*shared);
        ASSERT_EQ(now.refs.size(), 1U);
        EXPECT_EQ(now.refs[0].target->step, winner) << isConditional;
        EXPECT_EQ(now.refs[0].number, 1U);
    }
}

TEST_F(BesideTest, NotesAndEntriesOfManyWritersAreAllKept)
{
    for (const bool isConditional : { true, false }) {
        const auto memory = std::make_shared<MemoryStore>();
        const std::shared_ptr<ObjectStore> shared =
            isConditional ? std::shared_ptr<ObjectStore>(memory) : std::make_shared<Unconditional>(memory);
        std::vector<std::thread> threads;
        for (int i = 0; i < 6; ++i) {
            threads.emplace_back([&, i] {
                Beside beside = of(shared);
                TaskContext task;
                EXPECT_TRUE(beside.addNote(Twelve, fmt::format("note {}", i), task));
                EXPECT_TRUE(beside.append({ 0, "note", "done", {}, {}, fmt::format("entry {}", i), {} }, task));
            });
        }
        for (std::thread& thread : threads)
            thread.join();
        EXPECT_EQ(annotations(*shared).notes.size(), 6U);
        EXPECT_EQ(readJournal(*shared, {}, anyTask())->size(), 6U);
    }
}

TEST_F(BesideTest, WhatAReadOnlySourceCannotTakeIsKeptHere)
{
    const auto source = std::make_shared<MemoryStore>();
    const auto readOnly = std::make_shared<ReadOnlyStore>(source);
    Beside beside = of(readOnly);
    const auto moved = beside.moveRef(RefKind::Ref, "good", {}, Twelve, "", anyTask());
    ASSERT_TRUE(moved) << moved.error().text;
    EXPECT_TRUE(moved->isLocal);
    EXPECT_TRUE(beside.addNote(Twelve, "text", anyTask())->isLocal);
    EXPECT_TRUE(beside.append({ 0, "ref", "done", {}, {}, "text", {} }, anyTask())->isLocal);
    EXPECT_TRUE(listing(*source).empty());
    Annotations now = annotations(*source);
    ASSERT_EQ(now.refs, std::vector<Ref> { *moved });
    EXPECT_EQ(now.notes.size(), 1U);
    EXPECT_EQ(readJournal(*readOnly, folder.path("shadow"), anyTask())->size(), 1U);
    const auto again = beside.moveRef(RefKind::Ref, "good", now.movesOf(RefKind::Ref, "good"), Fifteen, "", anyTask());
    ASSERT_TRUE(again) << again.error().text;
    EXPECT_TRUE(again->isLocal);

    // Once the source has a ref of that name, everybody means that one.
    ASSERT_TRUE(of(source).moveRef(RefKind::Ref, "good", {}, Twelve, "", anyTask()));
    now = annotations(*source);
    ASSERT_EQ(now.refs.size(), 1U);
    EXPECT_FALSE(now.refs[0].isLocal);
    const auto refused =
        beside.moveRef(RefKind::Ref, "good", now.movesOf(RefKind::Ref, "good"), Fifteen, "", anyTask());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().code, Code::Internal);
}

TEST_F(BesideTest, WhatIsKeptHereMovesIntoTheSourceOnceThatCanBeWritten)
{
    const auto source = std::make_shared<MemoryStore>();
    const auto move = [&](const std::shared_ptr<ObjectStore>& store, std::optional<RefTarget> target) {
        const RefMoves seen = annotations(*source).movesOf(RefKind::Ref, "good");
        Result<Ref> moved = of(store).moveRef(RefKind::Ref, "good", seen, std::move(target), "", anyTask());
        EXPECT_TRUE(moved) << moved.error().text;
        return moved.value_or(Ref());
    };
    const auto readOnly = std::make_shared<ReadOnlyStore>(source);
    EXPECT_TRUE(move(readOnly, Twelve).isLocal);
    EXPECT_TRUE(move(source, std::nullopt).isLocal) << "nobody else knew of it";
    EXPECT_TRUE(listing(*source).empty());
    EXPECT_TRUE(move(readOnly, Fifteen).isLocal) << "it comes back";

    EXPECT_FALSE(move(source, Twelve).isLocal);
    Annotations now = annotations(*source);
    ASSERT_EQ(now.refs.size(), 1U);
    EXPECT_FALSE(now.refs[0].isLocal);
    EXPECT_FALSE(move(source, std::nullopt).isLocal);
    EXPECT_TRUE(annotations(*source).refs.empty()) << "the one of this machine went with it";
    EXPECT_FALSE(move(source, Fifteen).isLocal);
    EXPECT_EQ(annotations(*source).find("good")->target, Fifteen);
}

TEST_F(BesideTest, EntriesOfThisMachineStandBetweenThoseOfTheSource)
{
    const auto readOnly = std::make_shared<ReadOnlyStore>(store);
    std::int64_t nowUs = Us;
    const auto tell = [&](const std::shared_ptr<ObjectStore>& into, const std::string& text) {
        Beside beside(into, { "kim@host", folder.path("shadow"), [&] { return nowUs += 1000; } });
        ASSERT_TRUE(beside.append({ 0, "note", "done", {}, {}, text, {} }, anyTask()));
    };
    tell(store, "a");
    tell(readOnly, "b");
    tell(store, "c");
    nowUs -= 1'000'000; // whose clock is slow comes behind all the same
    tell(store, "d");
    nowUs += 2'000'000;
    tell(readOnly, "e");
    std::string row;
    const Result<std::vector<JournalEntry>> journal = readJournal(*store, folder.path("shadow"), anyTask());
    ASSERT_TRUE(journal);
    for (const JournalEntry& entry : *journal)
        row += entry.text;
    EXPECT_EQ(row, "abcde");
}

TEST_F(BesideTest, WithoutAShadowTheRefusalOfTheSourceIsTheError)
{
    Beside beside(std::make_shared<ReadOnlyStore>(store), { "kim@host", {}, [] { return Us; } });
    EXPECT_FALSE(beside.addNote(Twelve, "text", anyTask()));
}

TEST_F(BesideTest, AnEntryThatCannotBeReadIsStillAnEntry)
{
    Beside beside = of(store);
    ASSERT_TRUE(beside.append({ 0, "ref", "done", {}, "hash", "good: 12 to 15", { "a", "b" } }, anyTask()));
    ASSERT_TRUE(test::putText(*store, ".deltascope/v1/journal/00000002.json", "x"));
    ASSERT_TRUE(test::putText(*store, ".deltascope/v1/journal/notes.txt", "x"));
    const auto entries = readJournal(*store, {}, anyTask());
    ASSERT_TRUE(entries);
    ASSERT_EQ(entries->size(), 2U);
    EXPECT_EQ((*entries)[0],
              (JournalEntry { 1, "ref", "done", "kim@host", "hash", "good: 12 to 15", { "a", "b" }, Us }));
    EXPECT_EQ((*entries)[1].phase, "unreadable");
}

TEST(RefNames, AreWordsThatMeanNothingElse)
{
    for (const char* name : { "good", "eval-0.71", "before_lr_change", "v2", "a" })
        EXPECT_TRUE(checkRefName(name)) << name;
    for (const char* name : { "", "12", "latest", "anchor", "pin", "undo", "head", "pin/x", "undo/x", "latest~1", "a b",
                              "0:12", "3..9", "a..b", ".hidden", "-x", "gr\xc3\xbcn", "a@b" }) {
        const auto outcome = checkRefName(name);
        ASSERT_FALSE(outcome) << name;
        EXPECT_EQ(outcome.error().code, Code::Usage);
    }
    EXPECT_FALSE(checkRefName(std::string(65, 'a')));
}

TEST(Series, NamesThatAreNoneAreLeftOut)
{
    std::vector<ObjectInfo> listing;
    for (const char* key : { "f/00000002.json", "f/00000002-0000000a.json", "f/00000001.json", "f/00000000.json",
                             "f/2.json", "f/00000003.txt", "f/00000003-xyz.json", "f/00000003-0000000G.json",
                             "g/00000009.json", "f/x/00000009.json" })
        listing.push_back({ key, 1, "1", 0 });
    const std::vector<SeriesObject> objects = Series::in(listing, "f/");
    ASSERT_EQ(objects.size(), 3U);
    EXPECT_EQ(objects[0].number, 1U);
    EXPECT_EQ(Series::newest(objects)->object.key, "f/00000002.json");
    EXPECT_EQ(Series::newest({}), nullptr);
}

}
} // namespace deltascope

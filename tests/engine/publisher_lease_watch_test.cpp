#include "lease_fixture.h"

#include "support/temp_dir.h"

// Publishers elsewhere, of whom nobody can say whether they run: they are watched. And what dead ones leave.

namespace deltascope {
namespace {

using namespace layout_test;
using namespace std::chrono_literals;

/// A publisher that finds the lease of another host. Its monotonic clock stands still until a test moves it.
struct Watching : Publishing {
    Watching()
    {
        options.lease.clock = [this] {
            if (onLook)
                onLook(looks);
            ++looks;
            return monotonic;
        };
        options.lease.onWaiting = [this](const std::string& text) { told.push_back(text); };
    }
    void hold(const Json& changes = Json::object())
    {
        Json fields { { "host", "elsewhere/boot" }, { "pid", 4711 }, { "actor", "nightly" } };
        fields.update(changes);
        lease = forged(*this, fields);
        ASSERT_TRUE(putText(*run, leaseKey(1), lease.dump()));
    }
    void renew() { ASSERT_TRUE(putText(*run, leaseKey(1), lease.dump())); }

    Json lease;
    std::chrono::microseconds monotonic { 5h };
    int looks = 0; ///< at the clock
    std::function<void(int)> onLook; ///< before each
    std::vector<std::string> told;
};

TEST(PublisherLeaseWatch, ALeaseThatStandsStillForItsLifeIsDead)
{
    Watching p;
    p.hold();
    p.onLook = [&](int look) { p.monotonic += look == 0 ? 0min : look == 1 ? 9min + 59s : 1s; };
    expectTaken(p);
    EXPECT_EQ(p.looks, 3); // at the beginning, too early, in time
    EXPECT_EQ(leaseOf(p, 2)["pid"], ::getpid());
}

TEST(PublisherLeaseWatch, WhatItStatesOfTimeChangesNothing)
{
    const std::int64_t now = Publishing().now;
    for (const std::int64_t stated : { std::int64_t(0), now - 600 * Minute, now + 600 * Minute }) {
        SCOPED_TRACE(stated);
        Watching dead;
        dead.hold({ { "renewed_us", stated } });
        dead.onLook = [&](int look) { dead.monotonic += look == 0 ? 0min : 10min; };
        expectTaken(dead);
        EXPECT_EQ(dead.told.size(), 1U); // however old it says that it is

        Watching alive;
        alive.hold({ { "renewed_us", stated } });
        alive.onLook = [&](int look) {
            if (look == 1)
                alive.renew();
        };
        EXPECT_EQ(errorOf(alive.open()).code, Code::Exists);
    }
}

TEST(PublisherLeaseWatch, ARenewalIsALifeSign)
{
    Watching p;
    p.hold();
    p.onLook = [&](int look) {
        if (look == 1)
            p.renew(); // seen at the next look, although by then much more than its life is over
        p.monotonic += look < 2 ? 0min : 60min;
    };
    const Error error = errorOf(p.open());
    EXPECT_EQ(error.code, Code::Exists);
    for (const char* part : { "nightly", "4711", "elsewhere", "publishes into this run", "renewed" })
        EXPECT_NE(error.text.find(part), std::string::npos) << error.text;
    EXPECT_TRUE(p.keys().empty());
}

TEST(PublisherLeaseWatch, ALeaseThatIsGivenBackIsFreeAtOnce)
{
    Watching p;
    p.hold();
    p.onLook = [&](int look) {
        if (look == 1) {
            p.lease["released"] = true;
            p.renew();
        }
    };
    expectTaken(p);
    EXPECT_EQ(p.looks, 2);
}

TEST(PublisherLeaseWatch, ALeaseThatIsRemovedIsFreeAtOnce)
{
    Watching p;
    p.hold();
    p.onLook = [&](int look) {
        if (look == 1) {
            ASSERT_TRUE(p.run->remove(leaseKey(1)));
        }
    };
    expectTaken(p);
}

TEST(PublisherLeaseWatch, WhoTakesOverFirstIsTheNextHolder)
{
    Watching p;
    p.hold();
    p.onLook = [&](int look) {
        if (look == 1) {
            ASSERT_TRUE(putText(*p.run, leaseKey(2), forged(p, { { "actor", "quicker" } }).dump()));
        }
    };
    const Error error = errorOf(p.open()); // this one runs here, so nobody watches
    EXPECT_EQ(error.code, Code::Exists);
    EXPECT_NE(error.text.find("quicker"), std::string::npos) << error.text;
}

TEST(PublisherLeaseWatch, ItSaysForWhomItWaitsSinceWhenAndWhatCanBeDone)
{
    Watching p;
    p.hold();
    p.onLook = [&](int look) {
        if (look == 1)
            p.task.requestStop();
    };
    const Error error = errorOf(p.open());
    EXPECT_EQ(error.code, Code::Canceled);
    ASSERT_EQ(p.told.size(), 1U);
    for (const std::string& text : { p.told.front(), error.text + error.action }) {
        for (const char* part : { "nightly", "4711", "elsewhere", "since 20", "UTC", "10 minutes", "remove",
                                  ".deltascope/v1/lease/publisher-00000001.json" })
            EXPECT_NE(text.find(part), std::string::npos) << text;
        EXPECT_EQ(text.find("boot"), std::string::npos) << text;
    }
    for (const char* part : { "waiting for nightly (process 4711 on elsewhere) since ", "UTC", "10 minutes" })
        EXPECT_NE(p.task.progress().phase.find(part), std::string::npos) << p.task.progress().phase;
    EXPECT_TRUE(p.keys().empty());
}

TEST(PublisherLeaseWatch, AnotherContainerOfThisMachineIsWatched)
{
    EndedProcess ended; // its number means nothing over there
    ended.reap();
    Watching p;
    p.hold(ended.fields());
    std::string host = forged(p, Json::object())["host"];
    ASSERT_NE(host.find("/pid:["), std::string::npos) << host;
    host.replace(host.rfind('/'), std::string::npos, "/pid:[1]");
    p.lease["host"] = host;
    p.renew();
    p.onLook = [&](int look) { p.monotonic += look == 0 ? 0min : 10min; };
    expectTaken(p);
    EXPECT_EQ(p.told.size(), 1U);
}

TEST(PublisherLeaseWatch, ALifeByTheClockOfThisMachine)
{
    Watching p;
    p.hold();
    p.options.lease.clock = nullptr;
    p.options.lease.life = 60ms;
    expectTaken(p);
    EXPECT_NE(p.told.front().find("0.06 seconds"), std::string::npos) << p.told.front();
}

// --- what dead publishers leave --------------------------------------------------------------------------------------

struct OnDisk : Publishing {
    Result<Publisher> openLocal()
    {
        auto store = openLocalStore(folder.path());
        EXPECT_TRUE(store);
        return Publisher::open(bench, std::move(*store), base, options, task);
    }
    std::vector<std::string> files() const
    {
        std::vector<std::string> names;
        for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
            if (entry.is_regular_file())
                names.push_back(std::filesystem::relative(entry.path(), folder.path()).string());
        }
        std::sort(names.begin(), names.end());
        return names;
    }
    test::TempDir folder;
};

TEST(PublisherLeaseCleaning, OldLeasesGo)
{
    OnDisk p;
    for (int again = 0; again < 3; ++again)
        ASSERT_TRUE(p.openLocal());
    EXPECT_EQ(p.files(), std::vector { leaseKey(3) }); // the number goes on
    EndedProcess ended;
    ended.reap();
    p.folder.write(leaseKey(4), forged(p, ended.fields()).dump());
    p.folder.write(".deltascope/v1/lease/publisher-x.json", "not ours");
    const auto publisher = p.openLocal();
    ASSERT_TRUE(publisher) << publisher.error().text;
    EXPECT_EQ(p.files(), (std::vector<std::string> { leaseKey(5), ".deltascope/v1/lease/publisher-x.json" }));
}

TEST(PublisherLeaseCleaning, TemporariesOfDeadPublishersGo)
{
    EndedProcess ended;
    ended.reap();
    const auto dead = ended.fields()["pid"].get<int>();
    const auto temporary = [](std::string_view folder, std::string_view name, int process,
                              std::string_view random = "0123456789abcdef") {
        return fmt::format("{}.{}.ds-tmp-{}-{}", folder, name, process, random);
    };
    OnDisk p;
    for (const char* at :
         { "", "anchors/", "weight_v000003/", ".deltascope/v1/lease/", ".deltascope/v1/spans/publisher/" })
        p.folder.write(temporary(at, "step_000001.safetensors", dead), "half");
    std::vector<std::string> kept {
        temporary("anchors/", "a", ::getpid()), // somebody lives who may go on with it
        temporary("anchors/", "b", dead, "0123"), // nothing that we name so
        temporary("anchors/", "c", dead, "0123456789abcdef.bak"),
        ".deltascope/v1/lease/notes.ds-tmp-" + std::to_string(dead) + "-0123456789abcdef",
        temporary(".deltascope/v1/replicas/", "r0.json", dead), // others write there, perhaps elsewhere
        temporary(".deltascope/v1/spans/replica/", "00000001.jsonl", dead),
        temporary(".deltascope/v1/spans/pub/", "00000001.jsonl", dead),
    };
    for (const std::string& name : kept)
        p.folder.write(name, "kept");
    const auto publisher = p.openLocal();
    ASSERT_TRUE(publisher) << publisher.error().text;
    kept.push_back(leaseKey(1));
    std::sort(kept.begin(), kept.end());
    EXPECT_EQ(p.files(), kept);
}

TEST(PublisherLeaseCleaning, WhoIsRefusedRemovesNothing)
{
    OnDisk p;
    const auto first = p.openLocal();
    ASSERT_TRUE(first);
    EndedProcess ended;
    ended.reap();
    p.folder.write(fmt::format("anchors/.a.ds-tmp-{}-0123456789abcdef", ended.fields()["pid"].get<int>()), "half");
    const auto before = p.files();
    EXPECT_EQ(errorOf(p.openLocal()).code, Code::Exists);
    EXPECT_EQ(p.files(), before);
}

} // namespace
} // namespace deltascope

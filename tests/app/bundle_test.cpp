#include "monitor_fixture.h"

#include "bundle/bundle.h"
#include "bundle/zip.h"
#include "recorded/bundle_archive.h"
#include "recorded/read_bundle.h"
#include "view/snapshot_changes.h"

#include "deltascope/app/bundle.h"
#include "deltascope/app/view/json.h"

#include <future>

// Bundles as those who open them see their runs: the same as when they were recorded.

namespace deltascope::app {
namespace {

/// A run without what depends on when and how often it was looked at.
nlohmann::json timeless(std::shared_ptr<const RunSnapshot> snapshot)
{
    SnapshotChanges whole;
    whole.advance(std::move(snapshot));
    nlohmann::json run = nlohmann::json::parse(whole.toJson(0, ""));
    for (const char* key : { "rev", "state", "contact_us" })
        run.erase(key);
    for (const char* part : { "run", "heat" }) {
        if (run[part].is_object())
            run[part].erase("rev");
    }
    for (nlohmann::json& step : run["verified"])
        step.erase("t_us");
    return run;
}

class Bundle : public MonitorFixture {
protected:
    using Files = std::map<std::string, std::string>;

    /// Follows a run until it was verified, and exports it.
    std::string exportOf(const SourceRequest& source)
    {
        id = monitor->follow(source, "", false);
        here = runWhen(id, [](const RunSnapshot& run) {
            return run.run && run.run->settled && run.verified.size() >= newestSteps(*run.run).size();
        });
        const std::string path = home.path("run.dscope");
        const auto done = bundle::exportBundle(*service, source, path, [] { return false; });
        EXPECT_TRUE(done) << done.error().text;
        return path;
    }
    /// What the app reads of a bundle.
    static Files filesOf(const std::string& path)
    {
        const auto archive = BundleArchive::open(path);
        EXPECT_TRUE(archive) << archive.error().text;
        Files files;
        for (const char* name :
             { "manifest.json", "snapshot.json", "listing.json", "alerts.jsonl", "counts.jsonl", "annotations.json" })
            files[name] = archive->read(name, UINT32_MAX).value();
        return files;
    }
    std::string write(const Files& files) const
    {
        auto archive = bundle::ZipArchive::create();
        for (const auto& [name, content] : files)
            EXPECT_TRUE(archive->add(name, content));
        return home.write("made.dscope", archive->finish().value());
    }
    static Error refusalOf(const std::string& path)
    {
        const auto opened = OpenedBundle::open(path);
        EXPECT_FALSE(opened);
        return opened ? Error() : opened.error();
    }
    static Result<JobResult> resultOf(OpenedBundle& bundle, const std::function<JobId(Service&)>& start)
    {
        auto promise = std::make_shared<std::promise<Result<JobResult>>>();
        auto future = promise->get_future();
        bundle.monitor().ask(start, [promise](Result<JobResult> result) { promise->set_value(std::move(result)); });
        return future.get();
    }

    std::string id;
    Snapshot here; ///< as it was exported
};

TEST_F(Bundle, HoldsTheRunAsItWas)
{
    for (const char* name : { "trl-v2-gap", "trl-v2-restart", "slime-v2-xor", "trl-v2-bitflip", "hf-single" }) {
        SCOPED_TRACE(name);
        const BucketCopy bucket(name);
        const std::string path = exportOf(bucket.source());
        const auto opened = OpenedBundle::open(path);
        ASSERT_TRUE(opened) << opened.error().text;
        const auto runs = (*opened)->monitor().runs();
        ASSERT_EQ(runs.size(), 1U);
        const RunSnapshot& copy = *runs.front();
        EXPECT_EQ(timeless(here), timeless(runs.front()));
        EXPECT_EQ(copy.state, "recorded");
        EXPECT_EQ((*opened)->monitor().run(copy.id), runs.front());
        EXPECT_EQ((*opened)->about().run, copy.name);
        EXPECT_EQ((*opened)->about().path, path);
        EXPECT_EQ((*opened)->monitor().sourceOf(copy.id)->source, here->source);
        std::filesystem::remove(path);
        monitor->unfollow(id);
    }
}

TEST_F(Bundle, HoldsExactCountsAndListing)
{
    const BucketCopy bucket("trl-v2-gap-in-chain");
    const auto opened = OpenedBundle::open(exportOf(bucket.source()));
    ASSERT_TRUE(opened) << opened.error().text;
    const Snapshot copy = (*opened)->monitor().runs().front();
    ASSERT_TRUE(copy->heat);
    std::size_t known = 0;
    for (std::size_t column = 0; column < copy->heat->columns.size(); ++column) {
        const auto theirs = service->countsOf(*here->heat, column);
        const auto mine = (*opened)->service().countsOf(*copy->heat, column);
        ASSERT_EQ(mine.has_value(), theirs.has_value()) << column;
        if (!theirs)
            continue;
        ++known;
        std::map<std::string, std::uint64_t> counts(mine->begin(), mine->end());
        for (const auto& [tensor, changed] : *theirs) {
            EXPECT_EQ(counts[tensor], changed) << column << ' ' << tensor;
            counts.erase(tensor);
        }
        for (const auto& [tensor, changed] : counts)
            EXPECT_EQ(changed, 0U) << column << ' ' << tensor;
    }
    EXPECT_GT(known, 3U);
    SourceRequest same;
    same.source = copy->source;
    const auto listing = resultOf(**opened, [&](Service& jobs) { return jobs.listObjects(same); });
    ASSERT_TRUE(listing) << listing.error().text;
    std::set<std::string> keys;
    const auto view = std::get<std::shared_ptr<const ListingView>>(*listing);
    for (const ListingEntryView& entry : view->objects)
        keys.insert(entry.object.key);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(bucket.path())) {
        if (!entry.is_regular_file())
            continue;
        ++files;
        EXPECT_TRUE(keys.contains(std::filesystem::relative(entry.path(), bucket.path()))) << entry.path();
    }
    EXPECT_EQ(keys.size(), files);
}

TEST_F(Bundle, HoldsAlerts)
{
    const BucketCopy bucket("trl-v2-truncated");
    const auto opened = OpenedBundle::open(exportOf(bucket.source()));
    ASSERT_TRUE(opened) << opened.error().text;
    const AlertListView there = monitor->alerts().list(id);
    const AlertListView recorded = (*opened)->monitor().alerts().list(here->id);
    ASSERT_FALSE(there.alerts.empty());
    ASSERT_EQ(recorded.alerts.size(), there.alerts.size());
    for (std::size_t i = 0; i < there.alerts.size(); ++i) {
        EXPECT_EQ(recorded.alerts[i].rule, there.alerts[i].rule);
        EXPECT_EQ(recorded.alerts[i].text, there.alerts[i].text);
        EXPECT_EQ(recorded.alerts[i].step, there.alerts[i].step);
    }
    EXPECT_EQ(recorded.rules.size(), there.rules.size());
}

TEST_F(Bundle, HoldsWhatPeopleSaidAndDid)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string run = followed(bucket.source());
    for (const ActRequest& act :
         { ActRequest { "ref", { { "step", std::string("12") }, { "name", std::string("good") } } },
           ActRequest { "note", { { "step", std::string("12") }, { "text", std::string("best eval") } } } })
        ASSERT_EQ(endOf(start(run, act).id).state, "done") << act.kind;
    monitor->unfollow(run);
    const std::string path = exportOf(bucket.source());
    const auto said = [&](OpenedBundle& opened, const std::string& source) {
        SourceRequest request;
        request.source = source;
        return resultOf(opened, [&](Service& jobs) { return jobs.annotations(request); });
    };
    auto opened = OpenedBundle::open(path);
    ASSERT_TRUE(opened) << opened.error().text;
    const auto recorded = said(**opened, here->source);
    ASSERT_TRUE(recorded) << recorded.error().text;
    const auto there = viewOf<AnnotationsView>(service->annotations(bucket.source()));
    const auto& copy = std::get<std::shared_ptr<const AnnotationsView>>(*recorded);
    EXPECT_EQ(toJson(*copy), toJson(*there));
    EXPECT_EQ(copy->refs.size(), 1U);
    EXPECT_EQ(copy->notes.size(), 1U);
    EXPECT_EQ(copy->journal.size(), 2U);
    EXPECT_FALSE(said(**opened, "file:///another"));

    Files files = filesOf(path);
    for (const char* wrong : { "{\"no\": \"such thing\"}", "[[[", "" }) {
        files["annotations.json"] = wrong;
        EXPECT_EQ(refusalOf(write(files)).code, Code::Hostile) << wrong;
    }
    files.erase("annotations.json"); // as older versions wrote bundles
    opened = OpenedBundle::open(write(files));
    ASSERT_TRUE(opened) << opened.error().text;
    const auto none = said(**opened, here->source);
    ASSERT_FALSE(none) << "not known is not the same as nothing";
    EXPECT_NE(none.error().text.find("older version"), std::string::npos);
}

TEST_F(Bundle, RefusesWhatNeedsWeights)
{
    const BucketCopy bucket("trl-v2-gap");
    const auto opened = OpenedBundle::open(exportOf(bucket.source()));
    ASSERT_TRUE(opened) << opened.error().text;
    TensorRequest tensor;
    tensor.version.source.source = here->source;
    for (const std::function<JobId(Service&)>& start : std::vector<std::function<JobId(Service&)>> {
             [&](Service& jobs) { return jobs.elements(tensor, 0, 0, 1, 1); },
             [&](Service& jobs) { return jobs.blocks(tensor, 16); },
             [&](Service& jobs) { return jobs.statistics(tensor); },
             [&](Service& jobs) { return jobs.materialize({}); },
         }) {
        const Result<JobResult> result = resultOf(**opened, start);
        ASSERT_FALSE(result);
        EXPECT_EQ(result.error().code, Code::Unsupported);
        EXPECT_EQ(result.error().text, "a bundle holds no weights");
    }
    const auto plan = (*opened)->monitor().plan(id, MaterializeArgs(), "somebody");
    ASSERT_FALSE(plan);
    EXPECT_EQ(plan.error().text, "a bundle holds no weights");
    EXPECT_NE(plan.error().action.find(here->source), std::string::npos);
    EXPECT_EQ((*opened)->monitor().start("plan", "hash", "me").error().code, Code::Unsupported);
    EXPECT_EQ((*opened)->monitor().alerts().acknowledge("any").error().code, Code::Unsupported);
}

TEST_F(Bundle, DamageIsSaidAndNamesTheFile)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string whole = home.read(std::filesystem::path(exportOf(bucket.source())).filename().string());
    const auto expectHostile = [](const std::string& path) {
        const Error refusal = refusalOf(path);
        EXPECT_EQ(refusal.code, Code::Hostile) << refusal.text;
        EXPECT_EQ(refusal.where, path);
    };
    for (const std::size_t size : { std::size_t { 0 }, std::size_t { 100 }, whole.size() / 2, whole.size() - 10 })
        expectHostile(home.write("cut.dscope", whole.substr(0, size)));
    std::string flipped = whole;
    const std::size_t snapshot = flipped.find("snapshot.json");
    ASSERT_NE(snapshot, std::string::npos);
    flipped[snapshot + 200] ^= 0x10;
    expectHostile(home.write("flipped.dscope", flipped));
    expectHostile(home.write("text.dscope", "no archive at all"));

    const Files sound = filesOf(home.path("run.dscope"));
    ASSERT_TRUE(OpenedBundle::open(write(sound)));
    for (const char* name : { "snapshot.json", "listing.json", "alerts.jsonl", "counts.jsonl" }) {
        SCOPED_TRACE(name);
        Files wrong = sound;
        wrong[name] = "{\"no\": \"such thing\"}\n";
        expectHostile(write(wrong));
        wrong[name] = "[[[";
        expectHostile(write(wrong));
        wrong.erase(name);
        expectHostile(write(wrong));
    }
    Files strange = sound;
    nlohmann::json run = nlohmann::json::parse(strange["snapshot.json"]);
    run["id"] = "../../etc";
    strange["snapshot.json"] = run.dump();
    expectHostile(write(strange));
    EXPECT_EQ(refusalOf(home.path("missing.dscope")).code, Code::NotFound);
    EXPECT_EQ(refusalOf(home.path()).code, Code::NotFound);
}

TEST_F(Bundle, NoFlippedByteIsTakenForTheRun)
{
    const BucketCopy bucket("trl-v2-gap");
    const std::string path = exportOf(bucket.source());
    const std::string whole = home.read("run.dscope");
    const nlohmann::json sound = timeless(readBundle(path).value().snapshot);
    std::size_t refused = 0;
    for (std::size_t at = 0; at < whole.size(); at += 1 + whole.size() / 120) {
        std::string flipped = whole;
        flipped[at] = static_cast<char>(~flipped[at]);
        const auto read = readBundle(home.write("flipped.dscope", flipped));
        if (!read) {
            ++refused;
            continue;
        }
        EXPECT_EQ(timeless(read->snapshot), sound) << at;
    }
    EXPECT_GT(refused, 0U);
}

TEST_F(Bundle, OtherArchivesAndVersionsAreTold)
{
    EXPECT_EQ(refusalOf(write({ { "photo.jpg", "no bundle" } })).code, Code::Layout);
    EXPECT_EQ(refusalOf(write({ { "manifest.json", "{\"name\": \"an extension of a browser\"}" } })).code,
              Code::Layout);
    const BucketCopy bucket("trl-v2-gap");
    Files files = filesOf(exportOf(bucket.source()));
    nlohmann::json manifest = nlohmann::json::parse(files["manifest.json"]);
    manifest["format_version"] = 1;
    files = { { "manifest.json", manifest.dump() }, { "web/index.html", "" } };
    const Error older = refusalOf(write(files));
    EXPECT_EQ(older.code, Code::Unsupported);
    EXPECT_NE(older.text.find("older version"), std::string::npos);
    EXPECT_NE(older.action.find("web/index.html"), std::string::npos);
    manifest["format_version"] = 4;
    manifest["tool_version"] = "9.9.9";
    files["manifest.json"] = manifest.dump();
    const Error newer = refusalOf(write(files));
    EXPECT_EQ(newer.code, Code::Unsupported);
    EXPECT_NE(newer.text.find("version 4"), std::string::npos);
    EXPECT_NE(newer.action.find("9.9.9"), std::string::npos);
}

/// A bundle as it was written before verdicts had the rules of now.
TEST_F(Bundle, VerdictsOfOlderRulesAreNotBelieved)
{
    const BucketCopy bucket("trl-v2-gap");
    Files files = filesOf(exportOf(bucket.source()));
    ASSERT_EQ(makeRunSummary(here).health.state, "sound");
    EXPECT_FALSE(readBundle(home.path("run.dscope")).value().snapshot->oldVerdicts);
    nlohmann::json manifest = nlohmann::json::parse(files["manifest.json"]);
    manifest["format_version"] = 2;
    files["manifest.json"] = manifest.dump();
    nlohmann::json run = nlohmann::json::parse(files["snapshot.json"]);
    for (nlohmann::json& step : run["verified"]) {
        step.erase("problem");
        step["result"] = step["step"] == 15 ? "damaged" : "verified";
    }
    files["snapshot.json"] = run.dump();
    const auto opened = OpenedBundle::open(write(files));
    ASSERT_TRUE(opened) << opened.error().text;
    const Snapshot copy = (*opened)->monitor().runs().front();
    EXPECT_TRUE(copy->oldVerdicts);
    ASSERT_EQ(copy->verified.size(), 1U) << "what was called sound";
    EXPECT_EQ(copy->verified.begin()->second.result, "damaged");
    EXPECT_EQ(makeRunSummary(copy).health.headline, "Step 15 is damaged and cannot be rebuilt");
    EXPECT_EQ(makeRunSummary(copy).health.proven,
              "The verdicts in this bundle were made by older rules: do not rely on them");
    EXPECT_TRUE(makeRunSummary(copy).health.remedy.ends_with("by older rules: do not rely on them"));
    EXPECT_EQ(makeRunSummary(copy).kpi.verifiedTo, std::nullopt);
}

TEST_F(Bundle, NothingUnpacksBeyondItsLimit)
{
    const std::string bomb = write({ { "manifest.json", std::string(5'000'000, ' ') } });
    EXPECT_LT(std::filesystem::file_size(bomb), 50'000U);
    const Error refusal = refusalOf(bomb);
    EXPECT_EQ(refusal.code, Code::Hostile);
    EXPECT_NE(refusal.text.find("1048576"), std::string::npos);
    EXPECT_EQ(refusal.where, bomb);
}

}
} // namespace deltascope::app

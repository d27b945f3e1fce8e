#include "service_fixture.h"

#include "deltascope/base/bytes.h"

#include <map>
#include <numeric>
#include <string>

// The facade as its clients use it: start a job, take events, get a view.

namespace deltascope::app {
namespace {

namespace fs = std::filesystem;

using Json = nlohmann::json;

class ServiceTest : public ServiceFixture {
protected:
    static SourceRequest source(const std::string& bucket) { return goldenSource(bucket); }
    static VersionRequest version(const std::string& bucket, const std::string& version)
    {
        return VersionRequest { source(bucket), version };
    }
    MaterializeRequest rebuild(const std::string& bucket, const std::string& version,
                               const std::string& destination) const
    {
        MaterializeRequest request;
        request.version = ServiceTest::version(bucket, version);
        request.destination = home.path(destination);
        return request;
    }
};

TEST_F(ServiceTest, OpensARunWithAllItsSteps)
{
    const auto run = viewOf<RunView>(service->openRun(source("trl-v2-gap"), Depth::Replayed));
    EXPECT_EQ(run->layout, "trl-v2");
    EXPECT_EQ(run->run, "bucket");
    EXPECT_EQ(run->latest, 15);
    ASSERT_EQ(run->epochs.size(), 1U);
    const Json expected = test::expectedOf("trl-v2-gap");
    ASSERT_EQ(run->epochs[0].steps.size(), expected["steps"].size());
    for (std::size_t i = 0; i < run->epochs[0].steps.size(); ++i) {
        const StepView& step = run->epochs[0].steps[i];
        EXPECT_EQ(step.kind, expected["steps"][i]["kind"].get<std::string>());
        EXPECT_EQ(step.changedElements, expected["steps"][i]["changed_elems"].get<std::uint64_t>());
        EXPECT_EQ(step.totalElements, expected["steps"][i]["total_elems"].get<std::uint64_t>());
        EXPECT_TRUE(step.restorable);
    }
}

TEST_F(ServiceTest, AnAnchorSaysHowMuchItMoved)
{
    const auto run = viewOf<RunView>(service->openRun(source("trl-v2-gap"), Depth::Replayed));
    const StepView& anchor = run->epochs[0].steps[9];
    ASSERT_EQ(anchor.step, 10);
    EXPECT_EQ(anchor.changedElements, 92'352U);
    EXPECT_EQ(anchor.changedVsPrevious, 760U);
    EXPECT_DOUBLE_EQ(anchor.changedFraction.value_or(0), 760.0 / 92'352.0);
    EXPECT_FALSE(run->epochs[0].steps[0].changedVsPrevious);
}

TEST_F(ServiceTest, HeadersAloneLeaveChangedCountsUnknown)
{
    const auto run = viewOf<RunView>(service->openRun(source("trl-v2-gap"), Depth::Headers));
    EXPECT_FALSE(run->epochs[0].steps[1].changedElements);
    EXPECT_EQ(run->epochs[0].steps[1].claimedElements, 1494U);
    EXPECT_EQ(run->epochs[0].steps[0].changedElements, 92'352U);
}

TEST_F(ServiceTest, WhatWasReplayedOnceIsKnownToTheNextService)
{
    viewOf<RunView>(service->openRun(source("trl-v2-gap"), Depth::Replayed));
    startService();
    const auto run = viewOf<RunView>(service->openRun(source("trl-v2-gap"), Depth::Headers));
    EXPECT_EQ(run->epochs[0].steps[1].changedElements, 1494U);
}

TEST_F(ServiceTest, RevisionsGrow)
{
    const auto first = viewOf<RunView>(service->openRun(source("trl-v2-raw"), Depth::Headers));
    const auto second = viewOf<RunView>(service->openRun(source("trl-v2-raw"), Depth::Headers));
    EXPECT_LT(first->revision, second->revision);
}

TEST_F(ServiceTest, AGapIsAnEntryBetweenTheSteps)
{
    const auto run = viewOf<RunView>(service->openRun(source("trl-v2-empty-step"), Depth::Replayed));
    const StepView& entry = run->epochs[0].steps[4];
    EXPECT_EQ(entry.state, "gap");
    EXPECT_EQ(entry.step, 5);
    EXPECT_EQ(entry.lastMissing, 5);
    EXPECT_EQ(run->epochs[0].steps[5].step, 6);
    EXPECT_FALSE(run->epochs[0].steps[5].proven);
}

TEST_F(ServiceTest, WhatAStepOnlyInheritsIsSaidOnce)
{
    const auto run = viewOf<RunView>(service->openRun(source("slime-v2-badchecksum"), Depth::Replayed));
    const auto digests = std::count_if(run->problems.begin(), run->problems.end(),
                                       [](const ProblemView& problem) { return problem.code == "DS-DIGEST"; });
    EXPECT_EQ(digests, 1);
    const StepView& last = run->epochs[0].steps.back();
    EXPECT_FALSE(last.restorable);
    EXPECT_EQ(last.restore.blockedBy, 3);
    EXPECT_FALSE(last.restore.reason.empty());
}

TEST_F(ServiceTest, ASourceThatIsNotThereIsNotFound)
{
    SourceRequest request;
    request.source = home.path("nothing");
    EXPECT_EQ(errorOf(service->openRun(request, Depth::Headers)).code, Code::NotFound);
}

TEST_F(ServiceTest, AFolderWithoutARunHasNoLayout)
{
    SourceRequest request;
    request.source = home.path();
    EXPECT_EQ(errorOf(service->openRun(request, Depth::Headers)).code, Code::Layout);
}

// --- show ------------------------------------------------------------------------------------------------------------

void expectShown(const StepDetailView& detail, std::uint64_t changed)
{
    ASSERT_FALSE(detail.tensors.empty());
    std::uint64_t sum = 0;
    for (const TensorCountView& tensor : detail.tensors) {
        ASSERT_TRUE(tensor.changedElements) << tensor.name;
        EXPECT_LE(*tensor.changedElements, tensor.totalElements);
        sum += *tensor.changedElements;
    }
    EXPECT_EQ(sum, changed);
    EXPECT_EQ(detail.step.changedElements, changed);
}

TEST_F(ServiceTest, AStepIsShownTensorByTensor)
{
    expectShown(*viewOf<StepDetailView>(service->showStep(version("slime-v2-xor", "4"), Depth::Replayed)), 661);
    expectShown(*viewOf<StepDetailView>(service->showStep(version("trl-v2-gap", "12"), Depth::Replayed)), 724);
}

TEST_F(ServiceTest, AStepThatIsKnownAlreadyIsShownTheSame)
{
    for (int i = 0; i < 2; ++i)
        expectShown(*viewOf<StepDetailView>(service->showStep(version("trl-v2-gap", "12"), Depth::Replayed)), 724);
    expectShown(*viewOf<StepDetailView>(service->showStep(version("trl-v2-gap", "12"), Depth::Headers)), 724);
}

TEST_F(ServiceTest, WithoutACatalogAStepIsShownTheSame)
{
    settings.cacheFolder = "/dev/null/cache"; // cannot be made
    startService();
    expectShown(*viewOf<StepDetailView>(service->showStep(version("trl-v2-gap", "12"), Depth::Replayed)), 724);
}

TEST_F(ServiceTest, AnEmptyStepChangesNothingAndSaysSo)
{
    expectShown(*viewOf<StepDetailView>(service->showStep(version("slime-v2-xor", "5"), Depth::Replayed)), 0);
}

TEST_F(ServiceTest, AStepThatCannotBeRebuiltIsShownWithItsReason)
{
    const auto detail =
        viewOf<StepDetailView>(service->showStep(version("slime-v2-gap-in-chain", "5"), Depth::Replayed));
    EXPECT_EQ(detail->step.step, 5);
    EXPECT_FALSE(detail->step.restorable);
    EXPECT_NE(detail->step.restore.reason.find("step 4"), std::string::npos);
}

TEST_F(ServiceTest, AStepThatIsNotThereNamesTheNearest)
{
    const Error error = errorOf(service->showStep(version("trl-v2-gap", "99"), Depth::Headers));
    EXPECT_EQ(error.code, Code::NotFound);
    EXPECT_NE(error.text.find("15"), std::string::npos);
}

// --- the other operations --------------------------------------------------------------------------------------------

TEST_F(ServiceTest, ObjectsAreListedWithTheirSteps)
{
    const auto listing = viewOf<ListingView>(service->listObjects(source("trl-v2-partial-anchor")));
    EXPECT_EQ(listing->layout, "trl-v2");
    ASSERT_EQ(listing->objects.size(), 13U);
    const auto partial = std::find_if(listing->objects.begin(), listing->objects.end(),
                                      [](const ListingEntryView& entry) { return entry.step == 10; });
    ASSERT_NE(partial, listing->objects.end());
    EXPECT_EQ(partial->kind, "partial_anchor");
}

TEST_F(ServiceTest, AFolderThatIsNoRunCanBeListed)
{
    home.write("some/notes.txt", "hello");
    SourceRequest request;
    request.source = home.path("some");
    const auto listing = viewOf<ListingView>(service->listObjects(request));
    EXPECT_EQ(listing->layout, "");
    ASSERT_EQ(listing->objects.size(), 1U);
    EXPECT_FALSE(listing->objects[0].step);
}

TEST_F(ServiceTest, VerificationGivesAWordForEachStep)
{
    const auto report = viewOf<VerifyView>(service->verify({ source("slime-v2-badchecksum"), "", 3 }));
    EXPECT_EQ(report->result, "damaged");
    ASSERT_EQ(report->steps.size(), 5U);
    EXPECT_EQ(report->steps[0].result, "verified");
    EXPECT_EQ(report->steps[2].result, "damaged");
    EXPECT_EQ(report->steps[4].result, "incomplete");
}

TEST_F(ServiceTest, VerificationKeepsToItsRange)
{
    const auto report = viewOf<VerifyView>(service->verify({ source("slime-v2-badchecksum"), "1..2", 3 }));
    EXPECT_EQ(report->result, "verified");
    EXPECT_EQ(report->steps.size(), 2U);
}

TEST_F(ServiceTest, ADigestHasTheHashesOfEveryTensor)
{
    const auto digest = viewOf<DigestView>(service->digest(version("slime-v2-xor", "9"), false));
    const Json truth = test::expectedOf("slime-v2-xor")["steps"][8]["tensors"];
    ASSERT_EQ(digest->tensors.size(), truth.size());
    for (const TensorDigestView& tensor : digest->tensors) {
        EXPECT_EQ(toHex(tensor.xxh3), truth[tensor.name]["xxh3_128"].get<std::string>());
        EXPECT_EQ(toHex(tensor.sha256.value()), truth[tensor.name]["sha256"].get<std::string>());
    }
    EXPECT_EQ(digest->root.size(), 32U);
    EXPECT_EQ(digest->strongRoot.size(), 64U);
}

TEST_F(ServiceTest, ADigestHasTheHashesThatWereAskedFor)
{
    const auto all = viewOf<DigestView>(service->digest(version("slime-v2-xor", "9"), false));
    const auto fast = viewOf<DigestView>(service->digest(version("slime-v2-xor", "9"), false, TensorHashes::Xxh3));
    EXPECT_EQ(fast->root, all->root);
    EXPECT_EQ(fast->strongRoot, all->strongRoot);
    ASSERT_EQ(fast->tensors.size(), all->tensors.size());
    for (std::size_t i = 0; i < all->tensors.size(); ++i) {
        EXPECT_EQ(fast->tensors[i].xxh3, all->tensors[i].xxh3);
        EXPECT_TRUE(all->tensors[i].sha256);
        EXPECT_FALSE(fast->tensors[i].sha256);
    }
}

TEST_F(ServiceTest, OneSafetensorsFileHasADigest)
{
    VersionRequest request;
    request.source.source = test::goldenPath("hf-single/bucket/model.safetensors");
    const auto ofFile = viewOf<DigestView>(service->digest(request, false));
    const auto ofFolder = viewOf<DigestView>(service->digest(version("hf-single", ""), false));
    EXPECT_EQ(ofFile->root, ofFolder->root);
    EXPECT_EQ(ofFile->strongRoot, ofFolder->strongRoot);
}

TEST_F(ServiceTest, ADigestOfALostStepIsRefused)
{
    const Error error = errorOf(service->digest(version("trl-v2-gap-in-chain", "8"), false));
    EXPECT_EQ(error.code, Code::ChainGap);
    EXPECT_EQ(error.step, 7);
}

TEST_F(ServiceTest, ADigestOfALostStepIsMadeOnRequest)
{
    const auto digest = viewOf<DigestView>(service->digest(version("trl-v2-gap-in-chain", "8"), true));
    const Json expected = test::expectedOf("trl-v2-gap-in-chain");
    for (const Json& step : expected["steps"]) {
        if (step["step"] != 8)
            continue;
        ASSERT_EQ(digest->tensors.size(), step["chained_tensors"].size());
        for (const TensorDigestView& tensor : digest->tensors)
            EXPECT_EQ(toHex(tensor.xxh3), step["chained_tensors"][tensor.name]["xxh3_128"].get<std::string>());
    }
}

TEST_F(ServiceTest, AMaterializedStepHasTheRootOfItsDigest)
{
    const auto made = viewOf<MaterializeView>(service->materialize(rebuild("slime-v2-xor", "9", "out")));
    const auto digest = viewOf<DigestView>(service->digest(version("slime-v2-xor", "9"), false));
    EXPECT_EQ(made->root, digest->root);
    EXPECT_EQ(made->step, 9);
    EXPECT_TRUE(fs::exists(home.path("out/model.safetensors.index.json")));
    VersionRequest written;
    written.source.source = home.path("out");
    EXPECT_EQ(viewOf<DigestView>(service->digest(written, false))->root, made->root);
}

TEST_F(ServiceTest, ADestinationMayHaveTheLongestNameThereIs)
{
    viewOf<MaterializeView>(service->materialize(rebuild("trl-v2-raw", "2", std::string(255, 'x'))));
    EXPECT_TRUE(fs::exists(home.path(std::string(255, 'x') + "/model.safetensors")));
}

TEST_F(ServiceTest, ADestinationThatIsThereIsRefused)
{
    fs::create_directory(home.path("out"));
    EXPECT_EQ(errorOf(service->materialize(rebuild("trl-v2-raw", "2", "out"))).code, Code::Exists);
}

TEST_F(ServiceTest, BelowAFolderNoLinkIsFollowed)
{
    fs::create_directories(home.path("out"));
    fs::create_directories(home.path("elsewhere"));
    fs::create_directory_symlink(home.path("elsewhere"), home.path("out/link"));
    MaterializeRequest request = rebuild("trl-v2-raw", "2", "out/link/a");
    request.below = home.path("out");
    EXPECT_EQ(errorOf(service->materialize(request)).code, Code::Auth);
    request.destination = home.path("out/link/new/a");
    EXPECT_EQ(errorOf(service->materialize(request)).code, Code::Auth);
    request.destination = home.path("elsewhere/a");
    EXPECT_EQ(errorOf(service->materialize(request)).code, Code::Usage);
    EXPECT_TRUE(fs::is_empty(home.path("elsewhere")));
    request.destination = home.path("out/new/folder/a");
    viewOf<MaterializeView>(service->materialize(request));
    EXPECT_TRUE(fs::exists(home.path("out/new/folder/a/model.safetensors")));
    request.destination = home.path("out/link/a");
    request.below.clear();
    viewOf<MaterializeView>(service->materialize(request));
    EXPECT_TRUE(fs::exists(home.path("elsewhere/a/model.safetensors"))) << "who chooses folders may use links";
}

TEST_F(ServiceTest, ARebuildAcrossAGapIsMarkedUnproven)
{
    EXPECT_FALSE(viewOf<MaterializeView>(service->materialize(rebuild("trl-v2-empty-step", "7", "out")))->proven);
}

TEST_F(ServiceTest, AVersionAndItsMaterializedCheckpointAreEqual)
{
    viewOf<MaterializeView>(service->materialize(rebuild("trl-v2-gap", "12", "out")));
    VersionRequest written;
    written.source.source = home.path("out");
    const auto diff = viewOf<DiffView>(service->diff(version("trl-v2-gap", "12"), written));
    EXPECT_TRUE(diff->equal);
    EXPECT_EQ(diff->elementsTotal, 92'352U);
}

TEST_F(ServiceTest, TwoStepsOfAChainDifferWhereDeltasTouched)
{
    const auto diff = viewOf<DiffView>(service->diff(version("trl-v2-gap", "11"), version("trl-v2-gap", "12")));
    EXPECT_FALSE(diff->equal);
    EXPECT_EQ(diff->elementsDifferent, 724U);
    EXPECT_EQ(diff->elementsTouched, 724U);
}

TEST_F(ServiceTest, ADiffBackwardsHasTheSameCountAndNoTouched)
{
    const auto diff = viewOf<DiffView>(service->diff(version("trl-v2-gap", "12"), version("trl-v2-gap", "11")));
    EXPECT_EQ(diff->elementsDifferent, 724U);
    EXPECT_FALSE(diff->elementsTouched);
}

TEST_F(ServiceTest, AnAnchorAndTheStepBeforeItDifferAsTheRunSays)
{
    const auto diff = viewOf<DiffView>(service->diff(version("trl-v2-gap", "9"), version("trl-v2-gap", "10")));
    EXPECT_EQ(diff->elementsDifferent, 760U);
}

TEST_F(ServiceTest, TheDoctorFindsASoundMachineAndRun)
{
    const auto report = viewOf<DoctorView>(service->doctor(source("trl-v2-gap")));
    EXPECT_TRUE(report->ok);
    EXPECT_GT(report->checks.size(), 6U);
    for (const CheckView& check : report->checks)
        EXPECT_TRUE(check.ok) << check.name << ": " << check.detail;
}

TEST_F(ServiceTest, TheDoctorSaysInShortWhatIsWrongWithTheVersionsOfARun)
{
    const auto examined = [&](const SourceRequest& request) {
        const auto report = viewOf<DoctorView>(service->doctor(request));
        EXPECT_TRUE(report->ok) << "the machine can read it";
        std::map<std::string, CheckView> checks;
        for (const CheckView& check : report->checks)
            checks[check.name] = check;
        return checks;
    };
    auto sound = examined(BucketCopy("trl-v1.2").source());
    EXPECT_EQ(sound["layout"].detail, "trl-v1.2, 13 versions, 0 problems");
    EXPECT_TRUE(sound["health"].ok);
    const BucketCopy cut("trl-v1.2");
    std::filesystem::resize_file(cut.file("deltas/step_000012.safetensors"), 2000);
    auto damaged = examined(cut.source());
    EXPECT_EQ(damaged["layout"].detail, "trl-v1.2, 13 versions, 3 problems");
    EXPECT_FALSE(damaged["health"].ok);
    EXPECT_EQ(damaged["health"].detail, "Step 12 is damaged: steps 12 and 13 cannot be rebuilt");

    const BucketCopy bucket("trl-v1.2");
    VerifyRequest request;
    request.source = bucket.source();
    viewOf<VerifyView>(service->verify(request));
    const std::string key = "deltas/step_000013.safetensors";
    bucket.damage(key, std::filesystem::file_size(bucket.file(key)) - 1); // of a value
    viewOf<VerifyView>(service->verify(request));
    EXPECT_EQ(examined(bucket.source())["health"].detail,
              "Step 13 is no longer what was first read and cannot be used");
}

TEST_F(ServiceTest, WhatAMirrorHoldsAsItWasIsOfferedInThePlaceOfRewrittenObjects)
{
    const BucketCopy bucket("trl-v1.2");
    const BucketCopy mirror("trl-v1.2");
    VerifyRequest request;
    request.source = bucket.source();
    viewOf<VerifyView>(service->verify(request));
    const std::string key = "deltas/step_000012.safetensors";
    bucket.damage(key, std::filesystem::file_size(bucket.file(key)) - 1); // of a value
    viewOf<VerifyView>(service->verify(request));
    EXPECT_EQ(viewOf<RunView>(service->openRun(request.source, Depth::Headers))->latest, 11);
    request.source.mirrors = { mirror.path() };
    EXPECT_EQ(viewOf<RunView>(service->openRun(request.source, Depth::Headers))->latest, 13);
    const auto run = viewOf<RunView>(service->openRun(request.source, Depth::Replayed));
    EXPECT_EQ(run->latest, 13);
    for (const StepView& step : run->epochs.front().steps) {
        EXPECT_EQ(step.changedFraction.has_value(), step.step > 1 && step.step < 12) << step.step;
        for (const ProblemView& problem : step.problems)
            EXPECT_NE(problem.code, "DS-FORMS-DIFFER") << "the record tells which one is right";
        for (const FormView& form : step.forms) {
            const bool isOfMirror = form.name.find(mirror.path()) != std::string::npos;
            EXPECT_TRUE(step.step != 12 || form.isUsed == isOfMirror) << form.name; // 12 is rewritten here
            EXPECT_EQ(form.restore.reason.empty(), step.step != 12 || isOfMirror) << form.name << form.restore.reason;
        }
    }
    VersionRequest twelfth;
    twelfth.source = request.source;
    twelfth.version = "12";
    MaterializeRequest rebuild;
    rebuild.version = twelfth;
    rebuild.destination = home.path("rebuilt");
    const auto rebuilt = viewOf<MaterializeView>(service->materialize(rebuild));
    for (const ProblemView& notice : rebuilt->reads.notices)
        EXPECT_NE(notice.code, "DS-FORMS-DIFFER") << notice.text;
    const auto mirrored = viewOf<StepDetailView>(service->showStep(twelfth, Depth::Headers));
    for (const FormView& form : mirrored->step.forms)
        EXPECT_EQ(form.isUsed, form.name.find(mirror.path()) != std::string::npos) << form.name;
    twelfth.source.mirrors.clear();
    const auto alone = viewOf<StepDetailView>(service->showStep(twelfth, Depth::Headers));
    ASSERT_EQ(alone->step.forms.size(), 1U);
    for (const FormView& form : alone->step.forms) {
        EXPECT_FALSE(form.isUsed);
        EXPECT_NE(form.restore.reason.find("rewritten"), std::string::npos) << form.restore.reason;
    }
}

TEST_F(ServiceTest, TheDoctorSaysWhatCannotBeOpened)
{
    SourceRequest request;
    request.source = home.path("nothing");
    EXPECT_FALSE(viewOf<DoctorView>(service->doctor(request))->ok);
}

TEST_F(ServiceTest, ADamagedCatalogStopsNothing)
{
    viewOf<RunView>(service->openRun(source("trl-v2-raw"), Depth::Replayed));
    feed.reset();
    service.reset();
    home.write("cache/catalog.sqlite", std::string(8192, 'x'));
    startService();
    EXPECT_EQ(viewOf<RunView>(service->openRun(source("trl-v2-raw"), Depth::Replayed))->latest, 14);
}

// --- watch -----------------------------------------------------------------------------------------------------------

class ServiceWatch : public ServiceTest {
protected:
    ServiceWatch()
    {
        fs::create_directories(home.path("run/anchors"));
        fs::create_directories(home.path("run/deltas"));
        request.source = home.path("run");
    }
    void publish(const std::string& key) const
    {
        fs::copy_file(test::goldenPath("trl-v2-gap/bucket/" + key), home.path("run/" + key));
    }
    /// The next run that the watcher reports.
    std::shared_ptr<const RunView> nextRun(JobId job)
    {
        return next([&](Event& event) -> std::shared_ptr<const RunView> {
            const auto* changed = std::get_if<RunChanged>(&event);
            return changed && changed->job == job ? changed->run : nullptr;
        });
    }
    SourceRequest request;
};

TEST_F(ServiceWatch, ReportsTheRunAndThenEveryNewStep)
{
    publish("anchors/step_000001.safetensors");
    const JobId job = service->watch(request, Depth::Replayed);
    const auto first = nextRun(job);
    ASSERT_TRUE(first);
    EXPECT_EQ(first->latest, 1);
    publish("deltas/step_000002.safetensors");
    auto next = nextRun(job);
    while (next && next->latest == 1) // seen half copied
        next = nextRun(job);
    ASSERT_TRUE(next);
    EXPECT_EQ(next->latest, 2);
    EXPECT_GT(next->revision, first->revision);
    service->cancel(job);
    EXPECT_EQ(errorOf(job).code, Code::Canceled);
}

TEST_F(ServiceWatch, WaitsForASourceWhoseFirstStepIsOnItsWay)
{
    const JobId job = service->watch(request, Depth::Headers);
    publish("anchors/step_000001.safetensors");
    auto run = nextRun(job);
    while (run && run->latest != 1)
        run = nextRun(job);
    ASSERT_TRUE(run);
    service->cancel(job);
    EXPECT_EQ(errorOf(job).code, Code::Canceled);
}

TEST_F(ServiceWatch, OfASourceThatIsNotThereEndsWithTheReason)
{
    request.source = home.path("nothing");
    EXPECT_EQ(errorOf(service->watch(request, Depth::Headers)).code, Code::NotFound);
}

// --- settings --------------------------------------------------------------------------------------------------------

class SettingsTest : public testing::Test {
protected:
    SettingsTest()
    {
        for (const char* name : { "DELTASCOPE_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME", "HOME" }) {
            const char* value = std::getenv(name);
            m_before.emplace_back(name, value ? std::optional<std::string>(value) : std::nullopt);
            ::unsetenv(name);
        }
    }
    ~SettingsTest() override
    {
        for (const auto& [name, value] : m_before)
            value ? ::setenv(name, value->c_str(), 1) : ::unsetenv(name);
    }

private:
    std::vector<std::pair<const char*, std::optional<std::string>>> m_before;
};

TEST_F(SettingsTest, OneFolderHoldsEverythingIfItIsNamed)
{
    ::setenv("DELTASCOPE_HOME", "/home/x/ds", 1);
    ::setenv("XDG_CACHE_HOME", "/elsewhere", 1);
    const Settings settings = Settings::fromEnvironment();
    EXPECT_TRUE(settings.cacheFolder.starts_with("/home/x/ds/")) << settings.cacheFolder;
    EXPECT_TRUE(settings.stateFolder.starts_with("/home/x/ds/")) << settings.stateFolder;
    EXPECT_NE(settings.cacheFolder, settings.stateFolder);
    EXPECT_EQ(settings.configFile, "/home/x/ds/config.toml");
}

TEST_F(SettingsTest, OtherwiseTheFoldersOfTheDesktopStandard)
{
    ::setenv("XDG_CACHE_HOME", "/c", 1);
    ::setenv("HOME", "/home/x", 1);
    const Settings settings = Settings::fromEnvironment();
    EXPECT_EQ(settings.cacheFolder, "/c/deltascope");
    EXPECT_EQ(settings.stateFolder, "/home/x/.local/state/deltascope");
    EXPECT_EQ(settings.configFile, "/home/x/.config/deltascope/config.toml");
}

TEST_F(SettingsTest, ARelativeFolderOfTheStandardIsIgnored)
{
    ::setenv("XDG_CACHE_HOME", "relative", 1);
    ::setenv("HOME", "/home/x", 1);
    EXPECT_EQ(Settings::fromEnvironment().cacheFolder, "/home/x/.cache/deltascope");
}

} // namespace
} // namespace deltascope::app

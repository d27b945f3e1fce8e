#include "epoch_evidence.h"

#include "known_facts.h"
#include "recorded_bytes.h"
#include "stands_on_rewritten.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <string>

namespace deltascope {

namespace {

using Continuity = Records::Continuity;

/// Places where times suggest that a new run begins below: index of the first version behind each.
std::vector<std::size_t> breaksOf(const std::vector<int>& epochs)
{
    std::vector<std::size_t> breaks;
    for (std::size_t i = 1; i < epochs.size(); ++i) {
        if (epochs[i] != epochs[i - 1])
            breaks.push_back(i);
    }
    return breaks;
}

/// Versions behind a break are older: the segment with the highest numbers is epoch 0.
std::vector<int> epochsFrom(std::size_t versions, const std::vector<std::size_t>& breaks)
{
    std::vector<int> epochs(versions, static_cast<int>(breaks.size()));
    for (const std::size_t at : breaks) {
        for (std::size_t i = at; i < versions; ++i)
            --epochs[i];
    }
    return epochs;
}

std::vector<int> epochsByTimes(const std::vector<IndexedObjects>& versions)
{
    std::vector<VersionObjects> objects;
    objects.reserve(versions.size());
    for (const IndexedObjects& version : versions)
        objects.push_back(version.objects);
    return splitEpochs(objects);
}

/// Our own facts: the incarnation of the publisher, or the root of the state that a delta was written against.
std::optional<Continuity> byOwnFacts(const std::vector<IndexedObjects>& versions, std::size_t at)
{
    const auto& before = versions[at - 1].summary;
    const auto& behind = versions[at].summary;
    if (!behind)
        return std::nullopt;
    const bool isOneRun = before && before->run == behind->run; // who rolls a run back may have another one
    if (before && !before->run.empty() && !behind->run.empty() && (isOneRun || !(before->restores || behind->restores)))
        return Continuity { before->run == behind->run,
                            before->run == behind->run ? "both name the same incarnation of their publisher"
                                                       : "they name two incarnations of their publisher" };
    if (behind->baseRoot.empty())
        return std::nullopt;
    for (std::size_t i = at; i-- > 0;) {
        if (versions[i].summary && versions[i].summary->root == behind->baseRoot)
            return Continuity {
                true, fmt::format("it was written against the recorded state of step {}", versions[i].objects.step)
            };
    }
    return std::nullopt;
}

/// Whether a version was written again with the bytes that it had at first sight: its times say nothing then.
Result<bool> wasOnlyTouched(Workbench& bench, const ObjectStore& store, const VersionObjects& version,
                            TaskContext& task)
{
    bool touched = false;
    for (const ObjectInfo& object : version.objects) {
        DS_TRY(const RecordedBytes bytes, compareWithRecord(bench, store, object, task, &touched));
        if (bytes != RecordedBytes::Same)
            return false;
    }
    return touched;
}

/// Of breaks that times suggest, those that they still suggest without the versions whose bytes are those of first
/// sight.
Result<std::vector<std::size_t>> breaksWithoutTouched(Workbench& bench, const ObjectStore& store,
                                                      const std::vector<IndexedObjects>& versions,
                                                      const std::vector<std::size_t>& breaks, TaskContext& task)
{
    if (!bench.records || breaks.empty())
        return breaks;
    std::vector<VersionObjects> told;
    std::vector<std::size_t> places; ///< of each of them, index in `versions`
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const bool inFront = i < breaks.back();
        DS_TRY(const bool touched,
               inFront ? wasOnlyTouched(bench, store, versions[i].objects, task) : Result<bool>(false));
        if (touched)
            continue;
        told.push_back(versions[i].objects);
        places.push_back(i);
    }
    std::vector<std::size_t> left;
    for (const std::size_t at : breaksOf(splitEpochs(told))) {
        // The break lies somewhere between two versions whose times count.
        const auto within = std::find_if(breaks.begin(), breaks.end(), [&](std::size_t suggested) {
            return suggested > places[at - 1] && suggested <= places[at];
        });
        if (within != breaks.end())
            left.push_back(*within);
    }
    return left;
}

/// Whether a tensor moves as no delta in front of it does.
bool isOutOfMeasure(const SuspectTensor& tensor)
{
    return tensor.suspicion == Suspicion::Move || tensor.suspicion == Suspicion::UlpDistance
        || tensor.suspicion == Suspicion::SignFlips;
}

/// What one version behind a break shows when it is replayed on what stands in front of it.
Continuity judgeReplay(const Run& trial, std::size_t at)
{
    const Version& version = trial.versions[at];
    if (!version.facts || version.facts->damage || version.lossy)
        return { false, "nothing can be replayed there" };
    if (const std::optional<std::size_t> restored = restoredVersion(trial, at); restored && !version.obstacle)
        return { true, fmt::format("it restores the state of step {}", trial.versions[*restored].step()) };
    const VersionFacts& facts = *version.facts;
    if (version.kind == VersionKind::Anchor) {
        if (!facts.changedVsPrevious || !driftLimit(trial, at))
            return { false, "no deltas in front tell how far an anchor may be" };
        return { !version.farFromReplay,
                 version.farFromReplay ? "the anchor is too far from the state in front of it"
                                       : "the anchor is as far from the state in front of it as a "
                                         "step of training leads" };
    }
    if (version.obstacle)
        return { false, version.obstacle->text };
    if (facts.digestsChecked > 0 || facts.rootCheck == VersionFacts::RootCheck::Matches)
        return { true, "the state behind it has the digests that its publisher recorded" };
    if (version.kind != VersionKind::Delta || (facts.assigned == 0 && facts.changedElements > 0))
        return { false, "its layout shows nothing of what it was written against" };
    if (version.noopsUnexplained)
        return { false, fmt::format("{} of its {} assignments change nothing", facts.noops, facts.assigned) };
    const auto moved = std::find_if(facts.suspectTensors.begin(), facts.suspectTensors.end(), isOutOfMeasure);
    if (moved != facts.suspectTensors.end())
        return { false, fmt::format("it moves {} further than the deltas in front of it do", moved->name) };
    return { true, fmt::format("{} of its {} assignments change nothing, as usual", facts.noops, facts.assigned) };
}

/// Names both sides of a break: everything in front of it in its epoch, and the first version behind.
std::string questionOf(const std::vector<IndexedObjects>& versions, const std::vector<int>& epochs, std::size_t at,
                       const std::optional<ExternalBase>& base)
{
    std::string text = base ? base->objects.identity() : std::string();
    for (std::size_t i = 0; i <= at; ++i) {
        if (i == at || epochs[i] == epochs[at - 1])
            text += '\n' + versions[i].objects.identity();
    }
    return toHex(xxh3(asBytes(text)));
}

}

Result<std::vector<int>> decideEpochs(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                                      const std::shared_ptr<const Layout>& layout,
                                      const std::optional<ExternalBase>& base,
                                      const std::vector<IndexedObjects>& versions, EpochChoice choice,
                                      TaskContext& task)
{
    if (choice == EpochChoice::One)
        return std::vector<int>(versions.size(), 0);
    std::vector<int> epochs = epochsByTimes(versions);
    const std::vector<std::size_t> suggested = breaksOf(epochs);
    if (choice == EpochChoice::Times || suggested.empty()) {
        splitEpochsByRun(versions, epochs);
        return epochs;
    }

    std::map<std::size_t, Continuity> answers; ///< by break
    std::map<std::size_t, std::string> questions; ///< those that are not on record
    std::vector<std::size_t> open;
    for (const std::size_t at : suggested) {
        if (std::optional<Continuity> own = byOwnFacts(versions, at)) {
            answers[at] = *own;
            continue;
        }
        std::string question = questionOf(versions, epochs, at, base);
        if (bench.records) { // answered anew where they cannot be read
            if (const auto known = bench.records->continuity(store->uri(), question); known && *known) {
                answers[at] = **known;
                continue;
            }
        }
        questions[at] = std::move(question);
        open.push_back(at);
    }

    DS_TRY(const std::vector<std::size_t> left, breaksWithoutTouched(bench, *store, versions, open, task));
    for (const std::size_t at : open) {
        if (std::find(left.begin(), left.end(), at) == left.end())
            answers[at] = { true, "the objects that are newer have the bytes that they had at first sight" };
    }
    const auto standing = [&] {
        std::vector<std::size_t> breaks;
        for (const auto& [at, answer] : answers) {
            if (!answer.continues)
                breaks.push_back(at);
        }
        return breaks;
    };
    if (!left.empty()) { // replayed as if the run went on there
        Run trial = buildLineage(store, layout, base, versions, bench.nowUs(), epochsFrom(versions.size(), standing()));
        addKnownFacts(bench, trial);
        Workbench unheld = withoutRecords(bench);
        for (const std::size_t at : left) {
            const auto behind = std::find_if(trial.versions.begin(), trial.versions.end(), [&](const Version& version) {
                return version.objects.name == versions[at].objects.name;
            });
            const auto index = static_cast<std::size_t>(behind - trial.versions.begin());
            AnalyzeOptions only;
            only.range = { index, index };
            std::optional<Error> skipped;
            only.onSkipped = [&](const Error& error) { skipped = error; };
            DS_CHECK(analyzeRun(unheld, trial, only, task));
            if (skipped) // what was not replayed answers nothing
                return fail(std::move(*skipped));
            answers[at] = judgeReplay(trial, index);
        }
    }
    if (bench.records) {
        for (auto& [at, question] : questions) {
            answers[at].decidedUs = bench.nowUs();
            static_cast<void>(bench.records->addContinuity(store->uri(), question, answers[at])); // else asked again
        }
    }
    epochs = epochsFrom(versions.size(), standing());
    splitEpochsByRun(versions, epochs);
    return epochs;
}

} // namespace deltascope

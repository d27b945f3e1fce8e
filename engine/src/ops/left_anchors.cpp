#include "left_anchors.h"

#include "known_facts.h"
#include "lineage/twice.h"
#include "stands_on_rewritten.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <map>
#include <string>

namespace deltascope {

namespace {

using Continuity = Records::Continuity;

/// As between two epochs (splitEpochs): a smaller difference of times means nothing.
constexpr std::int64_t ToleranceUs = 2'000'000;

/// A complete state that an earlier run may have left beside a delta.
struct LeftAnchor {
    std::size_t version = 0;
    std::size_t form = 0; ///< as in Version: from 1 on
};

/// When the oldest of an epoch's versions was published, by its own objects.
std::map<int, std::int64_t> beginnings(const std::vector<IndexedObjects>& versions, const std::vector<int>& epochs)
{
    std::map<int, std::int64_t> begun;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const std::int64_t at = versions[i].objects.publishedUs();
        const auto [known, isNew] = begun.try_emplace(epochs[i], at);
        known->second = std::min(known->second, at);
    }
    return begun;
}

/// Those that times suggest, ascending by version.
std::vector<LeftAnchor> suggested(const std::vector<IndexedObjects>& versions, const std::vector<int>& epochs)
{
    const std::map<int, std::int64_t> begun = beginnings(versions, epochs);
    std::vector<LeftAnchor> found;
    for (std::size_t i = 0; i < versions.size(); ++i) {
        const IndexedObjects& version = versions[i];
        if (!existsTwice(version.objects) || !version.summary || version.summary->full)
            continue;
        for (std::size_t n = 0; n < version.otherForms.size(); ++n) {
            const VersionObjects& form = version.objects.otherForms[n];
            const std::optional<VersionSummary>& summary = version.otherForms[n].summary;
            const bool sameRun = summary && !summary->run.empty() && summary->run == version.summary->run;
            if (form.mirror.empty() && summary && summary->full && !sameRun
                && form.publishedUs() + ToleranceUs < begun.at(epochs[i]))
                found.push_back({ i, n + 1 });
        }
    }
    return found;
}

/// Names the anchor, the delta beside it, and what stands in front of the two in their epoch.
std::string questionAbout(const std::vector<IndexedObjects>& versions, const std::vector<int>& epochs,
                          const LeftAnchor& left, const std::optional<ExternalBase>& base)
{
    std::string text = "left anchor\n" + (base ? base->objects.identity() : std::string());
    for (std::size_t i = 0; i <= left.version; ++i) {
        if (epochs[i] == epochs[left.version])
            text += '\n' + versions[i].objects.identity();
    }
    return toHex(xxh3(asBytes(text)));
}

/// What a replay has shown of a complete form; nothing while nothing is decided.
std::optional<Continuity> answerOf(const Version& version, std::size_t form)
{
    const FormFacts* facts = version.factsOf(form);
    if (!facts)
        return std::nullopt;
    const bool recordsItself = !version.summaryOf(form)->stateDigest.empty() || !version.summaryOf(form)->root.empty();
    const auto& damage = facts->damage;
    if (damage && (damage->code == Code::Fork || (damage->code == Code::Digest && recordsItself)))
        return Continuity { false, damage->text };
    if (facts->differs && !differsInBits(version.otherForms[form - 1], *facts))
        return Continuity { true, "the deltas lead to the same state" };
    return std::nullopt;
}

/// The epoch of an anchor of this time, which is not of epoch `own`: the oldest one that begins later, or one between
/// `own` and the one before it. Half numbers stand for the latter, so all numbers are doubled.
int doubledEpochOf(std::int64_t publishedUs, int own, const std::map<int, std::int64_t>& begun)
{
    const auto later =
        std::find_if(begun.begin(), begun.end(), [&](const auto& epoch) { return publishedUs < epoch.second; });
    return later != begun.end() && later->first < own ? 2 * later->first : 2 * own - 1;
}

/// Takes a form, and what mirrors hold of it, out of a version and makes a version of it.
IndexedObjects takenOut(IndexedObjects& version, std::size_t form)
{
    const std::string name = version.objects.otherForms[form - 1].name;
    IndexedObjects anchor;
    std::vector<OtherForm> kept;
    std::vector<VersionObjects> keptObjects;
    for (std::size_t n = 0; n < version.otherForms.size(); ++n) {
        VersionObjects& objects = version.objects.otherForms[n];
        OtherForm& own = version.otherForms[n];
        if (n + 1 == form) {
            std::vector<VersionObjects> copies = std::move(anchor.objects.otherForms);
            anchor.objects = std::move(objects);
            anchor.objects.otherForms = std::move(copies);
            anchor.summary = std::move(own.summary);
            anchor.failure = std::move(own.failure);
            continue;
        }
        const bool isCopy = objects.inSource(objects.name) == name;
        (isCopy ? anchor.otherForms : kept).push_back(std::move(own));
        (isCopy ? anchor.objects.otherForms : keptObjects).push_back(std::move(objects));
    }
    version.otherForms = std::move(kept);
    version.objects.otherForms = std::move(keptObjects);
    std::erase_if(version.objects.notes,
                  [&](const Error& note) { return note.code == Code::Fork && note.where == name; });
    anchor.objects.notes.push_back(
        Error { Code::Fork,
                fmt::format("{} is of an earlier run: a later one has published step {} as {}", name,
                            version.objects.step, version.objects.name),
                name,
                version.objects.step,
                {} });
    return anchor;
}

/// Makes the numbers of epochs count from 0 again, in their order.
void renumber(std::vector<int>& epochs)
{
    std::map<int, int> order;
    for (const int epoch : epochs)
        order[epoch] = 0;
    int next = 0;
    for (auto& [epoch, number] : order)
        number = next++;
    for (int& epoch : epochs)
        epoch = order[epoch];
}

/// `left`: ascending by version.
void separate(const std::vector<LeftAnchor>& left, std::vector<IndexedObjects>& versions, std::vector<int>& epochs)
{
    const std::map<int, std::int64_t> begun = beginnings(versions, epochs);
    for (int& epoch : epochs)
        epoch *= 2;
    for (auto at = left.rbegin(); at != left.rend(); ++at) { // from the end, so that places stay
        const auto place = static_cast<std::ptrdiff_t>(at->version);
        IndexedObjects anchor = takenOut(versions[at->version], at->form);
        epochs.insert(epochs.begin() + place,
                      doubledEpochOf(anchor.objects.publishedUs(), epochs[at->version] / 2, begun));
        versions.insert(versions.begin() + place, std::move(anchor));
    }
    renumber(epochs);
}

}

Result<void> separateLeftAnchors(Workbench& bench, const std::shared_ptr<ObjectStore>& store,
                                 const std::shared_ptr<const Layout>& layout, const std::optional<ExternalBase>& base,
                                 std::vector<IndexedObjects>& versions, std::vector<int>& epochs, EpochChoice choice,
                                 TaskContext& task)
{
    if (layout->standAlone() || choice == EpochChoice::One)
        return {};
    std::vector<LeftAnchor> left;
    std::vector<LeftAnchor> open;
    for (const LeftAnchor& anchor : suggested(versions, epochs)) {
        const auto known = bench.records
            ? bench.records->continuity(store->uri(), questionAbout(versions, epochs, anchor, base))
            : std::optional<Continuity>();
        if (!known || !*known) // decided again where the records cannot be read
            open.push_back(anchor);
        else if (!(*known)->continues)
            left.push_back(anchor);
    }
    if (!open.empty()) {
        Run trial = buildLineage(store, layout, base, versions, bench.nowUs(), epochs);
        addKnownFacts(bench, trial);
        Workbench unheld = withoutRecords(bench);
        const auto placeOf = [&](const LeftAnchor& anchor) {
            return std::find_if(trial.versions.begin(), trial.versions.end(), [&](const Version& version) {
                return version.objects.name == versions[anchor.version].objects.name;
            });
        };
        for (const LeftAnchor& anchor : open) {
            const auto version = placeOf(anchor);
            const auto index = static_cast<std::size_t>(version - trial.versions.begin());
            AnalyzeOptions only;
            only.range = { index, index };
            if (!answerOf(*version, anchor.form))
                DS_CHECK(analyzeRun(unheld, trial, only, task));
            std::optional<Continuity> answer = answerOf(*version, anchor.form);
            if (!answer)
                continue;
            if (!answer->continues)
                left.push_back(anchor);
            answer->decidedUs = bench.nowUs();
            if (bench.records) // else asked again
                static_cast<void>(
                    bench.records->addContinuity(store->uri(), questionAbout(versions, epochs, anchor, base), *answer));
        }
    }
    if (left.empty())
        return {};
    std::sort(left.begin(), left.end(), [](const LeftAnchor& a, const LeftAnchor& b) { return a.version < b.version; });
    separate(left, versions, epochs);
    return {};
}

} // namespace deltascope

#include "lineage/claims.h"

#include <array>
#include <fmt/format.h>
#include <optional>

namespace deltascope {

namespace {

/// A kind of digest that a publisher records with a version.
struct RecordedKind {
    bool (*isRecorded)(const VersionSummary& summary);
    std::string_view what;
};
constexpr std::array<RecordedKind, 3> RecordedKinds { {
    { [](const VersionSummary& summary) { return summary.digests != DigestAlgorithm::None; },
      "digests of its tensors" },
    { [](const VersionSummary& summary) { return summary.hasChecksums; }, "checksums of its payload" },
    { [](const VersionSummary& summary) { return !summary.root.empty(); }, "a root of its state" },
} };

bool isComparable(const Version& version) { return version.summary && version.summary->tensors > 0; }

bool areAlike(const Version& a, const Version& b)
{
    return a.epoch == b.epoch && a.kind == b.kind && a.summary->encoding == b.summary->encoding
        && a.summary->run == b.summary->run;
}

/// The next version of the same kind and form, in one direction.
const Version* neighborOf(const Run& run, std::size_t at, std::ptrdiff_t direction)
{
    const Version& version = run.versions[at];
    for (std::ptrdiff_t i = static_cast<std::ptrdiff_t>(at) + direction;
         i >= 0 && i < static_cast<std::ptrdiff_t>(run.versions.size()); i += direction) {
        const Version& other = run.versions[static_cast<std::size_t>(i)];
        if (other.epoch != version.epoch)
            return nullptr;
        if (isComparable(other) && areAlike(version, other))
            return &other;
    }
    return nullptr;
}

}

void assessAbsentDigests(Run& run)
{
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (!isComparable(version))
            continue;
        const Version* before = nullptr;
        const Version* behind = nullptr;
        for (const RecordedKind& kind : RecordedKinds) {
            if (kind.isRecorded(*version.summary))
                continue;
            before = before ? before : neighborOf(run, i, -1);
            if (!before || !kind.isRecorded(*before->summary))
                continue;
            behind = behind ? behind : neighborOf(run, i, 1);
            if (!behind || !kind.isRecorded(*behind->summary))
                continue;
            version.problems.push_back(
                Error { Code::Claim,
                        fmt::format("step {} records no {}, and steps {} and {} do: they were taken away",
                                    version.step(), kind.what, before->step(), behind->step()),
                        version.objects.name,
                        version.step(),
                        {} });
        }
    }
}

bool changesNothing(const Version& version)
{
    const auto& summary = version.summary;
    return version.kind == VersionKind::Delta && summary
        && (summary->tensors == 0 || (summary->countsKnown && summary->storedElements == 0));
}

bool isUnvouchedEmpty(const Run& run, std::size_t at)
{
    const Version& version = run.versions[at];
    const bool isNewest = at + 1 == run.versions.size() || run.versions[at + 1].epoch != version.epoch;
    const bool isVouchedFor = version.facts && version.facts->rootCheck == VersionFacts::RootCheck::Matches;
    return (isNewest || isEmptyFolder(version)) && version.state == VersionState::Noop && !isVouchedFor;
}

bool isEmptyFolder(const Version& version) { return version.objects.objects.empty(); }

void assessEmpty(Run& run)
{
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        Version& version = run.versions[i];
        if (!isUnvouchedEmpty(run, i))
            continue;
        const auto add = [&](Code code, std::string text, std::string action) {
            version.problems.push_back(
                Error { code, std::move(text), version.objects.name, version.step(), std::move(action) });
        };
        if (!isEmptyFolder(version))
            add(Code::Unproven,
                fmt::format("step {} says that nothing changed, and nothing vouches for that until a later one fits",
                            version.step()),
                {});
        else if (!version.obstacle)
            add(Code::Repeated,
                fmt::format(
                    "step {} is an empty folder, which its writer leaves where nothing changed; nothing vouches "
                    "for it that no file was lost",
                    version.step()),
                "Nothing to do if the trainer's log says that this step changed nothing.");
    }
}

void assessLostFiles(Run& run)
{
    for (std::size_t i = 0; i < run.versions.size(); ++i) {
        if (!run.versions[i].lossProven)
            continue;
        const std::int64_t behind = run.versions[i].step();
        for (std::optional<std::size_t> at = run.versions[i].base; at && isEmptyFolder(run.versions[*at]);
             at = run.versions[*at].base) {
            Version& version = run.versions[*at];
            if (version.obstacle)
                break;
            version.obstacle = Error {
                Code::ChainGap,
                fmt::format("step {} is an empty folder, and step {} was not written against the step in front of "
                            "it: its files are lost, or another version is",
                            version.step(), behind),
                version.objects.name, version.step(),
                "Materialize a version before it; materialize --across-gap rebuilds this one all the same."
            };
            version.obstacleAt = *at;
            version.lossProven = true;
            version.problems.insert(version.problems.begin(), *version.obstacle);
        }
    }
}

} // namespace deltascope

#include "deltascope/engine/refs.h"

#include <algorithm>
#include <fmt/format.h>

namespace deltascope {

namespace {

/// Sizes and names stay when a bucket is copied; identities and times do not.
std::string objectsDigest(const VersionObjects& version)
{
    std::string text;
    for (const ObjectInfo& object : version.objects)
        text += fmt::format("{} {}\n", object.sizeBytes, object.key);
    return toHex(xxh3(asBytes(text)));
}

std::string rootOf(const Version& version) { return version.summary ? version.summary->root : std::string(); }

bool isMeant(const Version& version, const RefTarget& target)
{
    const std::string root = rootOf(version);
    return version.step() == target.step && objectsDigest(version.objects) == target.objects
        && (root.empty() || target.root.empty() || root == target.root);
}

} // namespace

RefTarget targetOf(const Version& version)
{
    return RefTarget { version.step(), version.epoch, rootOf(version), objectsDigest(version.objects) };
}

std::string knownWordsText(const Annotations& annotations)
{
    constexpr std::size_t MostNamed = 8;
    std::string known;
    for (std::size_t i = 0; i < std::min(annotations.refs.size(), MostNamed); ++i)
        known += (i > 0 ? ", " : "; it has ") + annotations.refs[i].word();
    return annotations.refs.size() > MostNamed ? known + ", …" : known;
}

Result<const Version*> versionOf(const Run& run, const RefTarget& target, std::string_view word)
{
    const Version* found = nullptr;
    bool hasStep = false;
    for (const Version& version : run.versions) {
        hasStep = hasStep || version.step() == target.step;
        if (isMeant(version, target) && (!found || version.epoch == target.epoch))
            found = &version;
    }
    if (found)
        return found;
    if (hasStep)
        return fail(Error { Code::Rewritten,
                            fmt::format("{} names step {} as it was then, and step {} is another version now", word,
                                        target.step, target.step),
                            run.store->uri(), target.step,
                            "Look at the step, and move the name there if it is what you mean." });
    const bool isGone = std::any_of(run.gone.begin(), run.gone.end(),
                                    [&](const GoneVersion& gone) { return gone.step == target.step; });
    return fail(Error { isGone ? Code::Vanished : Code::NotFound,
                        fmt::format("{} names step {}, which is not here any more", word, target.step),
                        run.store->uri(),
                        target.step,
                        {} });
}

} // namespace deltascope

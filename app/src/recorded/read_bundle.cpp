#include "read_bundle.h"

#include "bundle_archive.h"
#include "json_limits.h"
#include "remote/mirrored_run.h"
#include "remote/read_views.h"
#include "view/alert_description.h"
#include "view/run_description.h"

#include <algorithm>
#include <fmt/format.h>
#include <sstream>

namespace deltascope::app {

namespace {

constexpr unsigned Version = 3; ///< of docs/formats/dscope.md
constexpr unsigned OldVerdicts = 2; ///< the same, with verdicts of weaker rules
constexpr std::uint64_t ManifestLimit = 1ULL << 20;
constexpr std::uint64_t FileLimit = 1ULL << 28;

struct Manifest {
    std::uint64_t version = 0;
    BundleAbout about;
};

Manifest readManifest(const json& from)
{
    Manifest manifest;
    manifest.version = read<std::uint64_t>(from, "format_version");
    manifest.about.toolVersion = read<std::string>(from, "tool_version");
    manifest.about.createdUs = read<std::int64_t>(from, "created_us");
    manifest.about.run = read<std::string>(from, "run");
    manifest.about.leftOut = readList<std::string>(from, "left_out");
    return manifest;
}

bool isId(const std::string& id)
{
    return !id.empty() && std::all_of(id.begin(), id.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_'
            || c == '.';
    });
}

class Reader {
public:
    Reader(BundleArchive archive, std::string path)
        : m_archive(std::move(archive))
        , m_path(std::move(path))
    {
    }

    Result<RecordedRun> read()
    {
        DS_CHECK(takeManifest());
        DS_CHECK(takeSnapshot());
        DS_TRY(const std::string listing, document("listing.json"));
        DS_TRY(ListingView objects, as("listing.json", readJson(listing, readAs<ListingView>)));
        m_out.listing = std::make_shared<const ListingView>(std::move(objects));
        DS_CHECK(takeAnnotations());
        DS_CHECK(
            eachLine("alerts.jsonl", [this](const json& line) { m_out.alerts.push_back(readAs<AlertView>(line)); }));
        DS_CHECK(eachLine("counts.jsonl", [this](const json& line) { takeCounts(line); }));
        return std::move(m_out);
    }

private:
    tl::unexpected<Error> unfit(const char* name) const
    {
        return fail(Code::Hostile, fmt::format("{} in the bundle is not as it should be", name), m_path,
                    "export the bundle again");
    }

    template <class T> Result<T> as(const char* name, Result<T> value) const
    {
        if (!value)
            return unfit(name);
        return value;
    }

    /// The text of one JSON document.
    Result<std::string> document(const char* name) const
    {
        DS_TRY(std::string text, m_archive.read(name, FileLimit));
        if (!keepsJsonLimits(text))
            return unfit(name);
        return text;
    }

    Result<void> takeManifest()
    {
        constexpr const char* Name = "manifest.json";
        const auto foreign = [&] { return fail(Code::Layout, "this is a zip archive, but no bundle", m_path); };
        if (!m_archive.has(Name))
            return foreign();
        DS_TRY(const std::string text, m_archive.read(Name, ManifestLimit));
        if (!keepsJsonLimits(text))
            return foreign();
        Result<Manifest> manifest = readJson(text, readManifest);
        if (!manifest)
            return foreign();
        if (manifest->version > Version)
            return fail(Code::Unsupported,
                        fmt::format("the bundle is of version {}, and this program reads version {}", manifest->version,
                                    Version),
                        m_path, "open it with Deltascope " + manifest->about.toolVersion);
        if (manifest->version < OldVerdicts)
            return fail(Code::Unsupported, "the bundle was written by an older version and opens in a browser alone",
                        m_path, "unpack it and open web/index.html in a browser");
        m_oldVerdicts = manifest->version == OldVerdicts;
        m_out.about = std::move(manifest->about);
        m_out.about.path = m_path;
        return {};
    }

    Result<void> takeSnapshot()
    {
        constexpr const char* Name = "snapshot.json";
        DS_TRY(const std::string text, document(Name));
        DS_TRY(const std::string id,
               as(Name, readJson(text, [](const json& from) { return app::read<std::string>(from, "id"); })));
        MirroredRun run(id);
        if (!isId(id) || !run.apply(text) || !run.snapshot()->run)
            return unfit(Name);
        auto recorded = std::make_shared<RunSnapshot>(*run.snapshot());
        recorded->state = "recorded";
        recorded->oldVerdicts = m_oldVerdicts;
        if (m_oldVerdicts)
            std::erase_if(recorded->verified,
                          [](const auto& verified) { return soundnessOf(verified.second).has_value(); });
        m_out.snapshot = std::move(recorded);
        return {};
    }

    Result<void> takeAnnotations()
    {
        constexpr const char* Name = "annotations.json";
        if (!m_archive.has(Name))
            return {};
        DS_TRY(const std::string text, document(Name));
        DS_TRY(AnnotationsView said, as(Name, readJson(text, readAs<AnnotationsView>)));
        m_out.annotations = std::make_shared<const AnnotationsView>(std::move(said));
        return {};
    }

    void takeCounts(const json& line)
    {
        const std::size_t tensors = m_out.snapshot->heat ? m_out.snapshot->heat->rows.size() : 0;
        auto changed = readList<std::uint64_t>(line, "changed_elems");
        if (changed.size() != tensors)
            throw Unfit { "\"changed_elems\" is not of the tensors" };
        m_out.counts[{ app::read<int>(line, "epoch"), app::read<std::int64_t>(line, "step") }] = std::move(changed);
    }

    template <class Take> Result<void> eachLine(const char* name, Take take)
    {
        DS_TRY(const std::string text, m_archive.read(name, FileLimit));
        std::istringstream lines(text);
        for (std::string line; std::getline(lines, line);) {
            if (!keepsJsonLimits(line))
                return unfit(name);
            const Result<bool> taken = readJson(line, [&](const json& from) {
                take(from);
                return true;
            });
            if (!taken)
                return unfit(name);
        }
        return {};
    }

    BundleArchive m_archive;
    const std::string m_path;
    RecordedRun m_out;
    bool m_oldVerdicts = false;
};

}

Result<RecordedRun> readBundle(const std::string& path)
{
    DS_TRY(BundleArchive archive, BundleArchive::open(path));
    return Reader(std::move(archive), path).read();
}

} // namespace deltascope::app

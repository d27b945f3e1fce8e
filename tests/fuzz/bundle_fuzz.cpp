// A bundle, and what the window makes of the run in it. Input: the archive, or records of its files (records.h), which
// are then packed here, so that no checksum stands in the way. Seeds: tests/fuzz/make_seeds.py.

#include "bundle/zip.h"
#include "patch_checks.h"
#include "records.h"
#include "view/snapshot_changes.h"

#include "deltascope/app/bundle.h"
#include "deltascope/app/view/lineage_view.h"
#include "deltascope/app/view/series_view.h"
#include "deltascope/app/view/timeline_view.h"

#include <sys/mman.h>
#include <unistd.h>

using namespace deltascope;

namespace {

constexpr std::size_t MaxFiles = 8;
constexpr std::int64_t NowUs = 1'787'400'000'000'000;

/// A file that is nowhere on a disk.
class MemoryFile {
public:
    explicit MemoryFile(ByteSpan content)
        : m_file(::memfd_create("bundle", MFD_CLOEXEC))
    {
        require(m_file >= 0);
        require(::write(m_file, content.data(), content.size()) == static_cast<ssize_t>(content.size()));
    }
    ~MemoryFile() { ::close(m_file); }
    MemoryFile(const MemoryFile&) = delete;
    MemoryFile& operator=(const MemoryFile&) = delete;

    std::string path() const { return "/proc/self/fd/" + std::to_string(m_file); }

private:
    int m_file;
};

std::string packed(ByteSpan input)
{
    auto archive = bundle::ZipArchive::create();
    for (const auto& [name, content] : readRecords(input, MaxFiles))
        static_cast<void>(archive->add(name, std::string(asText(content)))); // not every text is a name
    Result<std::string> bytes = archive->finish();
    return bytes ? std::move(*bytes) : std::string();
}

void checkViews(const std::shared_ptr<const app::RunSnapshot>& snapshot)
{
    const app::RunView& run = *snapshot->run;
    app::SnapshotChanges whole;
    whole.advance(snapshot);
    require(!whole.toJson(0, "").empty());
    static_cast<void>(app::makeRunSummary(snapshot));
    static_cast<void>(app::makeReplicaHistory(run, NowUs));
    require(app::makeFeed(run, 100).size() <= 100);
    std::size_t steps = 0;
    for (const app::EpochView& epoch : run.epochs) {
        steps += epoch.steps.size();
        const app::TimelineView timeline = app::makeTimelineView(run, epoch.epoch, INT64_MIN, INT64_MAX);
        const std::vector<std::string> names(app::seriesNames().begin(), app::seriesNames().end());
        static_cast<void>(app::makeSeries(run, timeline, names, { .epoch = epoch.epoch }));
    }
    require(app::makeLineage(snapshot).rows.size() <= steps);
}

void open(ByteSpan archive)
{
    const MemoryFile file(archive);
    const auto opened = app::OpenedBundle::open(file.path());
    if (!opened) {
        const Code code = opened.error().code;
        require(code == Code::Hostile || code == Code::Layout || code == Code::Unsupported);
        return;
    }
    const auto runs = (*opened)->monitor().runs();
    require(runs.size() == 1 && runs[0]->run && runs[0]->state == "recorded");
    checkViews(runs[0]);
}

}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const ByteSpan input = std::as_bytes(std::span(data, size));
    if (asText(input).starts_with("PK"))
        open(input);
    else
        open(asBytes(packed(input)));
    return 0;
}

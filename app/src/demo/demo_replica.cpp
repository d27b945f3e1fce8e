#include "demo/demo_replica.h"

#include <filesystem>
#include <fmt/format.h>
#include <mutex>
#include <thread>

namespace deltascope::app {

namespace {

namespace fs = std::filesystem;

constexpr std::int64_t RefusalUs = 2'000'000; ///< between a refused version and the next one that is tried
constexpr auto Poll = std::chrono::milliseconds(40);
constexpr auto RemotePoll = std::chrono::milliseconds(500);

/// Bytes of an object in one store, on their way into another.
class ObjectPayload final : public Payload {
public:
    ObjectPayload(const ObjectStore& store, ObjectInfo object, TaskContext& task)
        : m_store(store)
        , m_object(std::move(object))
        , m_task(task)
    {
    }
    std::uint64_t sizeBytes() const noexcept override { return m_object.sizeBytes; }
    Result<std::size_t> read(std::uint64_t offset, MutableByteSpan out) const override
    {
        const std::uint64_t left = m_object.sizeBytes - std::min(offset, m_object.sizeBytes);
        const std::size_t bytes = std::min<std::uint64_t>(out.size(), left);
        DS_CHECK(m_store.read(m_object, offset, out.first(bytes), m_task));
        return bytes;
    }

private:
    const ObjectStore& m_store;
    ObjectInfo m_object;
    TaskContext& m_task;
};

std::int64_t stepIn(const std::string& key)
{
    const std::size_t at = key.find("step_");
    return at == std::string::npos
        ? -1
        : parseNumber(std::string_view(key).substr(at + 5, key.find('.', at) - at - 5)).value_or(-1);
}

bool speaksAgainstTheVersion(Code code)
{
    return code == Code::Digest || code == Code::Malformed || code == Code::Hostile || code == Code::BaseMismatch
        || code == Code::ChainGap || code == Code::Truncated;
}

Result<ExternalBase> openCheckpoint(Workbench& bench, const std::string& folder, TaskContext& task)
{
    DS_TRY(std::shared_ptr<ObjectStore> store, openLocalStore(folder));
    OpenOptions plain;
    plain.layout = "hf";
    DS_TRY(const Run run, openRun(bench, std::move(store), plain, task));
    if (run.versions.empty() || !run.versions.front().summary)
        return fail(Code::BaseMissing, "the replica's own checkpoint cannot be read", folder);
    const Version& version = run.versions.front();
    return ExternalBase { run.store, run.layout, version.objects, *version.summary };
}

}

DemoReplica::DemoReplica(std::string id, Workbench bench, Places places, std::uint64_t seed, const TaskContext& stops)
    : m_id(std::move(id))
    , m_bench(std::move(bench))
    , m_places(std::move(places))
    , m_remote(m_places.bucket->traits().keepsReads)
    , m_random(seed)
    , m_spans(m_places.bucket, m_id, &stops)
{
}

void DemoReplica::run(TaskContext& task)
{
    while (!task.stopRequested()) {
        if (m_bench.nowUs() < m_stalledUntilUs) {
            beat("stalled", "hangs in a long generation", task);
            std::this_thread::sleep_for(m_remote ? RemotePoll : Poll);
            continue;
        }
        Result<std::optional<Offer>> offer = nextOffer(task);
        if (!offer || !*offer || m_bench.nowUs() < m_refusedUs + RefusalUs) {
            beat(m_waitsForAnchor ? "digest-mismatch" : "serving", m_trouble, task);
            std::this_thread::sleep_for(m_remote ? RemotePoll : Poll);
            continue;
        }
        const Result<void> outcome = takeOffer(**offer, task);
        if (!outcome && speaksAgainstTheVersion(outcome.error().code)) {
            m_waitsForAnchor = true;
            m_refusedUs = m_bench.nowUs();
            m_trouble = fmt::format("refused step {} ({}), waits for the next anchor", (*offer)->step,
                                    word(outcome.error().code));
        }
    }
    TaskContext last; // the other one is canceled, and writes nothing any more
    beat("stopped", {}, last);
}

Result<std::optional<DemoReplica::Offer>> DemoReplica::nextOffer(TaskContext& task) const
{
    const std::shared_lock lock(m_places.gate);
    const std::int64_t next = m_step + 1;
    if (m_step >= 0 && !m_waitsForAnchor) {
        const std::string delta = fmt::format("deltas/step_{:06}.safetensors", next);
        if (m_places.bucket->stat(delta, task))
            return Offer { delta, next, false };
        const std::string anchor = fmt::format("anchors/step_{:06}.safetensors", next);
        if (m_places.bucket->stat(anchor, task))
            return Offer { anchor, next, true };
    } // else: nothing is newer, or so much is that the next one was pruned
    DS_TRY(const std::vector<ObjectInfo> anchors, listAll(*m_places.bucket, "anchors/", task));
    if (anchors.empty() || stepIn(anchors.back().key) <= m_step)
        return std::nullopt;
    return Offer { anchors.back().key, stepIn(anchors.back().key), true };
}

Result<void> DemoReplica::takeOffer(const Offer& offer, TaskContext& task)
{
    std::error_code ignored;
    fs::remove_all(inOwn("staging"), ignored);
    fs::create_directory(inOwn("staging"), ignored);
    fs::remove_all(inOwn("next"), ignored);
    beat("fetching", {}, task);
    DS_CHECK(fetch(offer, task));
    DS_CHECK(rebuild(offer, task));
    DS_CHECK(swap(offer, task));
    m_step = offer.step;
    m_waitsForAnchor = false;
    m_trouble.clear();
    beat("serving", {}, task);
    return {};
}

Result<void> DemoReplica::fetch(const Offer& offer, TaskContext& task)
{
    const std::shared_lock lock(m_places.gate);
    const std::int64_t started = m_bench.nowUs();
    DS_TRY(const std::unique_ptr<ObjectStore> staging, openLocalStore(inOwn("staging")));
    DS_TRY(ObjectInfo object, m_places.bucket->stat(offer.key, task));
    const std::uint64_t bytes = object.sizeBytes;
    const ObjectPayload source(*m_places.bucket, std::move(object), task);
    DS_TRY([[maybe_unused]] const ObjectInfo copied, staging->put(offer.key, source, PutMode::Replace, task));
    span("fetch", offer.step, started, bytes);
    return {};
}

/// Writes the new state beside the old one and proves it by the publisher's root.
Result<void> DemoReplica::rebuild(const Offer& offer, TaskContext& task)
{
    const std::int64_t started = m_bench.nowUs();
    DS_TRY(std::shared_ptr<ObjectStore> staging, openLocalStore(inOwn("staging")));
    OpenOptions open;
    open.layout = "trl-v2";
    DS_TRY(Run run, openRun(m_bench, std::move(staging), open, task));
    if (run.versions.size() != 1)
        return fail(Code::NotFound, "what was fetched is no version", offer.key);
    Plan plan;
    plan.links = { PlanLink { 0, 0 } };
    if (!offer.anchor) {
        DS_TRY(run.base, openCheckpoint(m_bench, inOwn("current"), task));
        plan.fromExternalBase = true;
    }
    MaterializeOptions options;
    options.destination = inOwn("next");
    DS_TRY(const MaterializeReport report, materialize(m_bench, run, run.versions.front(), plan, options, task));
    span("verify", offer.step, started, report.bytes);
    return {};
}

Result<void> DemoReplica::swap(const Offer& offer, TaskContext& task)
{
    const std::int64_t started = m_bench.nowUs();
    beat("paused", {}, task);
    std::this_thread::sleep_for(std::chrono::milliseconds(80 + m_random() % 221)); // running generations drain
    const std::int64_t drained = m_bench.nowUs();
    std::error_code failed;
    fs::remove_all(inOwn("previous"), failed);
    if (fs::exists(inOwn("current")))
        fs::rename(inOwn("current"), inOwn("previous"), failed);
    if (!failed)
        fs::rename(inOwn("next"), inOwn("current"), failed);
    if (failed)
        return fail(Code::Io, failed.message(), m_places.folder);
    span("apply", offer.step, drained, 0);
    span("pause", offer.step, started, 0);
    return {};
}

void DemoReplica::beat(const std::string& state, const std::string& detail, TaskContext& task)
{
    const std::int64_t now = m_bench.nowUs();
    const std::chrono::microseconds period = m_places.bucket->traits().heartbeatPeriod;
    if (state == m_state && now - m_beatUs < period.count())
        return;
    m_state = state;
    m_beatUs = now;
    Heartbeat heartbeat { m_id, "demo", {}, state, m_step, 0, now, static_cast<double>(period.count()) / 1e6, detail };
    static_cast<void>(putHeartbeat(*m_places.bucket, heartbeat, task)); // a lost one shows itself
}

void DemoReplica::span(const std::string& phase, std::int64_t step, std::int64_t startedUs, std::uint64_t bytes)
{
    m_spans.add(Span { {}, phase, step, 0, startedUs, m_bench.nowUs(), bytes, {} });
}

} // namespace deltascope::app

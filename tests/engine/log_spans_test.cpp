#include "logs/log_spans.h"

#include "support/times.h"

#include <gtest/gtest.h>

#include <fmt/format.h>
#include <optional>

// Lines of one log as spans: which step they belong to, where they lie in time, what is left out.

namespace deltascope {
namespace {

using test::Begin;
using test::Second;

/// A log that is written line by line.
class Log {
public:
    void at(double second, const std::string& text)
    {
        add(fmt::format("{:.3f} - {}", static_cast<double>(Begin / Second) + second, text), {});
    }
    void undated(const std::string& text, std::optional<std::int64_t> seenUs = {}) { add(text, seenUs); }

    const std::vector<Span>& spans() const { return m_spans.spans(); }
    std::uint64_t revision() const { return m_spans.revision(); }

    /// The only span of a phase and step.
    Span only(std::string_view phase, std::int64_t step) const
    {
        std::optional<Span> found;
        for (const Span& span : spans()) {
            if (span.phase == phase && span.step == step) {
                EXPECT_FALSE(found) << phase << " " << step << " twice";
                found = span;
            }
        }
        EXPECT_TRUE(found) << phase << " " << step;
        return found.value_or(Span {});
    }
    bool has(std::string_view phase, std::int64_t step) const
    {
        return std::any_of(spans().begin(), spans().end(),
                           [&](const Span& span) { return span.phase == phase && span.step == step; });
    }

private:
    void add(const std::string& line, std::optional<std::int64_t> seenUs)
    {
        if (const std::optional<LogEvent> event = parseLogLine(line, Begin))
            m_spans.add(*event, seenUs);
    }

    LogSpans m_spans { "trainer" };
};

/// A sync as TRL v2 logs it, begun at `second`.
void syncOfTrlV2(Log& log, double second, int step, double paused)
{
    log.at(second, "Delta: 1000/100000 elements changed (sparsity=99.0000%)");
    log.at(second, "Weight sync: uploading to HF Hub (inference still running)...");
    log.at(second + 8,
           fmt::format("[delta_engine] uploaded u/b/deltas/step_{:06}.safetensors (6.0 MB, 19 params, sparse=True, "
                       "enc=gap_delta, sparsity=0.9900)",
                       step));
    log.at(second + 8, "Weight sync: upload took 8.0s, now pausing vLLM...");
    log.at(second + 8.3, "Weight sync: signaling vLLM to apply... (pause took 0.3s)");
    log.at(second + 8.3 + paused, fmt::format("Weight sync: resuming vLLM... (apply took {:.1f}s)", paused));
    log.at(second + 9.4, fmt::format("Weight sync: done. Total 9.4s (inference paused {:.1f}s)", paused));
}

TEST(LogSpans, ASyncOfTrlHasItsStepAndItsPhases)
{
    Log log;
    log.at(0, "some other line");
    EXPECT_EQ(log.revision(), 0U);
    syncOfTrlV2(log, 10, 7, 1.0);
    const Span pause = log.only("pause", 7);
    EXPECT_EQ(pause.actor, "trainer");
    EXPECT_EQ(pause.lengthUs(), Second);
    EXPECT_EQ(pause.t1Us, Begin + 19'400'000);
    EXPECT_EQ(pause.note, "trl");
    const Span upload = log.only("upload", 7);
    EXPECT_EQ(upload.t0Us, Begin + 10 * Second);
    EXPECT_EQ(upload.bytes, 6'000'000U);
    EXPECT_EQ(upload.note, "trl: 1 % changed");
    EXPECT_EQ(log.only("drain", 7).lengthUs(), 300'000);
    EXPECT_EQ(log.only("apply", 7).lengthUs(), Second);
    EXPECT_EQ(log.only("sync", 7).lengthUs(), 9'400'000);
    EXPECT_EQ(log.spans().size(), 5U);
}

TEST(LogSpans, EachSyncHasItsOwnStep)
{
    Log log;
    for (int step = 1; step <= 20; ++step)
        syncOfTrlV2(log, step * 60, step, 0.5 + step / 10.0);
    for (int step = 1; step <= 20; ++step)
        EXPECT_EQ(log.only("pause", step).lengthUs(), 500'000 + step * 100'000);
}

TEST(LogSpans, NothingIsSaidOfASyncBeforeItEnds)
{
    Log log;
    log.at(0, "Weight sync: uploading delta patch to bucket...");
    log.at(5, "[delta_engine] uploaded u/b/deltas/step_000007.safetensors (6.0 MB, 19 params, sparse=True)");
    EXPECT_TRUE(log.spans().empty());
    log.at(7, "Weight sync: done (bucket, 7.0s)");
    EXPECT_EQ(log.only("sync", 7).bytes, 6'000'000U);
    EXPECT_FALSE(log.has("pause", 7)); // this trainer does not tell it
}

TEST(LogSpans, ASyncThatWasCutOffLendsItsStepToNoOther)
{
    Log log;
    log.at(0, "Weight sync: uploading to HF Hub (inference still running)...");
    log.at(5, "[delta_engine] uploaded u/b/deltas/step_000007.safetensors (6.0 MB, 19 params, sparse=True)");
    log.at(5, "Weight sync: upload took 5.0s, now pausing vLLM...");
    log.at(9, "Weight sync: uploading to HF Hub (inference still running)...");
    log.at(10, "Weight sync: done. Total 1.0s (inference paused 0.5s)");
    EXPECT_TRUE(log.has("upload", 7));
    EXPECT_FALSE(log.has("pause", 7));
    EXPECT_EQ(log.only("pause", -1).lengthUs(), 500'000);
}

TEST(LogSpans, WhereTheTrainerPausesFirstThePauseIsTheRest)
{
    Log log;
    log.at(0, "Weight sync: pausing vLLM...");
    log.at(0.2, "Weight sync: pause took 0.2s, waiting for all ranks...");
    log.at(0.3, "Weight sync: transferring weights... (barrier took 0.1s)");
    log.at(5, "[delta_engine] uploaded delta to u/r/deltas/step_000003.safetensors (20.0 MB)");
    log.at(6, "Weight sync: resuming vLLM... (transfer took 5.7s)");
    log.at(6.2, "Weight sync: done. Total 6.2s");
    const Span pause = log.only("pause", 3);
    EXPECT_EQ(pause.lengthUs(), 6 * Second);
    EXPECT_EQ(pause.note, "trl, derived");
    EXPECT_EQ(log.only("apply", 3).lengthUs(), 5'700'000);
}

TEST(LogSpans, OfSeveralWorkersTheSlowestCounts)
{
    Log log;
    for (const double fetch : { 1.0, 1.4, 1.2 })
        log.at(fetch + 0.5,
               fmt::format("Applied delta (step 7, 19 params, sparsity=0.9900) | download {:.2f}s decode+apply 0.50s",
                           fetch));
    log.at(60, "Applied delta (step 8, 19 params, sparsity=0.9900) | download 0.10s decode+apply 0.10s");
    log.at(60, "Applied delta (step 7, 19 params, sparsity=0.9900) | download 0.10s decode+apply 0.10s"); // a late one
    EXPECT_EQ(log.only("fetch", 7).lengthUs(), 1'400'000);
    EXPECT_EQ(log.only("pause", 7).lengthUs(), 1'900'000);
    EXPECT_EQ(log.only("pause", 7).note, "trl, derived");
    const Span fetch = log.only("fetch", 7);
    const Span apply = log.only("apply", 8);
    EXPECT_EQ(fetch.t1Us, Begin + 1'400'000); // the apply follows it
    EXPECT_EQ(apply.t1Us, Begin + 60 * Second);
}

TEST(LogSpans, ALogOfTrainerAndEngineIsOneSync)
{
    Log log;
    log.at(0, "Weight sync: uploading delta patch to bucket...");
    log.at(1, "INFO: 127.0.0.1:1 - \"POST /pause?mode=keep HTTP/1.1\" 200 OK");
    log.at(3, "Applied delta (step 7, 19 params, sparsity=0.9900) | download 1.20s decode+apply 0.40s");
    log.at(3.5, "INFO: 127.0.0.1:1 - \"POST /resume HTTP/1.1\" 200 OK");
    log.at(4, "Weight sync: done (bucket, 4.0s)");
    EXPECT_EQ(log.only("sync", 7).lengthUs(), 4 * Second); // the step is the worker's word
    EXPECT_EQ(log.only("pause", 7).lengthUs(), 2'500'000); // longer than download and apply
}

TEST(LogSpans, APauseBetweenTwoCallsNeedsPrintedTimes)
{
    Log log;
    const char* pause = "INFO: 127.0.0.1:1 - \"POST /pause HTTP/1.1\" 200 OK";
    const char* resume = "INFO: 127.0.0.1:1 - \"POST /resume HTTP/1.1\" 200 OK";
    log.undated(pause, Begin);
    log.undated(resume, Begin + 2 * Second); // when they were read says nothing of when they were written
    log.at(5, resume);
    log.at(6, pause);
    log.at(6, resume); // below what the time stamps can tell
    EXPECT_TRUE(log.spans().empty());
    log.at(7, pause);
    log.at(9, pause); // the first was never resumed
    log.at(10, resume);
    EXPECT_EQ(log.only("pause", -1).lengthUs(), Second);
}

TEST(LogSpans, SlimeNamesTheStepBeforeTheEnd)
{
    Log log;
    log.at(1, "[disk delta v=12] density=2.31% wire=4.87 GB");
    log.at(2, "Timer update_weights end (elapsed: 44.9s)");
    const Span sync = log.only("sync", 12);
    EXPECT_EQ(sync.lengthUs(), 44'900'000);
    EXPECT_EQ(sync.bytes, 4'870'000'000U);
    EXPECT_FALSE(log.has("pause", 12));
}

TEST(LogSpans, WithoutATimeThereIsOnlyALength)
{
    Log log;
    log.undated("Applied delta (step 7, 19 params, sparsity=0.9900) | download 1.00s decode+apply 0.50s");
    EXPECT_FALSE(log.only("pause", 7).hasPlace());
    EXPECT_EQ(log.only("pause", 7).lengthUs(), 1'500'000);
    log.undated("Applied delta (step 8, 19 params, sparsity=0.9900) | download 1.00s decode+apply 0.50s",
                Begin); // read as it was written
    EXPECT_EQ(log.only("pause", 8).t1Us, Begin);
    log.undated("Weight sync: pause took 0.2s, waiting for all ranks...");
    log.undated("[delta_engine] uploaded delta to u/r/deltas/step_000009.safetensors (20.0 MB)");
    log.undated("Weight sync: done. Total 6.2s");
    EXPECT_FALSE(log.only("pause", 9).hasPlace());
    EXPECT_EQ(log.only("pause", 9).lengthUs(), 6 * Second);
}

TEST(LogSpans, ATrainerThatBeginsAnewDoesNotMixItsSteps)
{
    Log log;
    for (int step = 1; step <= 9; ++step)
        syncOfTrlV2(log, step * 60, step, 1.0);
    for (int step = 1; step <= 9; ++step)
        syncOfTrlV2(log, 3600 + step * 60, step, 0.5);
    const auto pauses = std::count_if(log.spans().begin(), log.spans().end(),
                                      [](const Span& span) { return span.phase == "pause" && span.step == 7; });
    EXPECT_EQ(pauses, 2); // told apart by their times
}

TEST(LogSpans, UndatedStepsOfBeforeARestartAreForgotten)
{
    Log log;
    for (const int step : { 6, 7, 1, 2 })
        log.undated(fmt::format(
            "Applied delta (step {}, 19 params, sparsity=0.9900) | download {}.00s decode+apply 0.50s", step, step));
    EXPECT_FALSE(log.has("pause", 7));
    EXPECT_TRUE(log.has("pause", 2));
}

TEST(LogSpans, TroubleIsANoteAndSaidOnce)
{
    Log log;
    log.at(0, "Weight sync: uploading to HF Hub (inference still running)...");
    log.at(1, "[delta_engine] uploaded u/b/deltas/step_000007.safetensors (6.0 MB, 19 params, sparse=True)");
    log.at(2, "Weight sync: apply failed (HTTP 500), skipping — vLLM will use stale weights");
    const Span note = log.only("note", 7);
    EXPECT_EQ(note.note, "Weight sync: apply failed (HTTP 500), skipping — vLLM will use stale weights");
    EXPECT_EQ(note.t1Us, Begin + 2 * Second);
    log.at(3, "Weight sync: done. Total 3.0s (inference paused 0.5s)");
    for (int i = 0; i < 1000; ++i)
        log.at(4, fmt::format("Skipping delta for layer{}: not in snapshot (missing from anchor)", i));
    EXPECT_TRUE(log.has("note", -1));
    EXPECT_EQ(log.only("note", -1).note, "Skipping delta for layer0: not in snapshot (missing from anchor)");
}

TEST(LogSpans, LogsWithoutEndTakeBoundedMemory)
{
    Log log;
    for (int i = 0; i < 10'000; ++i)
        log.at(i, "Weight sync: upload took 8.1s, now pausing vLLM..."); // of no sync that ends
    EXPECT_TRUE(log.spans().empty());
    for (int step = 0; step < 75'000; ++step)
        log.at(step, fmt::format("Applied delta (step {}, 1 params) | download 0.10s decode+apply 0.10s", step));
    EXPECT_LT(log.spans().size(), 200'000U);
    EXPECT_GE(log.spans().size(), 100'000U);
    EXPECT_EQ(log.spans().back().step, 74'999);
}

} // namespace
} // namespace deltascope

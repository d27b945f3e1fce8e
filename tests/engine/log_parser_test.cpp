#include "logs/log_parser.h"

#include "logs/log_forms.h"
#include "logs/log_time.h"
#include "support/times.h"

#include <gtest/gtest.h>

#include <ctime>
#include <map>
#include <random>

// Each line of docs/formats/framework-logs.md as its framework prints it, look-alikes, and hostile lines.

namespace deltascope {
namespace {

using test::Second;

constexpr std::int64_t NowUs = 1'787'400'000 * Second; // 2026-08-22T10:40:00Z

LogEvent parsed(std::string_view line)
{
    const std::optional<LogEvent> event = parseLogLine(line, NowUs);
    EXPECT_TRUE(event) << line;
    return event.value_or(LogEvent {});
}

/// Seconds by phase.
std::map<std::string, double> secondsOf(const LogEvent& event)
{
    std::map<std::string, double> seconds;
    for (const LogPhase& phase : event.phases)
        seconds[std::string(phase.phase)] = phase.seconds;
    return seconds;
}

using Seconds = std::map<std::string, double>;

/// Microseconds of a local time.
std::int64_t local(int year, int month, int day, int hour, int minute, int second)
{
    std::tm time {};
    time.tm_year = year - 1900;
    time.tm_mon = month - 1;
    time.tm_mday = day;
    time.tm_hour = hour;
    time.tm_min = minute;
    time.tm_sec = second;
    time.tm_isdst = -1;
    return static_cast<std::int64_t>(std::mktime(&time)) * Second;
}

// --- TRL -------------------------------------------------------------------------------------------------------------

TEST(LogParser, ReadsTheTrainerOfTrlV2)
{
    EXPECT_EQ(parsed("Weight sync: uploading to HF Hub (inference still running)...").mark, LogMark::SyncBegan);
    EXPECT_EQ(secondsOf(parsed("Weight sync: upload took 8.1s, now pausing vLLM...")), (Seconds { { "upload", 8.1 } }));
    EXPECT_EQ(secondsOf(parsed("Weight sync: signaling vLLM to apply... (pause took 0.3s)")),
              (Seconds { { "drain", 0.3 } }));
    EXPECT_EQ(secondsOf(parsed("Weight sync: resuming vLLM... (apply took 1.0s)")), (Seconds { { "apply", 1.0 } }));
    const LogEvent done = parsed("Weight sync: done. Total 9.4s (inference paused 1.1s)");
    EXPECT_EQ(done.framework, "trl");
    EXPECT_EQ(done.mark, LogMark::SyncEnded);
    EXPECT_EQ(secondsOf(done), (Seconds { { "sync", 9.4 }, { "pause", 1.1 } }));
    for (const LogPhase& phase : done.phases)
        EXPECT_EQ(phase.secondsAgo, 0) << phase.phase; // the pause lies in the sync, not behind it
}

TEST(LogParser, ReadsTheTrainersOfTrlV1AndMain)
{
    const LogEvent paused = parsed("Weight sync: pause took 0.2s, waiting for all ranks...");
    EXPECT_EQ(paused.unpausedSeconds, 0.2);
    EXPECT_TRUE(paused.phases.empty());
    EXPECT_EQ(secondsOf(parsed("Weight sync: resuming vLLM... (transfer took 3.0s)")), (Seconds { { "apply", 3.0 } }));
    const LogEvent done = parsed("Weight sync: done. Total 3.4s");
    EXPECT_EQ(done.mark, LogMark::SyncEnded);
    EXPECT_EQ(secondsOf(done), (Seconds { { "sync", 3.4 } }));
}

TEST(LogParser, ReadsTheTrainerOfTrlV3)
{
    EXPECT_EQ(parsed("Weight sync: uploading delta patch to bucket...").mark, LogMark::SyncBegan);
    EXPECT_EQ(parsed("Weight sync: uploading delta patch (inference still running)...").mark, LogMark::SyncBegan);
    EXPECT_EQ(secondsOf(parsed("Weight sync: done (bucket, 9.2s)")), (Seconds { { "sync", 9.2 } }));
    EXPECT_EQ(secondsOf(parsed("Weight sync: done (NCCL, 0.7s)")), (Seconds { { "sync", 0.7 } }));
}

TEST(LogParser, ReadsUploadsOfEveryTrl)
{
    const LogEvent v2 =
        parsed("[delta_engine] uploaded user/wordle-deltas/deltas/step_000042.safetensors (27.4 MB, 197 "
               "params, sparse=True, enc=gap_delta, sparsity=0.9938)");
    EXPECT_EQ(v2.step, 42);
    EXPECT_EQ(v2.bytes, 27'400'000U);
    EXPECT_NEAR(v2.changedFraction.value_or(0), 0.0062, 1e-12);
    EXPECT_EQ(parsed("[delta_engine] uploaded user/b/anchors/step_000010.safetensors (1200.0 MB, 310 params, "
                     "sparse=False, sparsity=0.0000)")
                  .step,
              10);
    const LogEvent v1 = parsed("[delta_engine] uploaded delta to user/repo/deltas/step_000007.safetensors (20.5 MB)");
    EXPECT_EQ(v1.step, 7);
    EXPECT_EQ(v1.bytes, 20'500'000U);
    EXPECT_FALSE(v1.changedFraction);
    EXPECT_NEAR(parsed("Delta: 1234567/200000000 elements changed (sparsity=99.3827%)").changedFraction.value_or(0),
                0.006173, 1e-9);
}

TEST(LogParser, ReadsTheWorkersOfTrl)
{
    const LogEvent delta =
        parsed("Applied delta (step 7, 197 params, sparsity=0.9917) | download 1.20s decode+apply 0.40s");
    EXPECT_EQ(delta.step, 7);
    EXPECT_EQ(secondsOf(delta), (Seconds { { "fetch", 1.2 }, { "apply", 0.4 }, { "pause", 1.6 } }));
    ASSERT_EQ(delta.phases.size(), 3U);
    EXPECT_DOUBLE_EQ(delta.phases[0].secondsAgo, 0.4); // the download ended when the apply began
    EXPECT_EQ(delta.phases[1].secondsAgo, 0);
    EXPECT_TRUE(delta.phases[2].derived);
    EXPECT_EQ(secondsOf(parsed("Applied anchor (step 10, 310 params) | download 3.00s load 1.50s")),
              (Seconds { { "fetch", 3 }, { "apply", 1.5 }, { "pause", 4.5 } }));
    const LogEvent v1 = parsed("Applied delta (step 3, 12 params, sparsity=0.9917)");
    EXPECT_EQ(v1.step, 3);
    EXPECT_TRUE(v1.phases.empty());
    // A share below zero is none, and costs nothing else.
    const LogEvent odd =
        parsed("Applied delta (step 7, 197 params, sparsity=-0.0001) | download 1.20s decode+apply 0.40s");
    EXPECT_FALSE(odd.changedFraction);
    EXPECT_EQ(secondsOf(odd)["pause"], 1.6);
}

TEST(LogParser, KeepsTheTextOfTrouble)
{
    const std::string text = "Weight sync: apply failed (HTTP 500), skipping — vLLM will use stale weights";
    EXPECT_EQ(parsed("2026-08-21 12:34:56,789 - trl - WARNING - " + text).note, text);
    for (const char* line : { "Weight sync: bucket apply failed (timed out), skipping; vLLM keeps stale weights",
                              "[weight_sync] /update_weights returned 503, retrying in 2s (attempt 1/5)",
                              "[weight_sync] /update_weights request failed: connection refused",
                              "[weight_sync] POST /update_weights failed: timed out",
                              "[weight_sync] POST /resume failed after 5 attempt(s)",
                              "[weight_sync] POST /pause -> 503, retry in 2s (1/5)",
                              "Skipping delta for model.embed.weight: not in snapshot (missing from anchor)",
                              "Reconstructed weights hash mismatch: expected 0a1b2c...",
                              "[verify_weights_hash] HASH MISMATCH: expected=aa, got=bb | params=3 | sample_dtypes={}",
                              "DELTA-VERIFY sweep: params=310 mismatch_elems=0 offenders=[]",
                              "delta checksum mismatch in sglang loader: got 1, expected 2" })
        EXPECT_EQ(parsed(line).note, line);
    EXPECT_EQ(secondsOf(parsed("[weight_sync] pause HTTP took 0.1s")), (Seconds { { "drain", 0.1 } }));
    EXPECT_EQ(secondsOf(parsed("[weight_sync] resume HTTP took 0.2s")), (Seconds { { "resume", 0.2 } }));
}

// --- the others ------------------------------------------------------------------------------------------------------

TEST(LogParser, ReadsSlime)
{
    const LogEvent delta =
        parsed("[2026-08-21 12:34:56] update_weight.py:271 - [disk delta v=12] density=2.31% wire=4.87 GB");
    EXPECT_EQ(delta.framework, "slime");
    EXPECT_EQ(delta.step, 12);
    EXPECT_EQ(delta.bytes, 4'870'000'000U);
    EXPECT_NEAR(delta.changedFraction.value_or(0), 0.0231, 1e-12);
    const LogEvent end = parsed("[2026-08-21 12:34:56] timer.py:32 - Timer update_weights end (elapsed: 44.9s)");
    EXPECT_EQ(end.mark, LogMark::SyncEnded);
    EXPECT_EQ(secondsOf(end), (Seconds { { "sync", 44.9 } }));
    const LogEvent timings =
        parsed("[disk delta timings v=3] {'perf/update_weights_delta_hf_conversion_time': 1.5, "
               "'perf/update_weights_delta_materialize_time': 5.25, 'perf/update_weights_delta_pause_time': 0.125, "
               "'perf/update_weights_delta_flush_time': 0.25, 'perf/update_weights_delta_reload_time': 2.0, "
               "'perf/update_weights_delta_resume_time': 6.25e-02, 'perf/update_weights_delta_rollout_time': 7.7}");
    EXPECT_EQ(timings.step, 3);
    EXPECT_EQ(secondsOf(timings),
              (Seconds { { "fetch", 5.25 },
                         { "drain", 0.125 },
                         { "flush", 0.25 },
                         { "apply", 2 },
                         { "resume", 0.0625 },
                         { "pause", 2.3125 } }));
}

TEST(LogParser, ReadsSkyRl)
{
    const LogEvent publish = parsed("delta checkpoint publish local: rank=0 version=4 base_version=3 tensors=310 "
                                    "payload_files=2 uncompressed_bytes=64560000000 compressed_bytes=1990000000 "
                                    "compression_ratio=0.030824 publish_s=32.990 xor_s=11.000 upload_s=6.860");
    EXPECT_EQ(publish.step, 4);
    EXPECT_EQ(publish.bytes, 1'990'000'000U);
    EXPECT_EQ(secondsOf(publish), (Seconds { { "upload", 6.86 } }));
    const LogEvent fetch = parsed("delta checkpoint fetch: target_version=4 fetch_s=9.000 apply_s=4.000 reset_s=0.000 "
                                  "total_s=13.001");
    EXPECT_EQ(fetch.step, 4);
    EXPECT_EQ(secondsOf(fetch), (Seconds { { "fetch", 9 }, { "stage", 4 } })); // the engine serves meanwhile
    const LogEvent load = parsed("delta checkpoint receive reload-only: target_version=4 prepare_s=0.010 load_s=8.480 "
                                 "total_s=8.490");
    EXPECT_EQ(secondsOf(load), (Seconds { { "apply", 8.49 }, { "pause", 8.49 } }));
}

TEST(LogParser, ReadsNemoRl)
{
    const LogEvent timing = parsed("REFIT_S3_TIMING total_s=20.2 export_pull_s=3.1 encode_s=99.9 receiver_total_s=7 "
                                   "payloads=482 chunks=482 uploaded_mb=5858.0 pipeline_workers=8");
    EXPECT_EQ(secondsOf(timing), (Seconds { { "upload", 20.2 } }));
    EXPECT_EQ(timing.bytes, 5'858'000'000U);
    EXPECT_EQ(secondsOf(parsed("REFIT_ZMQ_TIMING total_s=24.1 payloads=482")), (Seconds { { "upload", 24.1 } }));
    EXPECT_EQ(secondsOf(parsed("REFIT_RECEIVER_TIMING payloads=4 batches=2 total_s=0.500 payload_total_s=1.250")),
              (Seconds { { "apply", 0.5 } }));
    EXPECT_NEAR(parsed("REFIT_ZMQ_DELTA_CHANGE changed_elements=3 total_elements=100 changed_pct=3")
                    .changedFraction.value_or(0),
                0.03, 1e-12);
    EXPECT_NEAR(parsed("REFIT_S3_DELTA_CHANGE changed_elements=3 total_elements=100 changed_pct=3.5")
                    .changedFraction.value_or(0),
                0.035, 1e-12);
    const LogEvent commit = parsed("REFIT_S3_GLOBAL_COMMIT transfer_id=4f00aa payloads=482 seconds=0.931");
    EXPECT_EQ(commit.mark, LogMark::SyncEnded);
    EXPECT_EQ(secondsOf(commit), (Seconds { { "commit", 0.931 } }));
    EXPECT_EQ(parsed("REFIT_ZMQ_GLOBAL_COMMIT transfer_id=4f00aa payloads=482 seconds=0.931").mark, LogMark::SyncEnded);
}

TEST(LogParser, ReadsGrail)
{
    const LogEvent begin = parsed("Uploading delta checkpoint to grail/checkpoints/checkpoint-6543210/DELTA "
                                  "(prev=6543180, anchor=6543000, sparsity=99.12%, 310 non-zero params)");
    EXPECT_EQ(begin.mark, LogMark::SyncBegan);
    EXPECT_EQ(begin.step, 6'543'210);
    EXPECT_NEAR(begin.changedFraction.value_or(0), 0.0088, 1e-12);
    const LogEvent uploaded =
        parsed("Uploaded delta 12.50 MB in 4.5s (2.8 MB/s) to grail/checkpoints/checkpoint-6543210");
    EXPECT_EQ(uploaded.bytes, 12'500'000U);
    EXPECT_EQ(secondsOf(uploaded), (Seconds { { "upload", 4.5 } }));
    const LogEvent breakdown = parsed("⏱️ Delta upload timing breakdown: load=1.0s, compute=2.0s, compress=3.0s, "
                                      "network=4.5s, cleanup=0.5s (total=11.0s)");
    EXPECT_EQ(secondsOf(breakdown),
              (Seconds { { "load", 1 }, { "diff", 2 }, { "encode", 3 }, { "upload", 4.5 }, { "cleanup", 0.5 } }));
    EXPECT_DOUBLE_EQ(breakdown.phases.front().secondsAgo, 10);
    const LogEvent ready = parsed("✅ Added READY-6543240 marker for checkpoint-6543210");
    EXPECT_EQ(ready.mark, LogMark::SyncEnded);
    EXPECT_EQ(ready.step, 6'543'210);
}

TEST(LogParser, ReadsAstraFlowAndModelExpress)
{
    const LogEvent computed =
        parsed("[Weight sender] Delta computed: v=8 vs v=7, sparsity=0.9750, nonzero=25/1000, delta_size=2.0 MB "
               "(full=40.0 MB, ratio=20.0x), compute_time=1.250s");
    EXPECT_EQ(computed.step, 8);
    EXPECT_EQ(computed.bytes, 2U << 20);
    EXPECT_NEAR(computed.changedFraction.value_or(0), 0.025, 1e-12);
    EXPECT_EQ(secondsOf(computed), (Seconds { { "diff", 1.25 } }));
    const LogEvent loaded =
        parsed("notify_version: loaded default v=8  | lora=False  | pull=1.50s pause=0.25s load=2.00s "
               "resume=0.50s total=4.25s");
    EXPECT_EQ(loaded.step, 8);
    EXPECT_EQ(secondsOf(loaded),
              (Seconds { { "fetch", 1.5 },
                         { "drain", 0.25 },
                         { "apply", 2 },
                         { "resume", 0.5 },
                         { "sync", 4.25 },
                         { "pause", 2.5 } }));
    const LogEvent applied =
        parsed("[RaaSReceiver] Delta applied in-process v=8: parse=0.10s scatter=0.20s write=0.30s rename=0.00s "
               "total=0.60s");
    EXPECT_EQ(applied.step, 8);
    EXPECT_EQ(secondsOf(applied), (Seconds { { "stage", 0.6 } }));
    EXPECT_EQ(secondsOf(parsed("ModelExpress prepare_delta_base: rank=0 tensors=310 duration=2.500s")),
              (Seconds { { "prepare", 2.5 } }));
}

TEST(LogParser, ReadsAccessLogsOfEngines)
{
    EXPECT_EQ(parsed("INFO:     127.0.0.1:45566 - \"POST /pause?mode=keep HTTP/1.1\" 200 OK").mark, LogMark::Paused);
    EXPECT_EQ(parsed("INFO:     127.0.0.1:45566 - \"POST /pause HTTP/1.1\" 200 OK").mark, LogMark::Paused);
    EXPECT_EQ(parsed("INFO:     127.0.0.1:45566 - \"POST /resume HTTP/1.1\" 200 OK").mark, LogMark::Resumed);
    const LogEvent sglang =
        parsed("[2026-08-21 12:34:56] INFO:     127.0.0.1:45566 - \"POST /pause_generation HTTP/1.1\" 200 OK");
    EXPECT_EQ(sglang.framework, "sglang");
    EXPECT_EQ(sglang.mark, LogMark::Paused);
    EXPECT_EQ(sglang.printedUs, local(2026, 8, 21, 12, 34, 56));
    EXPECT_EQ(parsed("INFO: 10.0.0.1:1 - \"POST /continue_generation HTTP/1.1\" 200 OK").mark, LogMark::Resumed);
}

TEST(LogParser, KnowsEveryFormInItsOwnTable)
{
    for (const LogForm& form : logForms()) { // none is hidden behind an earlier one
        std::string line;
        for (std::size_t i = 0; i < form.head.size(); ++i) {
            const std::size_t close = form.head[i] == '{' ? form.head.find('}', i) : i;
            line +=
                form.head[i] == '{' ? (form.head.substr(i, close - i) == "{text" ? "x" : "1") : form.head.substr(i, 1);
            i = close;
        }
        const std::optional<LogEvent> event = parseLogLine(line, NowUs);
        ASSERT_TRUE(event) << line;
        EXPECT_EQ(event->kind, form.head);
    }
}

TEST(LogParser, PassesOverLinesThatOnlyLookAlike)
{
    for (const char* line : { "",
                              "Weight sync",
                              "Weight sync: ",
                              "Weight sync: upload took s, now pausing vLLM...",
                              "Weight sync: upload took -1.0s, now pausing vLLM...",
                              "Weight sync: upload took nans, now pausing vLLM...",
                              "Weight sync: upload took infs, now pausing vLLM...",
                              "Weight sync: upload took 8.1s",
                              "weight sync: done. Total 3s",
                              "Weight sync: done. Total",
                              "Weight sync: done. Total 3.",
                              "Weight sync: done (gloo, 3.0s)",
                              "Reapplied delta (step 7, 197 params, sparsity=0.9)",
                              "Applied delta (step seven, 197 params)",
                              "Applied delta (step -7, 197 params)",
                              "Applied delta (step 7.5, 197 params)",
                              "Applied delta (step 99999999999999999999, 197 params)",
                              "Applied patch (step 7, 197 params)",
                              "[delta_engine] uploaded user/b/deltas/step_x.safetensors (1.0 MB)",
                              "[disk delta v=x] density=2.31% wire=4.87 GB",
                              "[disk delta v=1] density=231% wire=4.87 GB",
                              "REFIT_S3_TIMED total_s=3",
                              "the REFITS_S3_TIMING total_s=3",
                              "Timer update_weights start",
                              "\"GET /pause HTTP/1.1\" 200 OK",
                              "\"POST /pause HTTP/1.1\" 503 Service Unavailable",
                              "\"POST /pauses HTTP/1.1\" 200 OK",
                              "\"POST /is_paused HTTP/1.1\" 200 OK",
                              "\"POST /v1/resume HTTP/1.1\" 200 OK",
                              "Weight sync: upload took 1e300s, now pausing vLLM..." })
        EXPECT_FALSE(parseLogLine(line, NowUs)) << line;
}

// --- times -----------------------------------------------------------------------------------------------------------

TEST(LogTime, ReadsTheUsualPrefixes)
{
    const std::int64_t utc = 1'787'315'696 * Second;
    EXPECT_EQ(findLogTime("2026-08-21T12:34:56Z", NowUs), utc);
    EXPECT_EQ(findLogTime("2026-08-21T12:34:56.789Z", NowUs), utc + 789'000);
    EXPECT_EQ(findLogTime("2026-08-21T12:34:56.123456789Z stdout F x", NowUs), utc + 123'456);
    EXPECT_EQ(findLogTime("2026-08-21T14:34:56+02:00", NowUs), utc);
    EXPECT_EQ(findLogTime("2026-08-21 05:34:56-0700", NowUs), utc);
    EXPECT_EQ(findLogTime("[2026-08-21 12:34:56 +0000] [12] [INFO] x", NowUs), utc);
    const std::int64_t here = local(2026, 8, 21, 12, 34, 56);
    EXPECT_EQ(findLogTime("2026-08-21 12:34:56,789 - trl - INFO - x", NowUs), here + 789'000);
    EXPECT_EQ(findLogTime("2026-08-21 12:34:56.789 | INFO     | skyrl:f:12 - x", NowUs), here + 789'000);
    EXPECT_EQ(findLogTime("[INFO|trainer.py:12] 2026-08-21 12:34:56,789 >> x", NowUs), here + 789'000);
    EXPECT_EQ(findLogTime("[2026-08-21 12:34:56 TP0] x", NowUs), here);
    EXPECT_EQ(findLogTime("2026/08/21 12:34:56 x", NowUs), here);
    EXPECT_EQ(
        findLogTime("\x1b[36m(Worker pid=123, ip=10.0.0.1)\x1b[0m INFO 08-21 12:34:56 [delta_engine.py:99] x", NowUs),
        here);
    EXPECT_EQ(findLogTime("{\"asctime\": \"2026-08-21 12:34:56,789\", \"message\": \"", NowUs), here + 789'000);
    EXPECT_EQ(findLogTime("1787315696.25 x", NowUs), utc + 250'000);
    EXPECT_EQ(findLogTime("[1787315696] x", NowUs), utc);
}

TEST(LogTime, GivesADayWithoutAYearTheLastOneThatWas)
{
    const std::int64_t newYear = local(2027, 1, 1, 0, 5, 0);
    EXPECT_EQ(findLogTime("INFO 12-31 23:59:00 x", newYear), local(2026, 12, 31, 23, 59, 0));
    EXPECT_EQ(findLogTime("INFO 01-01 00:04:00 x", newYear), local(2027, 1, 1, 0, 4, 0));
    EXPECT_EQ(findLogTime("INFO 02-29 00:04:00 x", local(2024, 3, 1, 0, 0, 0)), local(2024, 2, 29, 0, 4, 0));
    EXPECT_FALSE(findLogTime("INFO 02-29 00:04:00 x", local(2026, 8, 1, 0, 0, 0)));
}

TEST(LogTime, FindsNoneWhereNoneIs)
{
    for (const char* text :
         { "", "2026-08-21", "12:34:56", "2026-13-21 12:34:56", "2026-02-30 12:34:56", "2026-08-21 24:34:56",
           "1999-08-21 12:34:56", "12026-08-21 12:34:56", "2026-08-21 12:34", "pid=1787315696123", "v1787315696",
           "0000000001", "1787315696abc", "99-99 12:34:56", "1.787315696" })
        EXPECT_FALSE(findLogTime(text, NowUs)) << text;
}

TEST(LogTime, LooksOnlyBeforeTheText)
{
    EXPECT_FALSE(parsed("Weight sync: done. Total 3.4s 2026-08-21 12:34:56").printedUs);
    EXPECT_EQ(parsed("2026-08-21 12:34:56,500 Weight sync: done. Total 3.4s 2027-08-21 12:34:56").printedUs,
              local(2026, 8, 21, 12, 34, 56) + 500'000);
}

// --- hostile lines ---------------------------------------------------------------------------------------------------

TEST(LogParser, CutsLinesThatAreTooLong)
{
    const std::string text = "Weight sync: done. Total 3.4s";
    EXPECT_TRUE(parseLogLine(std::string(MostLogLineBytes - text.size() - 1, ' ') + " " + text, NowUs));
    EXPECT_FALSE(parseLogLine(std::string(MostLogLineBytes, ' ') + text, NowUs));
}

TEST(LogParser, LooksThroughColors)
{
    const std::string colored = "\x1b[32m2026-08-21 12:34:56.000\x1b[0m | \x1b[1mINFO    \x1b[0m | "
                                "\x1b[1mdelta checkpoint fetch: target_version=\x1b[33;1m4\x1b[0m fetch_s=9.000 "
                                "apply_s=4.000\x1b[0m";
    EXPECT_EQ(parsed(colored).step, 4);
    EXPECT_EQ(parsed(colored).printedUs, local(2026, 8, 21, 12, 34, 56));
    EXPECT_EQ(parsed("\x1b[31mWeight sync: apply failed (x\x1b[0m\x1b[").note, "Weight sync: apply failed (x");
    EXPECT_FALSE(parseLogLine("\x1b[\x1b[1\x1b[0\x1b", NowUs));
}

TEST(LogParser, ToleratesAnyBytes)
{
    const std::string bytes("\x00\xff\xfe\xc3(", 5);
    EXPECT_EQ(secondsOf(parsed(bytes + "Weight sync: done. Total 3.4s" + bytes)), (Seconds { { "sync", 3.4 } }));
    EXPECT_EQ(parsed("Weight sync: apply failed (" + bytes).note, "Weight sync: apply failed (" + bytes);
    EXPECT_LE(parsed("Weight sync: apply failed (" + std::string(9000, '{')).note.size(), 240U);
}

TEST(LogParser, SurvivesRepeatedAndTornForms)
{
    std::mt19937 random(7);
    for (const LogForm& form : logForms()) {
        std::string line;
        const std::string piece(form.head.substr(0, form.head.find('{')));
        while (line.size() < MostLogLineBytes)
            line += piece;
        parseLogLine(line, NowUs);
        for (std::size_t end = 0; end <= form.head.size(); ++end)
            parseLogLine(std::string(form.head.substr(0, end)) + static_cast<char>(random()), NowUs);
    }
}

} // namespace
} // namespace deltascope

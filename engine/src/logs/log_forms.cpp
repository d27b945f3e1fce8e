#include "logs/log_forms.h"

// Sources of every line: docs/formats/framework-logs.md.

namespace deltascope {

namespace {

constexpr LogForm trouble(std::string_view framework, std::string_view head)
{
    return { framework, LogMark::None, head, {}, {}, true };
}

constexpr LogForm Forms[] = {
    // TRL, trainer
    { "trl", LogMark::SyncBegan, "Weight sync: uploading " },
    { "trl", LogMark::None, "Weight sync: upload took {upload}s, now pausing vLLM" },
    { "trl", LogMark::None, "Weight sync: signaling vLLM to apply... (pause took {drain}s)" },
    { "trl", LogMark::None, "Weight sync: resuming vLLM... (apply took {apply}s)" },
    { "trl", LogMark::SyncEnded, "Weight sync: done. Total {sync}s (inference paused {pause}s)" },
    { "trl", LogMark::None, "Weight sync: pause took {unpaused}s, waiting for all ranks" },
    { "trl", LogMark::None, "Weight sync: resuming vLLM... (transfer took {apply}s)" },
    { "trl", LogMark::SyncEnded, "Weight sync: done. Total {sync}s" },
    { "trl", LogMark::SyncEnded, "Weight sync: done (bucket, {sync}s)" },
    { "trl", LogMark::SyncEnded, "Weight sync: done (NCCL, {sync}s)" },
    { "trl", LogMark::None, "[delta_engine] uploaded {text}/step_{step}.safetensors ({MB} MB",
      ", sparsity={sparsity})" },
    { "trl", LogMark::None, "Delta: {n}/{n} elements changed (sparsity={sparsity%}%)" },
    { "trl", LogMark::None, "[weight_sync] pause HTTP took {drain}s" },
    { "trl", LogMark::None, "[weight_sync] resume HTTP took {resume}s" },
    trouble("trl", "Weight sync: apply failed ("),
    trouble("trl", "Weight sync: bucket apply failed ("),
    trouble("trl", "[weight_sync] /update_weights returned "),
    trouble("trl", "[weight_sync] /update_weights request failed: "),
    trouble("trl", "[weight_sync] POST {text} failed"),
    trouble("trl", "[weight_sync] POST {text}, retry in "),
    // TRL, worker of vLLM
    { "trl", LogMark::None, "Applied anchor (step {step}, {n} params", "download {fetch}s|load {apply}s", "fetch" },
    { "trl", LogMark::None, "Applied delta (step {step}, {n} params",
      "sparsity={sparsity})|download {fetch}s|decode+apply {apply}s", "fetch" },
    trouble("trl", "Skipping delta for {text}: not in snapshot"),

    // slime and Miles
    { "slime", LogMark::None, "[disk delta v={step}] density={changed%}% wire={GB} GB" },
    { "slime", LogMark::None, "[disk delta timings v={step}] ",
      "'perf/update_weights_delta_materialize_time': {fetch}|'perf/update_weights_delta_pause_time': {drain}|"
      "'perf/update_weights_delta_flush_time': {flush}|'perf/update_weights_delta_reload_time': {apply}|"
      "'perf/update_weights_delta_resume_time': {resume}",
      "flush" },
    { "slime", LogMark::SyncEnded, "Timer update_weights end (elapsed: {sync}s)" },

    // SkyRL
    { "skyrl", LogMark::None, "delta checkpoint publish local: rank={n} version={step} ",
      " compressed_bytes={bytes}| upload_s={upload}" },
    { "skyrl", LogMark::None, "delta checkpoint fetch: target_version={step} fetch_s={fetch} apply_s={stage}" },
    { "skyrl", LogMark::None, "delta checkpoint receive reload-only: target_version={step} ", "total_s={apply}",
      "apply" },

    // NeMo-RL
    { "nemo-rl", LogMark::None, "REFIT_S3_TIMING", " total_s={upload}| uploaded_mb={MB}" },
    { "nemo-rl", LogMark::None, "REFIT_ZMQ_TIMING", " total_s={upload}" },
    { "nemo-rl", LogMark::None, "REFIT_RECEIVER_TIMING payloads={n} ", " total_s={apply}" },
    { "nemo-rl", LogMark::None, "REFIT_S3_DELTA_CHANGE changed_elements={n} ", "changed_pct={changed%}" },
    { "nemo-rl", LogMark::None, "REFIT_ZMQ_DELTA_CHANGE changed_elements={n} ", "changed_pct={changed%}" },
    { "nemo-rl", LogMark::SyncEnded, "REFIT_S3_GLOBAL_COMMIT transfer_id={text} payloads={n} seconds={commit}" },
    { "nemo-rl", LogMark::SyncEnded, "REFIT_ZMQ_GLOBAL_COMMIT transfer_id={text} payloads={n} seconds={commit}" },

    // grail
    { "grail", LogMark::SyncBegan, "Uploading delta checkpoint to {text}checkpoint-{step}", ", sparsity={sparsity%}%" },
    { "grail", LogMark::None, "Uploaded delta {MB} MB in {upload}s (" },
    { "grail", LogMark::None,
      "Delta upload timing breakdown: load={load}s, compute={diff}s, compress={encode}s, network={upload}s, "
      "cleanup={cleanup}s" },
    { "grail", LogMark::SyncEnded, "Added READY-{n} marker for checkpoint-{step}" },
    trouble("grail", "Reconstructed weights hash mismatch: "),
    trouble("grail", "[verify_weights_hash] HASH MISMATCH: "),

    // AstraFlow
    { "astraflow", LogMark::None, "[Weight sender] Delta computed: v={step} vs v={n}",
      " sparsity={sparsity}| delta_size={MiB} MB| compute_time={diff}s" },
    { "astraflow", LogMark::None, "notify_version: loaded {text} v={step} ",
      " pull={fetch}s| pause={drain}s| load={apply}s| resume={resume}s| total={sync}s", "apply" },
    { "astraflow", LogMark::None, "[RaaSReceiver] Delta applied in-process v={step}: ", " total={stage}s" },

    // ModelExpress
    { "modelexpress", LogMark::SyncEnded, "ModelExpress prepare_delta_base: rank={n} tensors={n} duration={prepare}s" },

    // verl
    trouble("verl", "DELTA-VERIFY sweep: params="),
    trouble("verl", "delta checksum mismatch in sglang loader: "),

    // Access logs of the engines: a line is written when the call has been answered.
    { "vllm", LogMark::Paused, "\"POST /pause HTTP/{n}\" 200" },
    { "vllm", LogMark::Paused, "\"POST /pause?{text} HTTP/{n}\" 200" },
    { "vllm", LogMark::Resumed, "\"POST /resume HTTP/{n}\" 200" },
    { "sglang", LogMark::Paused, "\"POST /pause_generation HTTP/{n}\" 200" },
    { "sglang", LogMark::Resumed, "\"POST /continue_generation HTTP/{n}\" 200" },
};

}

std::span<const LogForm> logForms() { return Forms; }

} // namespace deltascope

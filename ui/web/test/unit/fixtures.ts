import type { ActInfo, Alert, LineageRow, Plan, Ref, Replica, RunDetail, RunSummary, Step, Task } from '../../src/api/types';

// Values of the contract for tests; each test names what it is about.

export function runSummary(over: Partial<RunSummary> = {}): RunSummary {
  return {
    id: 'wordle', source: 'file:///wordle', layout: 'trl-v1', name: 'wordle', base: null, rev: 1, state: 'live', opening: null, error: null,
    contact_us: 0, steps: 3, anchors: 1, deltas: 2, epochs: 1, gaps: 0, wire_bytes: 10, alerts_firing: 0, worst_alert: null,
    attention: 0, spark: [], demo: false,
    kpi: {
      latest: 2, latest_epoch: 0, newest: 2, latest_at_us: 0, interval_s: 10, chain_anchor: 0, chain_deltas: 2, changed_frac: null,
      changed_frac_median: null, delta_bytes: null, full_bytes: null, ratio: null, pause_ms: null, pause_p50_ms: null,
      pause_p95_ms: null, paused_frac: null, replicas: 0, replicas_in_sync: 0, worst_replica: null, worst_lag: null,
      verified_to: null, verified_level: null, verified_result: null,
    },
    health: { state: 'sound', headline: '', proven: '', restorable: '', remedy: '', step: null, restore: 2, problem: null },
    ...over,
  };
}

export function runDetail(over: Partial<RunDetail> = {}): RunDetail {
  return {
    ...runSummary(), first_step: 0, last_step: 2, ignored_objects: 0, store_meter: null, listed_us: null, noop_rate: null, problems: [], events: [], drift: [],
    notes: [], refs: [], replicas: [], feed: [], ...over,
  };
}

export function replica(over: Partial<Replica> = {}): Replica {
  return {
    id: 'r0', engine: 'sglang', state: 'serving', step: 2, behind: 0, lag_s: 0, age_s: 1, late: false, lagging: false, foreign: false, doubt: null, detail: '',
    last_pause_ms: null, paused_frac: null, lag_history: [], ...over,
  };
}

export function task(over: Partial<Task> = {}): Task {
  return {
    id: 't1', kind: 'verify', title: 'Verify', run: 'wordle', state: 'running', phase: 'replay', done: 0, total: 0, rate: 0,
    eta_s: null, elapsed_s: 0, started_us: 0, by: 'local', cli: '', plan_hash: '', undo: null, destination: null, resumable: false, interrupted: false, accept_rewritten: null, problem: null, not_kept: null, result: null, ...over,
  };
}

export function alert(over: Partial<Alert> = {}): Alert {
  return {
    id: 'a1', rule: 'replica-lag', level: 'warn', run: 'wordle', step: null, replica: null, value: null, threshold: null,
    title: '', text: '', remedy: '',
    first_us: 0, last_us: 0, cleared_us: null, count: 1, state: 'firing', snoozed: null, ...over,
  };
}

export function step(over: Partial<Step> = {}): Step {
  return {
    epoch: 0, step: 0, kind: 'delta', state: 'complete', name: '', base_step: null, changed_elems: null, changed_vs_prev_elems: null,
    total_elems: null, changed_frac: null, claimed_elems: null, wire_bytes: 0, published_at: 0, pause_ms: null, spans_from: null,
    restorable: true, proven: true, restore: { deltas: 0, bytes: 0, blocked_by: null, reason: null }, objects: [], forms: [], problems: [],
    verified: null, ...over,
  };
}

export function plan(over: Partial<Plan> = {}): Plan {
  return {
    id: 'p1', hash: 'h', kind: 'rollback', run: 'wordle', state: 'ready', phase: '', done: 0, total: 0, problem: null, title: 'Roll back wordle to step 12',
    cli: '', facts: [], steps: [], read_bytes: 0, write_bytes: 0, free_bytes: null, destination: null, warnings: [], act: null, changes: [],
    confirm: 'wordle', undo: 'undo', requires: ['act'], ...over,
  };
}

export function ref(over: Partial<Ref> = {}): Ref {
  return { word: 'good', pin: false, step: 2, epoch: 0, here: true, by: 'kim', why: null, t_us: 0, local: false, problem: null, ...over };
}

export function lineageRow(over: Partial<LineageRow> = {}): LineageRow {
  return {
    epoch: 0, step: 2, kind: 'delta', state: 'complete', lane: 0, base: null, chain: 0, published_at: 0, last_step: null, wire_bytes: 0, changed_frac: null,
    restorable: true, proven: true, verified: null, restore: null, forms: [], problem: null, refs: [], surviving: true, ...over,
  };
}

export function actInfo(kind: string, over: Partial<ActInfo> = {}): ActInfo {
  return {
    kind, title: kind, fields: [{ name: 'step', type: 'step', label: 'Step', help: '', standard: '', required: true }], ...over,
  };
}

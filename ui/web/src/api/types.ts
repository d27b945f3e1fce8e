// The JSON of the HTTP API (docs/http-api.md), as app/view writes it. Bytes, elements and steps are integers; times are
// microseconds since 1970 (`_us`, `published_at`, `modified_at`); what is not known is null and stays null on screen.

import type {
  Alert, AlertLevel, DriftPoint, FeedItem, Gap, Note, Problem, Ref, Replica, Restore, SpanRow, Step, StepKind, StepState,
  StoreMeter, Task, TensorCount, VerifyResult,
} from './generated';

export * from './generated';

/** Body of every answer with status 400 and above, application/problem+json. */
export interface ProblemDetails {
  type: string;
  title: string;
  status: number;
  detail: string;
  code: string;
  hint: string;
}

export type Scope = 'read' | 'act' | 'admin';

export interface Capabilities {
  api_version: 1;
  version: string;
  read_only: boolean; // acts are off at start, whatever the scopes
  signed_in: boolean;
  principal: string; // "local", name of the token
  scopes: Scope[];
  backends: string[]; // "avx2", "cuda", …
  demo: boolean;
  now_us: number;
}

export type StepRow = Step | Gap;

/** Tiles of the page Live. Medians are over the last 50 deltas. */
export interface Kpi {
  latest: number | null; // newest restorable step
  latest_epoch: number | null;
  newest: number | null; // newest step, sound or not
  latest_at_us: number | null;
  interval_s: number | null; // median between publications
  chain_anchor: number | null; // anchor that the latest step is rebuilt from
  chain_deltas: number | null;
  changed_frac: number | null; // of the latest delta
  changed_frac_median: number | null;
  delta_bytes: number | null; // of the latest delta
  full_bytes: number | null; // of the newest whole anchor, else of the external base
  ratio: number | null; // full / delta
  pause_ms: number | null; // of the latest step that has one
  pause_p50_ms: number | null;
  pause_p95_ms: number | null;
  paused_frac: number | null; // of wall time over the last 50 steps
  replicas: number;
  replicas_in_sync: number;
  worst_replica: string | null;
  worst_lag: number | null;
  verified_to: number | null; // newest step up to which every step of its chain was verified, consistent or first_sight
  verified_level: number | null;
  verified_result: 'verified' | 'consistent' | 'first_sight' | null; // the weakest of these
}

/** What can be relied on in the newest epoch, in words that are shown as they are. */
export interface Health {
  /**
   * broken: steps cannot be used; doubtful: they can, and may be wrong, or something that was here is gone; no_contact: the
   * source cannot be looked at; null: nothing is published.
   */
  state: 'broken' | 'doubtful' | 'no_contact' | 'unchecked' | 'sound' | null;
  headline: string; // the damage, else the doubt, else what is proven
  proven: string;
  restorable: string;
  remedy: string;
  step: number | null; // that the damage or the doubt starts at
  restore: number | null; // the newest that can be restored
  problem: Problem | null;
}

export interface RunSummary {
  id: string; // stands in URLs
  source: string; // URI
  layout: string;
  name: string;
  base: string | null;
  rev: number;
  state: 'opening' | 'live' | 'error';
  opening: string | null; // what is read before the run can be shown for the first time
  error: Problem | null;
  contact_us: number; // when the source was last looked at with success
  steps: number;
  anchors: number;
  deltas: number;
  epochs: number;
  gaps: number;
  wire_bytes: number;
  kpi: Kpi;
  health: Health;
  alerts_firing: number;
  worst_alert: AlertLevel | null;
  attention: number; // 0: all is well; the higher, the earlier it is shown
  spark: (number | null)[]; // changed_frac of the last 60 steps
  demo: boolean;
}

export interface RunList {
  rev: number;
  runs: RunSummary[];
}

export interface RunDetail extends RunSummary {
  first_step: number | null;
  last_step: number | null;
  ignored_objects: number;
  store_meter: StoreMeter | null; // of an object store
  listed_us: number | null; // when everything was last listed; null: at every look
  noop_rate: number | null;
  problems: Problem[];
  events: Problem[];
  drift: DriftPoint[];
  notes: Note[];
  refs: Ref[];
  replicas: Replica[];
  feed: FeedItem[]; // newest first, at most 100
}

export interface StepPage {
  rev: number;
  epochs: number[];
  steps: StepRow[]; // ascending by epoch, then step
  next_cursor: string | null;
}

export interface StepDetail {
  rev: number;
  step: Step;
  tensors: TensorCount[]; // may be empty while the step cannot be replayed
  cli: { show: string; verify: string; materialize: string };
}

/** Names: changed_frac changed_elems wire_bytes pause_ms interval_s sync_ms noop_rate drift_elems. */
export interface Series {
  rev: number;
  epoch: number;
  from: number;
  to: number;
  points: number; // in the range, before decimation
  series: Record<string, SeriesColumns>;
  anchors: number[]; // steps in the range
}

/** One entry per pixel bucket that has a value, ascending. first and last keep lines true where a bucket holds many. */
export interface SeriesColumns {
  x: number[]; // step of the last value in the bucket
  first: number[];
  min: number[];
  max: number[];
  last: number[];
}

export interface TensorRow {
  id: number; // row of the heatmap
  name: string;
  dtype: string;
  shape: number[];
  elements: number;
  group: string; // "layers.0"; "" for tensors outside of layers
  changed_elems: number; // over all steps
  last_changed: number | null; // step
}

export interface TensorTable {
  rev: number;
  epoch: number;
  tensors: TensorRow[]; // model order: embeddings, layers by number, head
}

export interface HeatColumn {
  step: number;
  kind: StepKind;
  state: StepState;
  known: boolean; // false: not replayed (yet); the column is unknown
  pause_ms: number | null;
  verified: number | null; // level
  damaged: boolean;
}

/**
 * The heatmap of one epoch: rows as in TensorTable, columns as here. Tiles hold 256 x 256 codes, one byte each, row by
 * row: 0 = nothing changed, else round(1 + 254 (log10 v + 6) / 6) for v in [1e-6, 1].
 * GET …/heat/{max|mean}/{ly}/{lx}/{ty}/{tx}?epoch=&rev=: level l merges 2^l rows or columns. Body: 65,536 codes, then,
 * if the header X-Unknown is "mask", 8,192 bytes of bits in the same order, 1 = unknown (bit 0 first). Cells outside of
 * the matrix are unknown. Levels that have one tile hold the whole matrix.
 */
export interface HeatIndex {
  rev: number;
  epoch: number;
  rows: number;
  tile: 256;
  levels_y: number;
  levels_x: number;
  columns: HeatColumn[];
}

export interface HeatCell {
  tensor: string;
  step: number;
  changed: number | null;
  total: number;
}

/** First line of the answer to …/steps/{s}/tensors/{id}/blocks?n=128&a={step}; then uint32 little-endian. */
export interface BlockHeader {
  tensor: string;
  dtype: string;
  shape: number[];
  rows: number; // of the matrix that the tensor is shown as: product of all dimensions but the last
  cols: number;
  block_rows: number; // rows of the grid
  block_cols: number;
  rows_per_block: number;
  cols_per_block: number;
  changed: number; // elements that differ between a and the step
  total: number;
  dead_rows: number; // rows without a change
  dead_cols: number;
  gini_rows: number | null; // 0 even … 1 in one row
  top_rows: { row: number; changed: number }[]; // at most 5
  a: number | null; // step compared with; null: nothing (first state)
  // then: block_rows*block_cols counts, `rows` row counts, `cols` column counts
}

/** A window into one tensor at two steps; at most 4,096 elements. */
export interface ElementWindow {
  tensor: string;
  dtype: string;
  row: number;
  col: number;
  rows: number;
  cols: number;
  a: number | null;
  step: number;
  old_bits: (string | null)[]; // hex, row by row; null without a
  new_bits: string[];
  old_values: (number | null)[]; // null: no number (NaN, infinite) or unknown
  new_values: (number | null)[];
}

/** Values of one tensor at one step; null: no finite value has it. */
export interface TensorValues {
  step: number;
  zeros: number;
  nan: number;
  positive_infinite: number;
  negative_infinite: number;
  finite: number;
  min: number | null;
  max: number | null;
  mean: number | null;
  std: number | null; // of all values, not of a sample
  norm: number | null; // L2
  percentiles: { percent: number; value: number }[]; // 0.1, 1, 50, 99, 99.9: the least value that so many do not exceed
}

/** Finite values of both steps in the same bins; a is empty without a step to compare with. */
export interface Histogram {
  edges: number[]; // one more than bins; empty without a value
  a: number[];
  b: number[];
}

/** How b differs from a, element by element. */
export interface ValuesMoved {
  changed: number; // bits
  sign_flips: number;
  nan_involved: number; // of the changed ones; in nothing below
  max_abs: number | null;
  norm: number | null; // L2 of b - a
  relative_norm: number | null; // over the norm of a
  ulp: { up_to: number; count: number }[]; // by distance in representable values: 1, 2, up to 4, up to 8 …
}

/** …/steps/{s}/tensors/{id}/statistics?a={step} */
export interface Statistics {
  tensor: string;
  dtype: string;
  shape: number[];
  elements: number;
  b: TensorValues;
  a: TensorValues | null; // null: no state before, or of another form
  linear: Histogram;
  logarithmic: Histogram; // absolute values other than zero, a bin per power of two
  moved: ValuesMoved | null; // with a
  seconds: number;
}

/** …/statistics/history?steps={n}: the last ones up to the step, ascending. */
export interface StatisticsHistory {
  tensor: string;
  dtype: string;
  steps: TensorValues[];
  seconds: number;
}

/** …/statistics/cost?a={step} or ?steps={n}, of a history. */
export interface StatisticsCost {
  read_bytes: number; // payload
  tensor_bytes: number; // at one step
  steps: number; // whose values would be told
}

/** One row per version or gap, newest first. */
export interface LineageRow {
  epoch: number;
  step: number;
  kind: StepKind;
  state: StepState;
  lane: number;
  base: number | null; // index of the row it builds on
  chain: number; // steps of one chain share it
  published_at: number | null;
  last_step: number | null; // of a gap
  wire_bytes: number;
  changed_frac: number | null;
  restorable: boolean;
  proven: boolean;
  verified: { level: number; result: VerifyResult } | null;
  restore: Restore | null;
  forms?: { complete: boolean; base: number | null; used: boolean; usable: boolean }[]; // empty for a single one; rows as `base`
  problem: Problem | null; // the first one
  refs: string[]; // latest, …
  restores?: number; // as that of a step
  branch_of?: string; // likewise
  surviving: boolean; // false for steps of an epoch that was overwritten and cannot be rebuilt
}

export interface Lineage {
  rev: number;
  lanes: number;
  rows: LineageRow[];
}

export type Phase =
  | 'diff' | 'encode' | 'upload' | 'fetch' | 'stage' | 'verify' | 'apply' | 'pause' | 'waiting' | string;

export interface Bar {
  epoch: number;
  step: number;
  actor: string; // replica; "" where only the publisher wrote spans
  t0_us: number;
  t1_us: number;
  total_ms: number;
  pause_ms: number | null; // null: no span tells of a pause
  /** Wall time by phase, from bottom to top of the bar; sums up to total_ms. A phase "pause.apply" is part of pause. */
  phases: { phase: Phase; ms: number }[];
  /** Time of all spans by phase, parallel work counted twice. */
  work: { phase: Phase; ms: number; bytes: number }[];
  slowest: boolean; // the slowest of its step
}

export interface Timeline {
  rev: number;
  epoch: number;
  actors: string[];
  bars: Bar[]; // ascending by step, then actor
  spans: SpanRow[]; // of the same steps, by start; at most 5,000
  visible: { step: number; t_us: number }[]; // publication times
  summary: {
    paused_ms: number;
    wall_ms: number; // of all replicas that tell of pauses together, so that paused_ms / wall_ms is a share
    pauses: number;
    p50_ms: number | null;
    p95_ms: number | null;
    worst: { step: number; actor: string; ms: number } | null;
  };
  /** What one full checkpoint would take at the observed upload rate; null without an upload span. */
  ghost: { full_bytes: number; bytes_per_s: number; ms: number } | null;
}

export interface ListingRow {
  key: string;
  size: number;
  modified_at: number;
  step: number | null;
  kind: StepKind | null;
  state: StepState | null;
  needed_by?: number | null; // steps that cannot be rebuilt any more without it; not in bundles of version 2
  folder: boolean; // a common prefix; size is 0
}

export interface ListingPage {
  rev: number;
  prefix: string;
  objects: ListingRow[];
  next_cursor: string | null;
  totals: { anchors: number; anchor_bytes: number; deltas: number; delta_bytes: number; other: number; other_bytes: number };
}

export interface HeaderPreview {
  key: string;
  header_bytes: number;
  metadata: Record<string, string>;
  tensors: { name: string; dtype: string; shape: number[]; bytes: number }[]; // the first 500
  tensors_total: number;
  claims_note: string; // "what the header says about itself is a claim"
}

/** …/touched?a=&b=: what the deltas between two steps of one chain touch, from counts alone; an upper bound. */
export interface Touched {
  rev: number;
  a: number;
  b: number;
  elements_at_most: number;
  elements_total: number | null;
  tensors: { name: string; elements: number; touched_at_most: number }[]; // touched ones, most first
}

/** One argument of an act. */
export interface ActField {
  name: string;
  type: 'text' | 'step' | 'steps' | 'folder' | 'place' | 'whole' | 'flag' | 'choice';
  label: string;
  help: string;
  standard: string;
  required: boolean;
  most?: number; // of a whole number
  choices?: string[];
}

export interface ActInfo {
  kind: string;
  title: string; // "Name this step"
  fields: ActField[];
}

export type ActValue = string | number | boolean;

export type PlanRequest =
  | { kind: 'materialize'; args: { step: string; to?: string; shard_bytes?: number; state?: 'served' | 'trained'; across_gap?: boolean; for_training?: boolean; accept_rewritten?: boolean } }
  | { kind: 'verify'; args: { range?: string; level: number; accept_rewritten?: boolean } }
  | { kind: 'diff'; args: { a: string; b: string; accept_rewritten?: boolean } }
  | { kind: string; args: Record<string, ActValue> };

// Server-sent events: GET /api/v1/events?topics=run,step,heat,replica,task,alert&run=ID. Each has an id; `reset` says
// that something was lost and everything is to be fetched again.
export interface EventMap {
  run: RunSummary; // something about the run changed: rev, kpi, state
  step: { run: string; rev: number; step: StepRow };
  heat: { run: string; rev: number; epoch: number; column: number; step: number; codes_b64: string; unknown: boolean };
  replica: { run: string; rev: number; replica: Replica };
  task: Task;
  alert: Alert;
  feed: { run: string; item: FeedItem };
  reset: Record<string, never>;
}
export type Topic = keyof EventMap;

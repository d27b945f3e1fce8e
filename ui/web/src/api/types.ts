// The JSON of the HTTP API (docs/http-api.md), as app/view writes it. Bytes, elements and steps are integers; times are
// microseconds since 1970 (`_us`, `published_at`, `modified_at`); what is not known is null and stays null on screen.

import type { Alert, FeedItem, Gap, Replica, RunSummary, Step, StepKind, StepState, Task, TensorCount } from './generated';

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

export interface HeatCell {
  tensor: string;
  step: number;
  changed: number | null;
  total: number;
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

/** …/touched?a=&b=: what the deltas between two steps of one chain touch, from counts alone; an upper bound. */
export interface Touched {
  rev: number;
  a: number;
  b: number;
  elements_at_most: number;
  elements_total: number | null;
  tensors: { name: string; elements: number; touched_at_most: number }[]; // touched ones, most first
}

export type ActValue = string | number | boolean;

export type PlanRequest =
  | { kind: 'materialize'; args: { step: string; to?: string; shard_bytes?: number; state?: 'served' | 'trained'; across_gap?: boolean; for_training?: boolean; accept_rewritten?: boolean } }
  | { kind: 'verify'; args: { range?: string; level: number; until?: string; accept_rewritten?: boolean } }
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

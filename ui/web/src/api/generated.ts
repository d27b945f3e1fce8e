// Made from app/src/view/*_description.h, not by hand. To make it again:
// DELTASCOPE_UPDATE_GENERATED=1 build/dev/bin/deltascope_tests --gtest_filter='Schema.*'

export type StepKind = 'anchor' | 'partial_anchor' | 'delta' | 'gap';
export type StepState = 'complete' | 'publishing' | 'broken' | 'noop' | 'gap';
export type VerifyResult = 'verified' | 'consistent' | 'first_sight' | 'unverified' | 'incomplete' | 'damaged';
export type PlanState = 'planning' | 'ready' | 'failed';
export type TaskState = 'queued' | 'running' | 'paused' | 'canceling' | 'canceled' | 'failed' | 'done';
export type AlertLevel = 'info' | 'warn' | 'error';

/** A problem, or an error. */
export interface Problem {
  code: string; // "DS-CHAIN-GAP"
  step: number | null;
  where: string; // object, file or source
  text: string;
  remedy: string;
  notice: boolean; // whether it is only worth knowing: nothing is wrong
}

/** What it takes to rebuild a step. */
export interface Restore {
  deltas: number;
  bytes: number; // objects to be read
  blocked_by: number | null; // the step that it builds on and whose fault it is
  reason: string | null; // why it is not possible
}

/** An object of the source. */
export interface ObjectInfo {
  key: string;
  size: number;
  modified_at: number;
}

/** One way to have a step. */
export interface Form {
  name: string;
  kind: StepKind;
  base_step: number | null; // null: complete by itself
  wire_bytes: number;
  restore: Restore; // of the step over it
  evidence: 'digest' | 'root' | 'anchor' | 'weak' | 'base' | 'first_sight' | 'none'; // what vouches for the whole way
  used: boolean;
  state: 'trained' | 'served';
  copy: boolean; // objects of another form once more, in a mirror
}

/** The deepest verification of a step in this daemon. */
export interface Verified {
  level: number;
  result: VerifyResult;
  t_us: number;
  problem: Problem | null;
}

/** A published version. */
export interface Step {
  epoch: number;
  step: number;
  kind: StepKind;
  state: StepState;
  name: string; // file or folder that stands for the version
  base_step: number | null;
  changed_elems: number | null; // null until it was replayed
  changed_vs_prev_elems: number | null;
  total_elems: number | null;
  changed_frac: number | null; // 0…1
  claimed_elems: number | null; // what the header says is stored; a claim
  wire_bytes: number;
  published_at: number;
  pause_ms: number | null; // how long the engine stood still to load it
  spans_from: 'logs' | 'spans' | null;
  restorable: boolean;
  proven: boolean; // false across a missing number that nothing disproves
  restore: Restore;
  objects: ObjectInfo[];
  forms: Form[]; // in a run only where there are several; its own objects first
  problems: Problem[];
  id?: string; // what its publisher calls it; absent: its number
  refs?: string[]; // words that people gave it: "good", "pin/good"; absent: none
  restores?: number; // earlier step whose state it has again; absent: none
  branch_of?: string; // run and step that this run begins with; absent: none
  role?: string; // of the model beside the checkpoints of steps: "final_save", "older_model"; absent: it is a step
  verified: Verified | null; // null: not checked in this daemon
}

/** A hole in the numbers: `step` is the first missing one. */
export interface Gap {
  epoch: number;
  step: number;
  kind: 'gap';
  state: 'gap';
  last_step: number;
}

/** A tensor of a state, and what its step changes of it. */
export interface TensorCount {
  name: string;
  dtype: string;
  shape: number[];
  changed_elems: number | null; // against the base; of an anchor all
  changed_vs_prev_elems: number | null; // against the state before
  total_elems: number;
}

/** How far trained and served state are apart at one step. */
export interface DriftPoint {
  epoch: number;
  step: number;
  differs_elems: number;
  zero_sign_elems: number; // of these, in the sign of zero alone
  estimate_elems: number | null; // of these, beyond a usual step of training
}

/** Something that an actor said about a step. */
export interface Note {
  actor: string;
  step: number | null;
  t_us: number | null; // null: of a line of a log without a time
  text: string;
}

/** A word that people gave a version. */
export interface Ref {
  word: string; // as behind the @ of an address
  pin: boolean;
  step: number | null; // null: its last move cannot be read
  epoch: number;
  here: boolean; // the version that it means is in the run
  by: string;
  why: string | null;
  t_us: number;
  local: boolean; // kept on the machine of the daemon alone
  problem: Problem | null; // why it names no version
}

/** What people wrote about a version. */
export interface Annotation {
  number: number;
  step: number;
  text: string;
  by: string;
  t_us: number;
  local: boolean;
}

/** Something that was done to the run. */
export interface JournalEntry {
  number: number;
  act: string;
  phase: string; // begun, done, failed, unreadable
  by: string;
  plan: string | null; // hash
  text: string;
  keys: string[];
  t_us: number;
  local: boolean;
}

/** What people said of a run and did to it. */
export interface Annotations {
  source: string;
  refs: Ref[];
  notes: Annotation[];
  journal: JournalEntry[]; // oldest first
  problems: Problem[];
}

/** An object that an act reads, writes or deletes. */
export interface PlannedObject {
  store: string | null; // address; null: that of the run
  key: string;
  bytes: number; // 0: not known before it is written, or nothing but headers is read
}

/** The exact plan of an act. */
export interface ActPlan {
  kind: string;
  hash: string;
  reads: PlannedObject[];
  read_bytes: number;
  writes: PlannedObject[];
  deletes: PlannedObject[];
  beside: Record<string, string>; // objects beside the run, by what they are for: how many
  beside_text: string; // the same in words
  effects: Record<string, string>; // what is different behind it
  warnings: Problem[];
  unknown: string[]; // what cannot be known before
  undo: string | null; // kind of the act that takes it back
}

/** What came of a word, a pin or a note. */
export interface AnnotatedReport {
  source: string;
  text: string;
  done: boolean;
  was_there: boolean; // it was so already; nothing was written
  local: boolean; // kept on the machine of the daemon alone
}

/** A word or a note that is planned, as the command line writes it. */
export interface PlannedAnnotation {
  source: string;
  text: string;
  done: boolean;
  was_there: boolean; // it was so already; nothing was written
  plan: ActPlan;
}

/** A stretch of work on a step, by the clock of the actor. */
export interface SpanRow {
  actor: string;
  phase: string; // diff encode upload fetch stage verify pause apply …, "sync" for the whole
  epoch: number;
  step: number;
  t0_us: number;
  t1_us: number;
  bytes: number;
}

/** A replica with its past, as far as spans say it. */
export interface Replica {
  id: string;
  engine: string;
  state: string; // its own word: serving, fetching, paused, stalled, …
  step: number | null; // that it says it serves
  behind: number | null; // versions; null: its step is not known, or it has stopped
  lag_s: number | null; // since the first version that it does not serve was published
  age_s: number; // of the heartbeat
  late: boolean;
  lagging: boolean;
  foreign: boolean; // it has said for 30 s a step that the run neither has nor had
  doubt: string | null; // why its heartbeat is no sign of life: its clock or its period
  detail: string;
  last_pause_ms: number | null;
  paused_frac: number | null; // of the last hour, 0…1
  lag_history: number[]; // versions behind at each of the last 60 steps, oldest first
}

/** Something that happened. */
export interface FeedItem {
  t_us: number;
  kind: 'published' | 'applied' | 'note' | 'problem' | 'event' | 'notice';
  step: number | null;
  text: string;
}

/** What went between the server and an object store since it was opened. */
export interface StoreMeter {
  source: string;
  requests: number; // retries are some of them
  retries: number;
  bytes_in: number;
  bytes_out: number;
  bytes_from_cache: number;
}

/** An object, and the version that it belongs to. */
export interface ListingEntry {
  key: string;
  size: number;
  modified_at: number;
  step: number | null; // null: of no version
  kind: StepKind | null;
  needed_by: number | null; // steps that cannot be rebuilt any more without it
}

/** All objects of a source. */
export interface Listing {
  source: string; // URI
  layout: string | null; // null: it was not recognized
  objects: ListingEntry[];
}

/** Something about what an act would do. */
export interface PlanFact {
  label: string;
  text: string;
}

/** Something that an act reads or writes. */
export interface PlanStep {
  text: string;
  bytes: number;
}

/** Elements of one tensor that an act changes. */
export interface ChangedTensor {
  name: string;
  elems: number;
  changed_elems: number;
}

/** What an act would do. Never acts. While it is planning, title and progress alone are known. */
export interface Plan {
  id: string;
  hash: string;
  kind: string;
  run: string;
  state: PlanState;
  phase: string; // of planning
  done: number; // bytes of this phase
  total: number; // 0: not known
  problem: Problem | null; // of state failed
  title: string;
  cli: string;
  facts: PlanFact[];
  steps: PlanStep[]; // what is read and written, in order
  read_bytes: number;
  write_bytes: number;
  free_bytes: number | null; // where it would be written
  destination: string | null;
  warnings: string[];
  act: ActPlan | null; // every object that it reads, writes or deletes; of state ready
  changes: ChangedTensor[]; // those with the largest changed share, at most 256
  confirm: string | null; // to be typed before it is carried out
  undo: string | null; // kind of the act that takes it back
  requires: string[]; // scopes of a token
}

/** What came of a roll back. */
export interface RollBackReport {
  source: string;
  from: number; // newest step when it was planned
  to: number; // step whose state is published again
  step: number; // that it is published as
  done: boolean;
  was_there: boolean; // the newest step has that state already; nothing was written
  changed_elems: number;
  keys: string[]; // written
}

/** A roll back that is planned, as the command line writes it. */
export interface PlannedRollBack {
  source: string;
  from: number; // newest step when it was planned
  to: number; // step whose state is published again
  step: number; // that it is published as
  done: boolean;
  was_there: boolean; // the newest step has that state already; nothing was written
  evidence: string; // what verify says of the state that is published again
  changed_elems: number;
  total_elems: number;
  changed_tensors: number;
  tensors: ChangedTensor[]; // those with the largest changed share, at most 256
  plan: ActPlan;
}

/** What came of a branch. */
export interface BranchReport {
  source: string;
  into: string; // address of the new run
  from: number; // step whose state it begins with
  step: number; // its first one
  done: boolean;
  was_there: boolean; // the new run was there already; nothing was written
  keys: string[]; // written
}

/** A branch that is planned, as the command line writes it. */
export interface PlannedBranch {
  source: string;
  into: string; // address of the new run
  from: number; // step whose state it begins with
  step: number; // its first one
  done: boolean;
  was_there: boolean; // the new run was there already; nothing was written
  evidence: string; // what verify says of that state
  state_bytes: number;
  plan: ActPlan;
}

/** A step as `log --json` writes it. */
export interface BareStep {
  epoch: number;
  step: number;
  kind: StepKind;
  state: StepState;
  name: string; // file or folder that stands for the version
  base_step: number | null;
  changed_elems: number | null; // null until it was replayed
  changed_vs_prev_elems: number | null;
  total_elems: number | null;
  changed_frac: number | null; // 0…1
  claimed_elems: number | null; // what the header says is stored; a claim
  wire_bytes: number;
  published_at: number;
  pause_ms: number | null; // how long the engine stood still to load it
  spans_from: 'logs' | 'spans' | null;
  restorable: boolean;
  proven: boolean; // false across a missing number that nothing disproves
  restore: Restore;
  objects: ObjectInfo[];
  forms: Form[]; // in a run only where there are several; its own objects first
  problems: Problem[];
  id?: string; // what its publisher calls it; absent: its number
  refs?: string[]; // words that people gave it: "good", "pin/good"; absent: none
  restores?: number; // earlier step whose state it has again; absent: none
  branch_of?: string; // run and step that this run begins with; absent: none
  role?: string; // of the model beside the checkpoints of steps: "final_save", "older_model"; absent: it is a step
}

/** What publishing has added to a run. */
export interface PublishReport {
  source: string; // URI
  layout: string;
  done: boolean;
  notices: string[]; // the newest
  steps: (BareStep | Gap)[]; // the newest ones
  steps_in_all: number;
  nothing_changed: boolean; // last time, and the layout has no form for an empty step
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  seconds: number;
}

/** A step that would be published, as the command line writes it. */
export interface PlannedPublication {
  source: string; // URI
  layout: string;
  done: boolean;
  notices: string[]; // the newest
  newest: number | null; // step before it; null: the run is empty
  state_bytes: number;
  plan: ActPlan;
}

/** A hidden folder that a stopped rebuild left, in a plan or in what came of it. */
export interface Discarded {
  path: string;
  destination: string; // folder that it would have become
  bytes: number; // of its files, where the plan removes it
  planned: boolean; // the plan removes it
  removed: boolean;
  problem: Problem | null; // why it stays
}

/** What came of a discard. */
export interface DiscardReport {
  folder: string; // that the leftovers lie in
  leftovers: Discarded[]; // in order of names
  done: boolean;
}

/** A discard that is planned, as the command line writes it. */
export interface PlannedDiscard {
  folder: string; // that the leftovers lie in
  leftovers: Discarded[]; // in order of names
  done: boolean;
  plan: ActPlan;
}

/** How many tensors of a state have which evidence. */
export interface Coverage {
  tensors: number;
  digest: number;
  root: number;
  anchor: number;
  base: number;
  weak: number;
  first_sight: number;
  none: number;
  weakest: string[]; // at most ten names, those with the least evidence first
  text: string;
}

/** The checkpoint that was made of a step. */
export interface MaterializeReport {
  step: number;
  chosen: string | null; // which step `latest` has meant, where a higher number exists
  path: string;
  bytes: number;
  root: string | null;
  tensors: number;
  resumed_bytes: number;
  digests_checked: number;
  coverage: Coverage;
  proven: boolean; // no missing number on the way
  loss_proven: boolean; // rebuilt although a delta on the way is proven to be lost
  lossy: boolean; // a delta on the way adds rounded differences
  state: 'served' | 'trained' | null; // which one, where both are known to differ
  states_differ_elems: number;
  committed: boolean; // false for one part of a shared rebuild
  sidecars: string[];
  left_out: string[]; // files of the trainer beside the checkpoint that the rebuild began with
  trainer_files: string[]; // of the step, copied for training
  missing: string[]; // what training resumes with and the source does not have of the step
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  notices: Problem[]; // objects that could not be compared with what is on record of them
  seconds: number;
}

/** Up to which step all of an epoch is verified or consistent. */
export interface ConsistentTo {
  epoch: number;
  step: number | null; // null: up to none
}

/** Objects that were read whole, by what the store's own digest says of them. */
export interface StoreDigests {
  equal: number;
  not_compared: number; // not with all of their bytes
  none: number; // the store keeps no digest of them
  text: string;
}

/** What a verification says of one step. */
export interface StepVerdict {
  epoch: number;
  step: number;
  result: VerifyResult;
  health: 'normal' | 'suspect' | null; // of its values, beside the verdict on its bytes
  digests_checked: number; // of tensors that this step changes
  coverage: Coverage | null; // from level 3 on, of steps that can be rebuilt
  root: string | null; // at level 4: strong DSM1 root, of anchors and the last step
  anchor_differs_elems: number | null; // of an anchor: from the replay before it
  zero_sign_elems: number; // of these, in the sign of zero alone
  missed_elems: number; // of the others, those that a writer that compares low bytes has missed
  drift_elems_estimate: number | null; // of the others, more than a usual delta explains
  problems: Problem[];
}

/** What a verification has found. */
export interface VerifyReport {
  source: string;
  level: number;
  result: VerifyResult;
  consistent_to: ConsistentTo[]; // from level 3 on
  on_base_alone: string | null; // tensors that are only as in the base
  store_digests: StoreDigests | null; // from level 2 on, of remote sources
  steps: StepVerdict[];
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  problems: Problem[];
  seconds: number;
}

/** A setting of two adapters that changes what they do. */
export interface SettingDiff {
  name: string;
  a: unknown; // null: it is not given
  b: unknown;
}

/** How two states differ as a whole; their values are compared all the same. */
export interface FormDifference {
  kind: 'names' | 'wrappers' | 'adapters' | 'dtypes' | 'fused';
  a: string;
  b: string;
  tensors: number; // that it concerns
  text: string;
}

/** How one tensor differs between A and B. */
export interface TensorDiff {
  name: string;
  dtype: string;
  shape: number[];
  elements: number;
  elements_different: number;
  elements_touched: number | null;
  sign_flips: number | null; // null: no distances are measured of this dtype
  nan_involved: number | null; // differing elements where a side is NaN; null as above
  not_finite_a: number; // NaN or infinite elements
  not_finite_b: number;
  max_abs: number | null; // over finite values; null: none differ, none are measured, or F64 has no such number
  max_ulp: number | null; // over what is not NaN; null: none differs, of integers, and where none are measured
  relative_norm: number | null; // L2 of B − A over that of A; null: no element that differs is finite
}

/** A tensor whose dtype or shape differs between A and B. */
export interface ReshapedTensor {
  name: string;
  dtype_a: string;
  dtype_b: string;
  shape_a: number[];
  shape_b: number[];
}

/** How two checkpoints differ. */
export interface Diff {
  equal: boolean | null; // of the whole checkpoints; null: what was compared is equal, and not all was
  tensor_globs: string[]; // names that were to be compared; empty: all
  tensors_left_out: number;
  tensors_total: number; // in both and comparable
  nothing_compared: string | null; // why; null: something was
  tensors_different: number;
  elements_total: number;
  elements_different: number;
  elements_touched: number | null;
  not_finite_a: number; // NaN or infinite elements of all tensors that were compared
  not_finite_b: number;
  relative_norm: number | null; // over all tensors that were compared
  bytes_compared: number;
  only_in_a: string[];
  only_in_b: string[];
  settings: SettingDiff[]; // that differ between the configs of two adapters
  /** what is to be known where a side is an adapter: that its settings are not known, or that the other one is none */
  adapters: string | null;
  form_differences: FormDifference[]; // what was taken out of account before tensors were compared
  tensors: TensorDiff[]; // different or touched ones
  changed_dtype_or_shape: ReshapedTensor[]; // not compared
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  notices: Problem[]; // objects that could not be compared with what is on record of them
  seconds: number;
}

/** An act on its way, or done. */
export interface Task {
  id: string;
  kind: string; // ActInfo.kind: verify, diff, materialize, rollback, …
  title: string; // "Materialize step 12 of wordle"
  run: string; // RunSummary.id
  state: TaskState;
  phase: string;
  done: number; // bytes of this phase
  total: number; // 0: not known
  rate: number; // bytes per second over the last seconds
  eta_s: number | null;
  elapsed_s: number;
  started_us: number;
  by: string;
  cli: string;
  plan_hash: string; // Plan.hash
  undo: string | null; // kind of the act that takes it back
  destination: string | null; // folder or address that it writes
  resumable: boolean; // canceled or failed: running the same plan again goes on from what is there
  interrupted: boolean; // paused: the program that worked on it ended
  accept_rewritten: string | null; // what it means to do it with rewritten objects, where they are in the way
  problem: Problem | null; // of state failed
  /** what found, measured and applied changes: "avx2", or "cuda" where a device did a part; absent while it is at work */
  backend?: string;
  /** what that did not do as asked: a device failed since the task began, or before where it did nothing of it, and the processor did its work; absent: nothing */
  backend_notices?: Problem[];
  /** that a device compared or replayed while the task was at work, also for tasks beside it; absent: none was asked for */
  device_bytes?: number;
  batch_bytes?: number; // of all batches meanwhile, those of the processor, too; absent: no device was asked for
  not_kept: Problem | null; // why what happened last is not on disk: it would be lost with the daemon
  /** of state done */
  result: MaterializeReport | VerifyReport | Diff | PublishReport | RollBackReport | BranchReport | AnnotatedReport | DiscardReport | null;
}

/** A rule that fires, or has fired, on a run. */
export interface Alert {
  id: string;
  rule: string; // "replica-lag"
  level: AlertLevel;
  run: string;
  step: number | null;
  replica: string | null;
  value: number | null; // what was compared with the threshold; null where a rule compares no number
  threshold: number | null;
  title: string;
  text: string;
  remedy: string;
  first_us: number;
  last_us: number; // when its condition last held
  cleared_us: number | null;
  count: number; // how often it happened since it began to fire
  state: 'firing' | 'acked' | 'cleared';
  snoozed: number | 'until_cleared' | null; // µs: no messages until then
}

/** What alerts are made by. */
export interface AlertRule {
  id: string;
  level: AlertLevel; // the lowest one it fires with
  on: boolean;
  what: string; // one sentence
  threshold: number | null; // null: the rule has none, or none was set
  unit: string | null; // null: the rule has no threshold
}

/** Where messages about alerts go. */
export interface AlertChannel {
  kind: 'webhook' | 'slack' | 'discord' | 'command';
  name: string; // scheme and host, or the program; never the URL
  min_level: AlertLevel;
  sent: number; // messages that arrived since the daemon began
  failed: number; // messages that were given up, or dropped from a full queue
  last_arrived: boolean | null; // whether the last message did; null: none has ended yet
  last_failed_us: number | null; // when a message failed last; null: none has
  last_failure: string | null; // why; never the URL
}

/** All alerts, and what makes and sends them. */
export interface AlertList {
  rev: number;
  alerts: Alert[]; // firing first, then newest first
  rules: AlertRule[];
  channels: AlertChannel[];
}

/** A time at which the rule would have fired. */
export interface BacktestHit {
  step: number | null;
  t_us: number;
  text: string;
}

/** When a rule would have fired on what is in the run. */
export interface Backtest {
  rule: string;
  run: string;
  fired: BacktestHit[]; // in order of time
}

/** One argument of an act. */
export interface ActField {
  name: string;
  type: 'text' | 'step' | 'steps' | 'folder' | 'place' | 'whole' | 'flag' | 'choice';
  label: string;
  help: string;
  standard: string; // as text; of a choice: the first one
  required: boolean;
  most?: number; // of a whole number, which is at least 0
  choices?: string[];
}

/** An act that a plan can be made of. */
export interface ActInfo {
  kind: string;
  title: string; // "Name this step"
  fields: ActField[];
}

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
  verified_to: number | null; // newest step whose whole chain was checked and found sound
  verified_level: number | null; // the lowest of these
  verified_result: 'verified' | 'consistent' | 'first_sight' | null; // the weakest of these
}

/** What can be relied on in the newest epoch, in words that are shown as they are. */
export interface Health {
  /** broken: steps cannot be used; doubtful: they can, and may be wrong, or something that was here is gone; no_contact: the source cannot be looked at; null: nothing is published */
  state: 'broken' | 'doubtful' | 'no_contact' | 'unchecked' | 'sound' | null;
  headline: string; // the damage, else the doubt, else what is proven
  proven: string;
  restorable: string;
  remedy: string; // empty: nothing is to be done
  step: number | null; // that the damage or the doubt starts at
  restore: number | null; // the newest that can be restored
  problem: Problem | null;
}

/** A run that is followed. */
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

/** All runs that are followed. */
export interface RunList {
  rev: number;
  runs: RunSummary[];
}

/** A run that is followed, with what happened. */
export interface RunDetail {
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
  first_step: number | null; // of the newest epoch
  last_step: number | null;
  ignored_objects: number;
  store_meter: StoreMeter | null; // of an object store
  listed_us: number | null; // when everything was last listed; null: at every look
  noop_rate: number | null;
  problems: Problem[];
  events: Problem[]; // what happened to the source since it was first seen, oldest first
  drift: DriftPoint[];
  notes: Note[];
  refs: Ref[];
  replicas: Replica[];
  feed: FeedItem[]; // newest first, at most 100
}

/** One way to have a row. */
export interface LineageForm {
  complete: boolean; // it builds on nothing
  base: number | null; // index of the row that it builds on
  used: boolean;
  usable: boolean;
}

/** A version, or a hole in the numbers. */
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
  verified: Verified | null;
  restore: Restore | null;
  forms: LineageForm[]; // empty for a single one
  problem: Problem | null; // the first one that is no notice, else the first notice
  refs: string[]; // latest, …
  surviving: boolean; // false for steps of an epoch that was overwritten and cannot be rebuilt
  restores?: number; // as that of a step
  branch_of?: string; // likewise
  role?: string; // likewise
}

/** How versions build on each other. */
export interface Lineage {
  rev: number;
  lanes: number;
  rows: LineageRow[]; // newest first
}

/** Wall time of a phase. */
export interface PhaseTime {
  phase: string;
  ms: number;
}

/** Time of all spans of a phase, parallel work counted twice. */
export interface PhaseWork {
  phase: string;
  ms: number;
  bytes: number;
}

/** One sync of one replica. */
export interface Bar {
  epoch: number;
  step: number;
  actor: string; // replica; "" where only the publisher wrote spans
  t0_us: number;
  t1_us: number;
  total_ms: number;
  pause_ms: number | null; // null: no span says anything of a pause
  phases: PhaseTime[]; // from bottom to top of the bar; sums up to total_ms. A phase "pause.apply" is part of pause.
  work: PhaseWork[];
  slowest: boolean; // the slowest of its step
}

/** When a step could be seen in the run. */
export interface Publication {
  step: number;
  t_us: number;
}

/** The longest pause. */
export interface WorstPause {
  step: number;
  actor: string;
  ms: number;
}

/** Pauses of all replicas together. */
export interface PauseSummary {
  paused_ms: number;
  wall_ms: number; // of all replicas whose pauses are known, so that paused_ms / wall_ms is a share
  pauses: number;
  p50_ms: number | null;
  p95_ms: number | null;
  worst: WorstPause | null;
}

/** What one full checkpoint would take at the observed upload rate. */
export interface Ghost {
  full_bytes: number;
  bytes_per_s: number;
  ms: number;
}

/** Syncs of a range of steps of one epoch. */
export interface Timeline {
  rev: number;
  epoch: number;
  actors: string[];
  bars: Bar[]; // ascending by step, then actor
  spans: SpanRow[]; // of the same steps, by start; at most 5,000
  visible: Publication[];
  summary: PauseSummary;
  ghost: Ghost | null; // null without an upload span
}

/** A version of the heatmap. */
export interface HeatColumn {
  step: number;
  kind: StepKind;
  state: StepState;
  known: boolean; // false: not replayed (yet); the column is unknown
  pause_ms: number | null;
  verified: number | null; // level
  damaged: boolean;
}

/** The heatmap of one epoch: rows as in TensorTable, columns as here. Tiles hold 256 x 256 codes, one byte each, row by row: 0 = nothing changed, else round(1 + 254 (log10 v + 6) / 6) for v in [1e-6, 1]. GET …/heat/{max|mean}/{ly}/{lx}/{ty}/{tx}?epoch=&rev=: level l merges 2^l rows or columns. Body: 65,536 codes, then, if the header X-Unknown is "mask", 8,192 bytes of bits in the same order, 1 = unknown (bit 0 first). Cells outside of the matrix are unknown. Levels that have one tile hold the whole matrix. */
export interface HeatIndex {
  rev: number;
  epoch: number;
  rows: number;
  tile: number; // rows and columns of a tile: 256
  levels_y: number;
  levels_x: number;
  columns: HeatColumn[];
}

/** A column of the heatmap is there, or has other codes. */
export interface HeatChange {
  run: string;
  rev: number; // of the heatmap
  epoch: number;
  column: number; // within the epoch
  step: number;
  codes_b64: string; // one byte for each row
  unknown: boolean; // it is not replayed
}

/** A step of the run is new, or is not as it was. */
export interface StepChange {
  run: string;
  rev: number;
  step: Step | Gap;
}

/** What is known of a replica of the run now. */
export interface ReplicaChange {
  run: string;
  rev: number;
  replica: Replica;
}

/** Something happened in the run. */
export interface FeedChange {
  run: string;
  item: FeedItem;
}

/** Describes a daemon and the client that asks. */
export interface Capabilities {
  api_version: number;
  version: string;
  read_only: boolean; // acts are off at start, whatever the scopes
  signed_in: boolean;
  principal: string; // "local", or the name of the token
  scopes: string[]; // read, act, admin
  backends: string[]; // "avx2", "cuda", …
  demo: boolean; // one of the runs is a demo
  now_us: number;
}

/** Steps of a run. */
export interface StepPage {
  rev: number;
  epochs: number[]; // all of the run
  steps: (Step | Gap)[]; // ascending by epoch, then step
  next_cursor: string | null; // null: this was the last page
}

/** Command lines for a step. */
export interface StepCommands {
  show: string;
  verify: string;
  materialize: string;
}

/** A step, tensor by tensor. */
export interface StepDetail {
  rev: number;
  step: Step;
  tensors: TensorCount[]; // of the state, by name; may be empty where the step cannot be replayed
  cli: StepCommands;
}

/** A tensor, which is a row of the heatmap. */
export interface TensorRow {
  id: number; // of the row
  name: string;
  dtype: string;
  shape: number[];
  elements: number;
  group: string; // "layers.0"; "" for tensors outside of layers
  changed_elems: number | null; // over the versions that known_columns counts; null: of none it is known
  last_changed: number | null; // step of the last of these versions that changed it
}

/** The rows of the heatmap. */
export interface TensorTable {
  rev: number;
  epoch: number;
  known_columns: number; // of all epochs: versions that were compared with the one before
  tensors: TensorRow[]; // in the order of the model: embeddings, layers by number, head
}

/** Exact counts of one cell of the heatmap. */
export interface HeatCell {
  tensor: string;
  step: number;
  changed: number | null; // elements; null: not replayed (yet)
  total: number; // elements
}

/** Exact counts of a column of the heatmap. */
export interface ColumnCounts {
  step: number;
  chain: string; // same text: same counts
  changed: Record<string, number> | null; // elements by tensor, of tensors that changed; null: not replayed (yet)
}

/** Exact counts of whole columns, at most 256. */
export interface HeatCounts {
  rev: number;
  epoch: number;
  columns: ColumnCounts[];
}

/** A tensor that the deltas between two steps touch. */
export interface TouchedTensor {
  name: string;
  elements: number;
  touched_at_most: number; // an element that changes twice counts twice
}

/** What the deltas between two steps of one chain touch, by counts alone: an upper bound. */
export interface Touched {
  rev: number;
  a: number; // the older step
  b: number;
  elements_at_most: number;
  elements_total: number | null;
  tensors: TouchedTensor[]; // that are touched, most elements first
}

/** One line of a chart: an entry for each bucket of pixels that has a value, ascending. first and last keep lines true where a bucket holds many. */
export interface SeriesColumns {
  x: number[]; // step of the last value in the bucket
  first: number[];
  min: number[];
  max: number[];
  last: number[];
}

/** Lines by name: changed_frac changed_elems wire_bytes pause_ms interval_s sync_ms drift_elems. */
export interface Series {
  rev: number;
  epoch: number;
  from: number;
  to: number;
  points: number; // steps in the range
  series: Record<string, SeriesColumns>;
  anchors: number[]; // steps in the range
}

/** An object right below a prefix, or a folder. */
export interface ListingRow {
  key: string; // of a folder with the slash behind it
  size: number; // of a folder the sum of what is in it
  modified_at: number; // of a folder the newest
  step: number | null;
  kind: StepKind | null; // null: of no version
  state: StepState | null;
  needed_by: number | null; // steps that cannot be rebuilt any more without it; bundles of version 2 lack it
  folder: boolean;
}

/** Objects of a whole source. */
export interface ListingTotals {
  anchors: number;
  anchor_bytes: number;
  deltas: number;
  delta_bytes: number;
  other: number;
  other_bytes: number;
}

/** A part of what lies right below a prefix. */
export interface ListingPage {
  rev: number;
  prefix: string;
  objects: ListingRow[]; // folders and objects by key
  next_cursor: string | null; // null: this was the last page
  totals: ListingTotals;
}

export interface TopRow {
  row: number;
  changed: number;
}

/** Where one tensor differs between two steps. Behind it: block_rows * block_cols counts, `rows` row counts, `cols` column counts, each uint32 little-endian. */
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
  dead_rows: number; // without a change
  dead_cols: number;
  gini_rows: number | null; // 0 even … 1 in one row
  top_rows: TopRow[]; // at most 5
  a: number | null; // step compared with; null: nothing (the first state, or the notices say why)
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  notices: Problem[]; // objects that could not be compared with what is on record of them
}

/** A window into one tensor at two steps, row by row; at most 4,096 elements. */
export interface ElementWindow {
  tensor: string;
  dtype: string;
  row: number;
  col: number;
  rows: number;
  cols: number;
  a: number | null; // step compared with; null: nothing (the first state, or the notices say why)
  step: number;
  old_bits: (string | null)[]; // hex; null without a
  new_bits: string[];
  old_values: (number | null)[]; // null: NaN, infinite, or without a
  new_values: (number | null)[]; // null: NaN, infinite
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  notices: Problem[]; // objects that could not be compared with what is on record of them
}

/** A tensor as a header describes it. */
export interface HeaderTensor {
  name: string;
  dtype: string;
  shape: number[];
  bytes: number;
}

/** What a safetensors header says, without its payload. */
export interface HeaderPreview {
  key: string;
  header_bytes: number;
  metadata: Record<string, string>;
  tensors: HeaderTensor[]; // the first 500
  tensors_total: number;
  claims_note: string;
}

export interface Percentile {
  percent: number;
  value: number;
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
  percentiles: Percentile[]; // 0.1, 1, 50, 99, 99.9: the least value that so many do not exceed
}

/** Finite values of both steps in the same bins. */
export interface Histogram {
  edges: number[]; // one more than bins; empty without a value
  a: number[]; // empty without a step to compare with
  b: number[];
}

export interface UlpCount {
  up_to: number;
  count: number;
}

/** How b differs from a, element by element. */
export interface ValuesMoved {
  changed: number; // bits
  sign_flips: number;
  nan_involved: number; // of the changed ones; in nothing below
  max_abs: number | null;
  norm: number | null; // L2 of b - a; null: it is infinite
  relative_norm: number | null; // over the norm of a; null: it has none, or no element that differs is finite
  ulp: UlpCount[]; // by distance in representable values: 1, 2, up to 4, up to 8 …
}

/** Of one tensor at two steps. */
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
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  notices: Problem[]; // objects that could not be compared with what is on record of them
  seconds: number;
}

/** Steps whose values could not be read. */
export interface UnreadSteps {
  first: number;
  last: number;
  why: string;
}

/** Of one tensor at the last steps up to one. */
export interface StatisticsHistory {
  tensor: string;
  dtype: string;
  steps: TensorValues[]; // ascending
  unread: UnreadSteps[]; // ascending
  rewritten: string[]; // keys of objects that were rewritten since they were first seen, and accepted
  notices: Problem[]; // objects that could not be compared with what is on record of them
  seconds: number;
}

/** What statistics would read. */
export interface StatisticsCost {
  read_bytes: number; // payload
  tensor_bytes: number; // at one step
  steps: number; // whose values would be shown
}

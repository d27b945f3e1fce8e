// The JSON of the HTTP API (docs/http-api.md), as app/view writes it. Bytes, elements and steps are integers; times are
// microseconds since 1970 (`_us`, `published_at`, `modified_at`); what is not known is null and stays null on screen.

import type { Alert, FeedChange, Gap, HeatChange, ReplicaChange, RunSummary, Step, StepChange, Task } from './generated';

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

export type StepRow = Step | Gap;

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
  step: StepChange;
  heat: HeatChange;
  replica: ReplicaChange;
  task: Task;
  alert: Alert;
  feed: FeedChange;
  reset: Record<string, never>;
}
export type Topic = keyof EventMap;

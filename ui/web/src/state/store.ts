import { computed, effect, signal } from '@preact/signals';
import { ApiError, runPath, session } from '../api/client';
import { EventStream, type StreamEvent } from '../api/events';
import { browserHost } from '../api/stream_host';
import type { ActInfo, AlertList, Capabilities, RunDetail, RunList, Scope, Task } from '../api/types';
import { alertsAfter, applyToDetail, byAttention, runsAfter, tasksAfter } from './apply';
import { newest } from './cursor';
import { loadBehind } from './loadBehind';

// What all pages share. Data of one page is loaded by useResource.

export const capabilities = signal<Capabilities | null>(null);
export const runs = signal<RunList | null>(null);
export const openRun = signal<string | null>(null); // id
export const detail = signal<RunDetail | null>(null); // of the open run
export const tasks = signal<Task[] | null>(null);
export const alerts = signal<AlertList | null>(null);
/** What the daemon can do; only for those who may act. */
export const acts = signal<ActInfo[] | null>(null);

const failures = signal<Record<string, ApiError>>({}); // by what was loaded
/** The first thing that went wrong while the shared data was loaded; the data from before stays. */
export const failure = computed(() => Object.values(failures.value)[0] ?? null);

function setFailure(what: string, error: ApiError | null): void {
  const { [what]: _, ...others } = failures.peek();
  failures.value = error ? { ...others, [what]: error } : others;
}

/** Grows when everything is to be fetched again: after a reset, and because the user wants it. */
export const generation = signal(0);

/** Wall clock, once per second, for ages. */
export const now = signal(Date.now());
export const heardAt = signal<number | null>(null);
/** Too many pages are open for a stream: this one asks again every few seconds. */
export const polling = signal(false);
const staleMs = 40_000;
/** Seconds without contact, once they matter. */
export const staleFor = computed(() => {
  const at = heardAt.value;
  return at !== null && now.value - at > staleMs ? Math.round((now.value - at) / 1000) : null;
});

function may(scope: Scope): boolean {
  return capabilities.value !== null && !capabilities.value.read_only && capabilities.value.scopes.includes(scope);
}
export const mayAct = computed(() => may('act'));
export const mayAdmin = computed(() => may('admin'));
export const firing = computed(() => alerts.value?.alerts.filter((alert) => alert.state === 'firing').length ?? 0);

/** Grows when an act on the open run has ended: its names and pins may be others. */
const acted = signal(0);

const listeners = new Set<(event: StreamEvent) => void>();
/** Calls `listener` with each event of the stream until the returned function is called. */
export function listen(listener: (event: StreamEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** Takes one event into the shared data. */
export function receive(event: StreamEvent): void {
  if (event.topic === 'reset') generation.value += 1;
  if (runs.value) runs.value = runsAfter(runs.value, event);
  if (tasks.value) tasks.value = tasksAfter(tasks.value, event);
  if (event.topic === 'task' && event.data.state === 'done' && event.data.run === openRun.value) acted.value += 1;
  if (alerts.value) alerts.value = alertsAfter(alerts.value, event);
  if (detail.value) detail.value = applyToDetail(detail.value, event);
  for (const listener of listeners) listener(event);
}

async function load<T>(
  what: string, path: string, take: (value: T) => void, abort: AbortSignal, after: (value: T, event: StreamEvent) => T = (value) => value,
): Promise<void> {
  try {
    take(await loadBehind<T>(path, abort, listen, after));
    setFailure(what, null);
  } catch (error) {
    if (!abort.aborted && error instanceof ApiError && error.problem.status !== 401) setFailure(what, error);
  }
}

export const stream = new EventStream(browserHost);

/** Asks who we are. */
export async function loadCapabilities(): Promise<void> {
  const abort = new AbortController();
  await load<Capabilities>('capabilities', 'capabilities', (value) => {
    capabilities.value = value;
    session.value = value.signed_in ? 'signed-in' : 'signed-out';
  }, abort.signal);
}

export function startStore(): void {
  stream.onEvent = receive;
  stream.onPolling = (on) => {
    polling.value = on;
  };
  stream.onContact = (at) => {
    heardAt.value = at;
    // Another tab has signed in.
    if (session.peek() === 'signed-out') void loadCapabilities();
  };
  setInterval(() => {
    now.value = Date.now();
    void stream.check();
  }, 1000);
  let started = false;
  effect(() => {
    if (session.value !== 'signed-in') return stream.stop();
    if (started) stream.reconnect();
    else stream.start();
    started = true;
  });
  effect(() => {
    if (session.value !== 'signed-in') return;
    void generation.value;
    const abort = new AbortController();
    void load<RunList>('runs', 'runs', (list) => (runs.value = { ...list, runs: byAttention(list.runs) }), abort.signal, runsAfter);
    void load<{ tasks: Task[] }>(
      'tasks', 'tasks', (list) => (tasks.value = list.tasks), abort.signal, (list, event) => ({ tasks: tasksAfter(list.tasks, event) }),
    );
    void load<AlertList>('alerts', 'alerts', (list) => (alerts.value = list), abort.signal, alertsAfter);
    return () => abort.abort();
  });
  effect(() => {
    if (session.value !== 'signed-in' || !mayAct.value) return;
    const abort = new AbortController();
    void load<{ acts: ActInfo[] }>('acts', 'acts', (list) => (acts.value = list.acts), abort.signal);
    return () => abort.abort();
  });
  effect(() => {
    const id = openRun.value;
    void generation.value;
    void acted.value;
    if (id === null || session.value !== 'signed-in') return;
    if (detail.peek()?.id !== id) detail.value = null;
    const abort = new AbortController();
    void load<RunDetail>('run', runPath(id), (value) => (detail.value = value), abort.signal, applyToDetail);
    return () => {
      abort.abort();
      setFailure('run', null);
    };
  });
  effect(() => {
    const kpi = detail.value?.kpi;
    const step = kpi?.newest ?? kpi?.latest ?? null;
    newest.value = step === null ? null : { epoch: kpi?.latest_epoch ?? 0, step };
  });
}

import type { StreamEvent } from '../api/events';
import type { Alert, AlertList, FeedItem, Replica, RunDetail, RunList, RunSummary, StepRow, Task } from '../api/types';

// Pure steps from what the page knows to what it knows after one event.

const feedLimit = 100;

/** Runs that need attention first; the order of equals stays. */
export function byAttention(runs: RunSummary[]): RunSummary[] {
  return [...runs].sort((x, y) => y.attention - x.attention);
}

export function withRun(list: RunList, run: RunSummary): RunList {
  const known = list.runs.some((old) => old.id === run.id);
  const runs = known ? list.runs.map((old) => (old.id === run.id ? run : old)) : [...list.runs, run];
  return { rev: Math.max(list.rev, run.rev), runs: byAttention(runs) };
}

export function withReplica(detail: RunDetail, replica: Replica): RunDetail {
  const known = detail.replicas.some((old) => old.id === replica.id);
  const replicas = known
    ? detail.replicas.map((old) => (old.id === replica.id ? replica : old))
    : [...detail.replicas, replica];
  return { ...detail, replicas };
}

const isSame = (x: FeedItem, y: FeedItem) => x.t_us === y.t_us && x.kind === y.kind && x.step === y.step && x.text === y.text;

/** An item that is there already came with an answer that is newer than the event. */
export function withFeedItem(detail: RunDetail, item: FeedItem): RunDetail {
  if (detail.feed.some((known) => isSame(known, item))) return detail;
  return { ...detail, feed: [item, ...detail.feed].slice(0, feedLimit) };
}

/** The end of the run and what is wrong with the step. */
function withStep(detail: RunDetail, row: StepRow): RunDetail {
  const last = row.kind === 'gap' ? row.step - 1 : row.step;
  const problems = row.kind === 'gap' ? detail.problems : [...detail.problems.filter(({ step }) => step !== row.step), ...row.problems];
  return { ...detail, last_step: Math.max(detail.last_step ?? last, last), problems };
}

/** A run's detail after an event; the same object if the event does not concern it. */
export function applyToDetail(detail: RunDetail, event: StreamEvent): RunDetail {
  switch (event.topic) {
    case 'run':
      return event.data.id === detail.id ? { ...detail, ...event.data } : detail;
    case 'replica':
      return event.data.run === detail.id ? withReplica(detail, event.data.replica) : detail;
    case 'feed':
      return event.data.run === detail.id ? withFeedItem(detail, event.data.item) : detail;
    case 'step':
      return event.data.run === detail.id ? withStep(detail, event.data.step) : detail;
    default:
      return detail;
  }
}

export function withTask(tasks: Task[], task: Task): Task[] {
  const known = tasks.some((old) => old.id === task.id);
  return known ? tasks.map((old) => (old.id === task.id ? task : old)) : [task, ...tasks];
}

export function withAlert(list: AlertList, alert: Alert): AlertList {
  const others = list.alerts.filter((old) => old.id !== alert.id);
  const rank = (a: Alert) => (a.state === 'cleared' ? 1 : 0);
  const alerts = [alert, ...others].sort((x, y) => rank(x) - rank(y) || y.last_us - x.last_us);
  return { ...list, alerts };
}

export const runsAfter = (list: RunList, event: StreamEvent): RunList => (event.topic === 'run' ? withRun(list, event.data) : list);
export const tasksAfter = (list: Task[], event: StreamEvent): Task[] => (event.topic === 'task' ? withTask(list, event.data) : list);
export const alertsAfter = (list: AlertList, event: StreamEvent): AlertList => (event.topic === 'alert' ? withAlert(list, event.data) : list);

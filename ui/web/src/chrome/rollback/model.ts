import type { ChangedTensor, Plan, Replica, RollBackReport, Task } from '../../api/types';
import { bytes, exact, percent, plural } from '../../format';
import { isPoisoned } from '../../pages/live/replicaState';
import { isOver } from '../../state/task';

// What the wizard says, apart from how it looks.

export interface Part {
  name: string;
  text: string;
  state: 'over' | 'now' | 'ahead' | 'failed';
}

/** Where the wizard stands. */
export function partsOf(kind: 'rollback' | 'undo', target: string, plan: Plan | null, failed: boolean, task: Task | null): Part[] {
  const ready = plan?.state === 'ready';
  const ended = task !== null && isOver(task);
  const done = task?.state === 'done';
  const at = (over: boolean, now: boolean, broken: boolean): Part['state'] => (over ? 'over' : broken ? 'failed' : now ? 'now' : 'ahead');
  return [
    { name: 'Target', text: target, state: 'over' },
    { name: 'Read and compare', text: ready ? 'both states were read' : failed ? 'not possible' : 'reads both states', state: at(ready, !failed, failed && !ready) },
    { name: 'Look and confirm', text: ready ? plural(plan.act?.writes.length ?? 0, 'object') + ' to write' : '', state: at(task !== null, ready, ready && failed) },
    { name: kind === 'undo' ? 'Undo' : 'Roll back', text: done ? 'published and read back' : ended ? task.state : '', state: at(done, task !== null && !ended, ended && !done) },
    { name: 'Loaded', text: '', state: at(false, done, false) },
  ];
}

/** "3.1 GB of 15.2 GB"; nothing while nothing is known. */
export function amount(done: number, total: number): string {
  return total > 0 ? `${bytes(done)} of ${bytes(total)}` : done > 0 ? bytes(done) : '';
}

export interface ShareBar {
  name: string;
  width: number; // 0…1, of the largest
  share: string;
  counts: string;
}

/** The changed tensors, those with the largest changed share first. */
export function barsOf(changes: readonly ChangedTensor[]): ShareBar[] {
  const shareOf = ({ elems, changed_elems: changed }: ChangedTensor) => (elems > 0 ? changed / elems : 0);
  const sorted = [...changes].sort((x, y) => shareOf(y) - shareOf(x));
  const largest = sorted[0] ? shareOf(sorted[0]) : 0;
  return sorted.map((tensor) => ({
    name: tensor.name, width: largest > 0 ? shareOf(tensor) / largest : 0, share: percent(shareOf(tensor)),
    counts: `${exact(tensor.changed_elems)} of ${exact(tensor.elems)}`,
  }));
}

/** Whether its heartbeat can be relied on. */
const isHeard = (replica: Replica) => replica.state !== 'stopped' && !replica.late && !replica.foreign && replica.doubt === null && replica.step !== null;

/** Who serves a step now, in their own words. A replica that gives no sign of life is not one of them. */
export function loadedText(replicas: readonly Replica[], step: number): string {
  if (replicas.length === 0) return 'Who has loaded it is not known here: no replica writes heartbeats beside this run.';
  const heard = replicas.filter(isHeard);
  const serving = heard.filter((replica) => replica.step === step && !isPoisoned(replica)).length;
  const newer = heard.filter((replica) => (replica.step ?? 0) > step).length;
  const silent = replicas.length - heard.length;
  return [
    `${serving} of ${plural(replicas.length, 'replica')} ${serving === 1 || replicas.length === 1 ? 'serves' : 'serve'} step ${step}`,
    ...(newer > 0 ? [`${newer} a newer one`] : []),
    ...(silent > 0 ? [`of ${silent} it is not known`] : []),
  ].join(', ') + '.';
}

/** The end in one sentence. */
export function outcomeText(report: RollBackReport): string {
  return report.was_there
    ? `Step ${report.step} restores step ${report.to} already: nothing was written.`
    : `Step ${report.step} restores step ${report.to}.`;
}

/** Whether what was typed is the word that is asked for. */
export const confirms = (typed: string, wanted: string | null) => wanted === null || typed.trim() === wanted;

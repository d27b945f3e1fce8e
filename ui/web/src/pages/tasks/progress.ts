import type { Task } from '../../api/types';
import { bytes, duration, percent, rate } from '../../format';

export const over = (task: Task) => task.state === 'done' || task.state === 'failed' || task.state === 'canceled';

/** Bytes per second of a task that is over, pauses included; nothing: not known. */
export const meanRate = (task: Task) => (over(task) && task.done > 0 && task.elapsed_s > 0 ? task.done / task.elapsed_s : undefined);

/** How long the task will still take; nothing is said while it cannot be known, and never "0 s" while work remains. */
export function remaining(task: Task): string {
  if (task.state !== 'running' || task.elapsed_s < 2) return '';
  if (task.rate === 0) return 'waiting for data';
  if (task.eta_s === null) return '';
  return task.eta_s < 1 ? 'finishing' : `about ${duration(Math.ceil(task.eta_s))} left`;
}

/** How long so many bytes took, and how many that are per second: "2.0 s, 1.2 GB/s". */
export const took = (done: number, seconds: number): string =>
  seconds > 0 ? `${duration(seconds)}, ${rate(done / seconds)}` : duration(seconds);

/** "9.6 GB of 15.2 GB", "1.9 GB/s", "about 3.0 s left": what is known. */
export function progressTexts(task: Task): string[] {
  if (over(task)) return [`took ${duration(task.elapsed_s)}`];
  const amount = task.total > 0 ? `${bytes(task.done)} of ${bytes(task.total)}` : bytes(task.done);
  const share = task.total > 0 ? percent(task.done / task.total) : '';
  return [share, amount, task.rate > 0 ? rate(task.rate) : '', remaining(task)].filter((text) => text !== '');
}

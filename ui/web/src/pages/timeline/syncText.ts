import type { Bar } from '../../api/types';
import { safeName } from '../../format';

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** One line for a log or a chat: "step 1217 r2: total 14.00 s, paused 4.01 s; upload 8.10 s, …" */
export function syncText(bar: Bar): string {
  const who = bar.actor === '' ? '' : ` ${safeName(bar.actor)}`;
  const paused = bar.pause_ms === null ? '' : `, paused ${seconds(bar.pause_ms)}`;
  const phases = [...bar.phases].reverse().map(({ phase, ms }) => `${safeName(phase)} ${seconds(ms)}`);
  return `step ${bar.step}${who}: total ${seconds(bar.total_ms)}${paused}; ${phases.join(', ')}`;
}

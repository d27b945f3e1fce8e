// Bars of sync time as a table: seconds per group of phases.

import type { Bar } from '../api/types';
import type { Twin } from './export';
import { GROUPS, stretches } from './phases';

const seconds = (ms: number): number => Number((ms / 1000).toFixed(3));

export function barsTable(bars: readonly Bar[]): Twin {
  return {
    columns: [
      { name: 'step', number: true }, { name: 'actor' }, { name: 'total, s', number: true },
      { name: 'paused, s', number: true },
      ...GROUPS.filter(({ id }) => id !== 'pause').map(({ text }) => ({ name: `${text.toLowerCase()}, s`, number: true })),
    ],
    rows: bars.map((bar) => {
      const parts = stretches(bar);
      const sum = (id: string): number =>
        seconds(parts.filter(({ group }) => group === id).reduce((ms, part) => ms + part.to - part.from, 0));
      return [
        bar.step, bar.actor, seconds(bar.total_ms), bar.pause_ms === null ? null : seconds(bar.pause_ms),
        ...GROUPS.filter(({ id }) => id !== 'pause').map(({ id }) => sum(id)),
      ];
    }),
  };
}

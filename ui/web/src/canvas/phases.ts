// Phases of a weight sync: their colors and groups. Vermillion is pause and nothing else.

import type { Bar } from '../api/types';
import type { Palette } from './palette';

export type Group = 'pause' | 'verify' | 'fetch' | 'upload' | 'diff' | 'other';

/** From bottom to top of a bar, with the words of the legend. */
export const GROUPS: { id: Group; text: string }[] = [
  { id: 'pause', text: 'Paused' },
  { id: 'verify', text: 'Verify' },
  { id: 'fetch', text: 'Fetch, stage' },
  { id: 'upload', text: 'Upload' },
  { id: 'diff', text: 'Diff, encode' },
  { id: 'other', text: 'Waiting, other' },
];

const OF: Record<string, Group> = {
  verify: 'verify', fetch: 'fetch', stage: 'fetch', upload: 'upload', diff: 'diff', encode: 'diff',
};

export const groupOf = (phase: string): Group =>
  phase === 'pause' || phase.startsWith('pause.') ? 'pause' : (OF[phase] ?? 'other');

export const colorOf = (group: Group, colors: Palette): string => colors[group];

/** A stretch of a bar, in milliseconds from its bottom. */
export interface Stretch {
  group: Group;
  from: number;
  to: number;
}

/** The phases of a bar with neighbors of one group merged. */
export function stretches(bar: Bar): Stretch[] {
  const out: Stretch[] = [];
  let at = 0;
  for (const { phase, ms } of bar.phases) {
    const group = groupOf(phase);
    const last = out.at(-1);
    if (last?.group === group) last.to += ms;
    else if (ms > 0) out.push({ group, from: at, to: at + ms });
    at += ms;
  }
  return out;
}

/** One bar per step: that of the slowest replica, or of one actor. */
export function barsOf(bars: readonly Bar[], actor: string | null): Bar[] {
  return bars.filter((bar) => (actor === null ? bar.slowest : bar.actor === actor));
}

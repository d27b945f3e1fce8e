// How changed shares are colored, the same on all pages and runs.

import { signal } from '@preact/signals';
import type { MapName, Window } from './colors';
import type { Agg } from './tiles';

export interface Scale {
  map: MapName;
  window: Window;
  agg: Agg;
}

export const WINDOWS: { text: string; window: Window }[] = [
  { text: 'log 0.01 … 10 %', window: { lo: 1e-4, hi: 0.1 } },
  { text: 'log 0.1 … 100 %', window: { lo: 1e-3, hi: 1 } },
  { text: 'log 0.001 … 1 %', window: { lo: 1e-5, hi: 0.01 } },
  { text: 'log 0.0001 … 100 %', window: { lo: 1e-6, hi: 1 } },
];

export const scale = signal<Scale>({ map: 'cividis', window: WINDOWS[0]!.window, agg: 'max' });

/** While locked, dragging the legend changes nothing. */
export const scaleLocked = signal(true);

import type { SeriesColumns } from '../api/types';

/** One series of a plot. Bars start at 0. Colors are tokens: "accent". */
export interface PlotSeries {
  label: string;
  draw: 'line' | 'bars' | 'steps';
  color: string;
  columns: SeriesColumns;
  width?: number;
}

export interface PlotLabel {
  x: number;
  y: number;
  text: string;
}

/** Columns of values that were not decimated. */
export function plainColumns(x: number[], values: number[]): SeriesColumns {
  return { x, first: values, min: values, max: values, last: values };
}

/**
 * Exponential smoothing with the bias of its start taken out: s = w·s + (1 − w)·y, divided by 1 − wⁿ after n values.
 * Values that are not finite are skipped; a series that is constant stays as it is.
 */
export function smooth(values: readonly number[], w: number): number[] {
  if (w <= 0 || values.every((y) => y === values[0])) return [...values];
  let s = 0;
  let n = 0;
  return values.map((y) => {
    if (!Number.isFinite(y)) return y;
    n += 1;
    s = w * s + (1 - w) * y;
    return s / (1 - w ** n);
  });
}

/**
 * The columns of several series on one x axis. `undefined` where another series has a point: the line goes on there.
 * `null` in the middle of a hole in the steps: the line ends.
 */
export function align(series: readonly { x: readonly number[]; y: readonly number[] }[]): {
  x: number[];
  y: (number | null | undefined)[][];
} {
  const holes = series.map(({ x }) => holesOf(x));
  const all = new Set([...series.map(({ x }) => x), ...holes].flat());
  const x = [...all].sort((p, q) => p - q);
  const at = new Map(x.map((value, i) => [value, i]));
  const y = series.map((one, k) => {
    const column = new Array<number | null | undefined>(x.length).fill(undefined);
    for (const hole of holes[k] ?? []) column[at.get(hole) ?? 0] = null;
    one.x.forEach((value, i) => (column[at.get(value) ?? 0] = one.y[i] ?? null));
    return column;
  });
  return { x, y };
}

/** Places between neighbors that are much further apart than usual. Anchors, which have no value, are no holes. */
function holesOf(x: readonly number[]): number[] {
  const gaps = x.slice(1).map((value, i) => value - (x[i] ?? value));
  const usual = [...gaps].sort((p, q) => p - q)[gaps.length >> 1] ?? 1;
  return gaps.flatMap((gap, i) => (gap > 3 * usual ? [(x[i] ?? 0) + gap / 2] : []));
}

/** The index of the value next to `wanted` in an ascending list; -1 in an empty one. */
export function nearest(x: readonly number[], wanted: number): number {
  let low = 0;
  let high = x.length - 1;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((x[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  const before = x[low - 1];
  return before !== undefined && wanted - before < (x[low] ?? Infinity) - wanted ? low - 1 : high < 0 ? -1 : low;
}

/** Every point of the series as it is drawn, one row per step. */
export function tableOf(series: readonly PlotSeries[]): { step: number; values: (number | null)[] }[] {
  const { x, y } = align(series.map(({ columns }) => ({ x: columns.x, y: columns.last })));
  return x
    .map((step, i) => ({ step, values: y.map((column) => column[i] ?? null) }))
    .filter(({ values }) => values.some((value) => value !== null));
}

export function csvOf(series: readonly PlotSeries[], unit: string): string {
  const quote = (text: string) => `"${text.replaceAll('"', '""')}"`;
  const head = ['step', ...series.map(({ label }) => quote(unit === '' ? label : `${label} (${unit})`))];
  const rows = tableOf(series).map(({ step, values }) => [step, ...values.map((value) => value ?? '')]);
  return [head, ...rows].map((row) => row.join(',')).join('\n') + '\n';
}

/** A range after zooming by `factor` around `center`, at least two steps wide and within [lo, hi]. */
export function zoomed(range: [number, number], center: number, factor: number, limit: [number, number]): [number, number] {
  const lo = Math.round(center - (center - range[0]) * factor);
  const hi = Math.round(center + (range[1] - center) * factor);
  if (hi - lo < 2) return range;
  return [Math.max(limit[0], lo), Math.min(limit[1], hi)];
}

export function panned(range: [number, number], by: number, limit: [number, number]): [number, number] {
  const shift = Math.round(Math.max(limit[0] - range[0], Math.min(limit[1] - range[1], by)));
  return [range[0] + shift, range[1] + shift];
}

export interface PlacedFlag {
  x: number;
  text: string;
  side: 'right' | 'left' | 'none'; // where its word stands; none: there is no room for it
}

/** Gives words of flags the side on which they touch neither the next flag nor another word. */
export function placeFlags(flags: readonly { x: number; width: number; text: string }[], left: number, right: number): PlacedFlag[] {
  const sorted = [...flags].sort((p, q) => p.x - q.x);
  let free = left;
  return sorted.map(({ x, width, text }, i) => {
    const side = x + width <= (sorted[i + 1]?.x ?? right) ? 'right' : x - width >= free ? 'left' : 'none';
    free = side === 'right' ? x + width : x;
    return { x, text, side };
  });
}

import type { Statistics, TensorValues, ValuesMoved } from '../../api/types';
import { numberText } from '../../canvas/export';
import { exact, unknown } from '../../format';

export function value(x: number | null): string {
  if (x === null) return unknown;
  if (Math.abs(x) === Infinity) return x < 0 ? '−∞' : '∞';
  return numberText(x === 0 ? x : Number(x.toPrecision(6)));
}

/** Name, value at A, value at B. */
export type StatisticRow = [name: string, a: string, b: string];

const percentileNames = ['p0.1', 'p1', 'median', 'p99', 'p99.9'];

export function statisticRows(a: TensorValues | null, b: TensorValues, number = value, count: (n: number) => string = exact): StatisticRow[] {
  const row = (name: string, of: (v: TensorValues) => string): StatisticRow => [name, a === null ? '' : of(a), of(b)];
  return [
    row('min', (v) => number(v.min)),
    ...percentileNames.map((name, i) => row(name, (v) => number(v.percentiles[i]?.value ?? null))),
    row('max', (v) => number(v.max)),
    row('mean', (v) => number(v.mean)),
    row('std', (v) => number(v.std)),
    row('L2 norm', (v) => number(v.norm)),
    row('zeros', (v) => count(v.zeros)),
    row('NaN', (v) => count(v.nan)),
    row('infinite', (v) => count(v.positive_infinite + v.negative_infinite)),
  ];
}

/** With all digits, for spreadsheets. */
export function statisticsTsv({ a, b, moved }: Statistics): string {
  const all = (x: number | null): string => (x === null ? '' : numberText(x));
  const rows = [
    ['statistic', a === null ? '' : `A ${a.step}`, `B ${b.step}`],
    ...statisticRows(a, b, all, String),
    ...(moved === null ? [] : [
      ['changed', '', String(moved.changed)], ['sign flips', '', String(moved.sign_flips)],
      ['max |Δ|', '', all(moved.max_abs)], ['relative L2', '', all(moved.relative_norm)],
    ]),
  ];
  return rows.map((row) => row.join('\t')).join('\n');
}

/** The outline of a histogram in a box of 100 by 40. */
export function bars(counts: readonly number[], most: number, closed: boolean): string {
  const each = 100 / counts.length;
  const y = (count: number): string => (40 - (most === 0 ? 0 : (count / most) * 40)).toFixed(2);
  const steps = counts.map((count, i) => `L${(i * each).toFixed(2)} ${y(count)}H${((i + 1) * each).toFixed(2)}`);
  return `M0 40${steps.join('')}${closed ? 'V40Z' : ''}`;
}

const farthest = 16; // with a row of its own

/** Elements by how many representable values they moved. */
export function moved({ changed, ulp }: ValuesMoved, elements: number): [distance: string, count: number][] {
  const rows: [string, number][] = [['0', elements - changed]];
  let from = 1;
  let beyond = 0;
  for (const { up_to, count } of ulp) {
    if (up_to > farthest) beyond += count;
    else rows.push([from === up_to ? `${up_to}` : `${from}–${up_to}`, count]);
    from = up_to + 1;
  }
  return beyond === 0 ? rows : [...rows, [`> ${farthest}`, beyond]];
}

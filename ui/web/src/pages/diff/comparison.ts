// What the page and the files that it saves say of an exact comparison.

import type { Diff, Problem, TensorDiff } from '../../api/types';
import { exact, plural, safeName, shape, unknown } from '../../format';
import type { Pair } from './pair';
import type { Report } from './report';

export const share = (row: TensorDiff): number => (row.elements === 0 ? 0 : row.elements_different / row.elements);
export const small = (x: number): string => (x === 0 ? '0' : x === Infinity ? '∞' : x.toExponential(1));
export const norm = (x: number | null): string => (x === null ? unknown : small(x));

/** Empty: every element is finite. */
export function notFinite({ not_finite_a: a, not_finite_b: b, form_differences: forms }: Diff): string {
  const rounded = forms.some(({ kind }) => kind === 'dtypes') ? ' as rounded, which makes values infinite that are too large for the narrower dtype' : '';
  return a + b === 0 ? '' : `NaN or infinite${rounded}: ${plural(a, 'element')} of A, ${plural(b, 'element')} of B; max |Δ| and the relative L2 leave them out`;
}

const MOST_STEPS = 5;

/** What is wrong with the deltas between two steps: "DS-REWRITTEN of step 4", "DS-CORRUPT of steps 5, 6". */
export function problemsBetween(problems: readonly Problem[], from: number, to: number): string[] {
  const steps = new Map<string, Set<number>>();
  for (const { code, step, notice } of problems) {
    if (!notice && step !== null && step > from && step <= to) steps.set(code, (steps.get(code) ?? new Set()).add(step));
  }
  return [...steps].map(([code, found]) => {
    const listed = [...found].slice(0, MOST_STEPS).join(', ');
    return `${code} of ${found.size === 1 ? 'step' : 'steps'} ${listed}${found.size > MOST_STEPS ? ` and ${found.size - MOST_STEPS} more` : ''}`;
  });
}

type Fact = Report['facts'][number];

/** What must be known beside the numbers: how the sides were compared, and of which bytes. */
const qualifications = (diff: Diff): Fact[] => [
  ...diff.form_differences.map(({ text }): Fact => ['compared as', safeName(text)]),
  ...(diff.adapters === null ? [] : [['adapters', safeName(diff.adapters)] as Fact]),
  ...diff.settings.map(({ name, a, b }): Fact => ['settings', safeName(`${name} is ${JSON.stringify(a)} in A and ${JSON.stringify(b)} in B`)]),
  ...diff.rewritten.map((key): Fact => ['read', safeName(`rewritten and used: ${key}`)]),
  ...diff.notices.map(({ code, text }): Fact => ['read', safeName(`${code} ${text}`)]),
];

export function reportOf({ runId, a, b }: Pair, diff: Diff): Report {
  const counts: Fact[] = diff.nothing_compared !== null ? [['compared', diff.nothing_compared]] : [
    ['tensors different', `${exact(diff.tensors_different)} of ${exact(diff.tensors_total)}`],
    ['elements different', `${exact(diff.elements_different)} of ${exact(diff.elements_total)}`],
  ];
  return {
    title: `Difference between ${a} and ${b}`,
    file: `${runId}-diff-${a}-${b}`,
    facts: [
      ...counts,
      ['relative L2', norm(diff.relative_norm)],
      ...(notFinite(diff) === '' ? [] : [['not finite', notFinite(diff)] as Fact]),
      ...qualifications(diff),
      ['only in A', exact(diff.only_in_a.length)], ['only in B', exact(diff.only_in_b.length)],
      ['another shape or dtype', exact(diff.changed_dtype_or_shape.length)],
    ],
    columns: ['tensor', 'dtype', 'shape', 'elements', 'different', 'touched', 'max_abs', 'relative_l2', 'max_ulp', 'sign_flips', 'nan_involved'],
    rows: [...diff.tensors].sort((x, y) => share(y) - share(x)).map((row) => [
      row.name, row.dtype, shape(row.shape), row.elements, row.elements_different, row.elements_touched, row.max_abs,
      row.relative_norm, row.max_ulp, row.sign_flips, row.nan_involved,
    ]),
  };
}

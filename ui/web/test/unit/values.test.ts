import { describe, expect, it } from 'vitest';
import { bars, moved, statisticRows, statisticsTsv } from '../../src/pages/heatmap/values';
import type { Statistics, TensorValues } from '../../src/api/types';

const values = (step: number, more: Partial<TensorValues> = {}): TensorValues => ({
  step, zeros: 1200, nan: 0, positive_infinite: 1, negative_infinite: 2, finite: 3000, min: -0.5, max: 0.5, mean: 0, std: 0.02,
  norm: 1.5, percentiles: [0.1, 1, 50, 99, 99.9].map((percent) => ({ percent, value: percent / 100 })), ...more,
});

const statistics: Statistics = {
  tensor: 't', dtype: 'BF16', shape: [3, 1001], elements: 3003, a: values(11), b: values(12, { mean: 1 / 3 }),
  linear: { edges: [-0.5, 0, 0.5], a: [1, 2], b: [2, 1] }, logarithmic: { edges: [], a: [], b: [] },
  moved: { changed: 30, sign_flips: 2, nan_involved: 0, max_abs: 0.25, norm: 0.5, relative_norm: 1 / 3, ulp: [] }, rewritten: [], notices: [], seconds: 0.1,
};

describe('statistics', () => {
  it('stand beside each other at A and B', () => {
    const rows = statisticRows(statistics.a, statistics.b);
    expect(rows.find(([name]) => name === 'mean')).toEqual(['mean', '0', '0.333333']);
    expect(rows.find(([name]) => name === 'zeros')).toEqual(['zeros', '1,200', '1,200']);
    expect(rows.find(([name]) => name === 'infinite')).toEqual(['infinite', '3', '3']);
    expect(rows.find(([name]) => name === 'p99')).toEqual(['p99', '0.99', '0.99']);
  });
  it('are unknown without a finite value', () => {
    const rows = statisticRows(null, values(1, { min: null, percentiles: [] }));
    expect(rows.find(([name]) => name === 'min')).toEqual(['min', '', '–']);
    expect(rows.find(([name]) => name === 'median')).toEqual(['median', '', '–']);
  });
  it('are copied with all digits', () => {
    const lines = statisticsTsv(statistics).split('\n');
    expect(lines[0]).toBe('statistic\tA 11\tB 12');
    expect(lines).toContain('mean\t0\t0.3333333333333333');
    expect(lines).toContain('zeros\t1200\t1200');
    expect(lines.at(-1)).toBe('relative L2\t\t0.3333333333333333');
  });
});

describe('how far elements moved', () => {
  it('is told in steps of the type, far ones together', () => {
    const ulp = [1, 2, 4, 8, 16, 32, 64].map((up_to) => ({ up_to, count: up_to }));
    const told = moved({ ...statistics.moved!, changed: 127, ulp }, 1000);
    expect(told).toEqual([['0', 873], ['1', 1], ['2', 2], ['3–4', 4], ['5–8', 8], ['9–16', 16], ['> 16', 96]]);
  });
});

describe('histograms', () => {
  it('reach from the ground to the fullest bin', () => {
    expect(bars([2, 1], 2, true)).toBe('M0 40L0.00 0.00H50.00L50.00 20.00H100.00V40Z');
    expect(bars([0, 0], 0, false)).toBe('M0 40L0.00 40.00H50.00L50.00 40.00H100.00');
  });
});

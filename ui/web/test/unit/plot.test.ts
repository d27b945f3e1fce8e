import { describe, expect, it } from 'vitest';
import { align, csvOf, nearest, panned, placeFlags, plainColumns, smooth, tableOf, zoomed } from '../../src/plot/model';

describe('smooth', () => {
  it('starts at the first value', () => {
    expect(smooth([4, 8], 0.9)[0]).toBeCloseTo(4, 12);
  });
  it('follows the filter with its bias taken out', () => {
    const [, second] = smooth([1, 2], 0.5);
    expect(second).toBeCloseTo((0.5 * 0.5 + 0.5 * 2) / 0.75, 12);
  });
  it('leaves a constant and missing values as they are', () => {
    expect(smooth([3, 3, 3], 0.99)).toEqual([3, 3, 3]);
    const out = smooth([1, NaN, 3], 0.5);
    expect(out[1]).toBeNaN();
    expect(out[2]).toBeCloseTo((0.5 * 0.5 * 1 + 0.5 * 3) / 0.75, 12);
  });
});

describe('align', () => {
  it('puts series on one axis and does not break lines at the points of others', () => {
    expect(align([{ x: [1, 3], y: [10, 30] }, { x: [2], y: [5] }])).toEqual({ x: [1, 2, 3], y: [[10, undefined, 30], [undefined, 5, undefined]] });
  });
  it('breaks a line at a hole, but not at one anchor without a value', () => {
    const { x, y } = align([{ x: [1, 2, 4, 5, 20, 21], y: [1, 1, 1, 1, 1, 1] }]);
    expect(x).toEqual([1, 2, 4, 5, 12.5, 20, 21]);
    expect(y[0]).toEqual([1, 1, 1, 1, null, 1, 1]);
  });
});

describe('nearest', () => {
  it('finds the next value', () => {
    expect([0, 4, 6, 99].map((x) => nearest([1, 5, 9], x))).toEqual([0, 1, 1, 2]);
    expect(nearest([], 1)).toBe(-1);
  });
});

describe('table and CSV', () => {
  const series = [
    { label: 'a', draw: 'line' as const, color: 'accent', columns: plainColumns([1, 2], [10, 20]) },
    { label: 'b "x"', draw: 'line' as const, color: 'accent', columns: plainColumns([2], [5]) },
  ];
  it('leave missing values missing', () => {
    expect(tableOf(series)).toEqual([{ step: 1, values: [10, null] }, { step: 2, values: [20, 5] }]);
    expect(csvOf(series, 's')).toBe('step,"a (s)","b ""x"" (s)"\n1,10,\n2,20,5\n');
  });
});

describe('range', () => {
  it('stays within the limits and does not vanish', () => {
    expect(zoomed([0, 100], 50, 0.5, [0, 100])).toEqual([25, 75]);
    expect(zoomed([10, 12], 11, 0.1, [0, 100])).toEqual([10, 12]);
    expect(zoomed([0, 100], 50, 3, [0, 120])).toEqual([0, 120]);
    expect(panned([10, 20], 200, [0, 100])).toEqual([90, 100]);
    expect(panned([10, 20], -200, [0, 100])).toEqual([0, 10]);
  });
});

describe('flags', () => {
  const sides = (...flags: [x: number, width: number][]) => placeFlags(flags.map(([x, width]) => ({ x, width, text: '' })), 0, 100).map(({ x, side }) => `${x} ${side}`);
  it('have their word on the right, at the edge on the left', () => {
    expect(sides([10, 20], [90, 20])).toEqual(['10 right', '90 left']);
  });
  it('leave out a word that would cover another flag or word', () => {
    expect(sides([50, 40], [60, 20])).toEqual(['50 left', '60 right']);
    expect(sides([10, 40], [20, 20], [25, 20])).toEqual(['10 none', '20 none', '25 right']);
    expect(sides([60, 25], [90, 20])).toEqual(['60 right', '90 none']);
  });
});

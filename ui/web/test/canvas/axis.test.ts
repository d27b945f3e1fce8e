import { describe, expect, it } from 'vitest';
import { cellAt, clamp, fit, levelFor, pan, reveal, seen, show, tickStep, toPixel, valueTicks, zoom } from '../../src/canvas/axis';

const axis = { first: 0, cell: 2, size: 100, count: 200 };

describe('axis', () => {
  it('finds the cell under a pixel and the pixel of a cell', () => {
    const moved = { ...axis, first: 10.5 };
    expect(cellAt(moved, 0)).toBe(10);
    expect(cellAt(moved, 1)).toBe(11);
    expect(toPixel(moved, 11)).toBe(1);
    expect(cellAt(moved, 100)).toBe(-1);
    expect(cellAt({ ...axis, count: 3 }, 50)).toBe(-1);
  });
  it('keeps what is under the mouse in place while zooming', () => {
    const before = { ...axis, first: 40 };
    for (const factor of [1.3, 0.8]) {
      const after = zoom(before, 30, factor);
      expect(after.first + 30 / after.cell).toBeCloseTo(before.first + 30 / before.cell, 9);
    }
  });
  it('never shows empty space beside the cells', () => {
    expect(pan(axis, 1000).first).toBe(0);
    expect(pan(axis, -1000).first).toBe(150);
    expect(seen(zoom(axis, 50, 0.001))).toBe(200);
    expect(clamp({ ...axis, cell: 1e9 }).cell).toBe(64);
    expect(fit({ ...axis, count: 0 }).first).toBe(0);
  });
  it('shows a range and moves as little as needed', () => {
    const range = show(axis, 20, 40);
    expect([range.first, seen(range)]).toEqual([20, 20]);
    expect(reveal(range, 30)).toBe(range);
    expect(reveal(range, 45).first).toBe(26);
    expect(reveal(range, 3).first).toBe(3);
  });
  it('takes the level whose cells are at least one pixel wide', () => {
    expect(levelFor(5, 7)).toBe(0);
    expect(levelFor(1, 7)).toBe(0);
    expect(levelFor(0.99, 7)).toBe(1);
    expect(levelFor(0.5, 7)).toBe(1);
    expect(levelFor(0.124, 7)).toBe(4);
    expect(levelFor(0.0001, 7)).toBe(6);
    for (const cell of [0.9, 0.5, 0.3, 0.11, 0.04]) expect(cell * 2 ** levelFor(cell, 20)).toBeGreaterThanOrEqual(1);
  });
  it('labels steps 1, 2, 5 apart', () => {
    expect(tickStep(7, 80)).toBe(20);
    expect(tickStep(0.1, 80)).toBe(1000);
    expect(tickStep(200, 80)).toBe(1);
    expect(valueTicks(14, 7)).toEqual([0, 2, 4, 6, 8, 10, 12, 14]);
    expect(valueTicks(0, 5)).toEqual([0]);
  });
});

import { describe, expect, it } from 'vitest';
import { binned, blockElements, parseBlocks } from '../../src/canvas/blocks';
import { elementsOf, toTsv, ulpsBetween, valueOf } from '../../src/canvas/elements';
import { value } from '../../src/pages/heatmap/values';
import { blockTable, rowTable } from '../../src/canvas/BlockCanvas';

describe('elements', () => {
  it('counts representable values between two', () => {
    expect(ulpsBetween('3f80', '3f81', 'bf16')).toBe(1);
    expect(ulpsBetween('0x3f80', '0x3f80', 'bf16')).toBe(0);
    expect(ulpsBetween('0000', '8000', 'bf16')).toBe(0);
    expect(ulpsBetween('0001', '8001', 'F16')).toBe(2);
    expect(ulpsBetween('3f800000', '3f7fffff', 'F32')).toBe(1);
    expect(ulpsBetween('01', '02', 'I8')).toBeNull();
  });
  it('counts them of wide floats without rounding, and of scales without a sign', () => {
    expect(ulpsBetween('3ff0000000000000', '3ff0000000000001', 'F64')).toBe(1);
    expect(ulpsBetween('7f', '81', 'F8_E8M0')).toBe(2);
  });
  it('tells NaN, infinities and the sign of zero from what is unknown', () => {
    const read = (bits: string, dtype: string) => valueOf(bits, null, dtype);
    expect([read('7fc0', 'BF16'), read('7f80', 'BF16'), read('ff80', 'BF16'), read('ff81', 'BF16')]).toEqual([NaN, Infinity, -Infinity, NaN]);
    expect([read('7c00', 'F16'), read('ff800000', 'F32'), read('fff0000000000000', 'F64'), read('7c', 'F8_E5M2')]).toEqual([Infinity, -Infinity, -Infinity, Infinity]);
    expect([read('7f', 'F8_E4M3'), read('ff', 'F8_E8M0'), read('00', 'C64')]).toEqual([NaN, NaN, null]);
    expect([valueOf(null, null, 'BF16'), valueOf('3f80', 1, 'BF16')]).toEqual([null, 1]);
    expect([NaN, Infinity, -Infinity, -0, 0, null, 0.1].map(value)).toEqual(['NaN', '∞', '−∞', '-0', '0', '–', '0.1']);
  });
  it('measures no distance to NaN, and writes all of them into a table', () => {
    const elements = elementsOf({
      tensor: 't', dtype: 'BF16', row: 0, col: 0, rows: 1, cols: 3, a: 1, step: 2, old_bits: ['3f80', '3f80', '0000'],
      new_bits: ['7fc0', '7f80', '8000'], old_values: [1, 1, 0], new_values: [null, null, -0], rewritten: [], notices: [],
    }, 3);
    expect(elements.map((e) => e.ulps)).toEqual([null, 0x7f80 - 0x3f80, 0]);
    expect(toTsv(elements).split('\n').slice(1)).toEqual([
      '0\t0\t0\t3f80\t7fc0\t1\tNaN\tNaN\t', '1\t0\t1\t3f80\t7f80\t1\tInfinity\tInfinity\t16384', '2\t0\t2\t0000\t8000\t0\t-0\t0\t0',
    ]);
  });
  it('places them in the tensor and keeps what is unknown unknown', () => {
    const elements = elementsOf({
      tensor: 't', dtype: 'bf16', row: 2, col: 4, rows: 2, cols: 2, a: 1, step: 2, old_bits: ['3f80', '3f80', null, '7fc0'],
      new_bits: ['3f80', '3f81', '3f80', '7fc0'], old_values: [1, 1, null, null], new_values: [1, 1.0078125, 1, null],
      rewritten: [], notices: [],
    }, 100);
    expect(elements.map((e) => [e.row, e.col, e.index])).toEqual([[2, 4, 204], [2, 5, 205], [3, 4, 304], [3, 5, 305]]);
    expect(elements.map((e) => e.changed)).toEqual([false, true, false, false]);
    expect(elements.map((e) => e.delta)).toEqual([0, 0.0078125, null, NaN]);
    expect(elements.map((e) => e.ulps)).toEqual([0, 1, null, null]);
    expect(toTsv(elements).split('\n')[3]).toBe('304\t3\t4\t\t3f80\t\t1\t\t');
  });
});

describe('blocks', () => {
  const header = {
    tensor: 't', dtype: 'bf16', shape: [3, 5], rows: 3, cols: 5, block_rows: 2, block_cols: 2, rows_per_block: 2, cols_per_block: 3,
    changed: 4, total: 15, dead_rows: 1, dead_cols: 2, gini_rows: null, top_rows: [], a: null, rewritten: [], notices: [],
  };
  const body = (counts: number[]): ArrayBuffer => {
    const head = new TextEncoder().encode(`${JSON.stringify(header)}\n`);
    const bytes = new Uint8Array(head.length + counts.length * 4);
    bytes.set(head);
    const view = new DataView(bytes.buffer);
    counts.forEach((count, i) => view.setUint32(head.length + i * 4, count, true));
    return bytes.buffer;
  };
  it('reads header and counts wherever the header ends', () => {
    const blocks = parseBlocks(body([1, 2, 0, 1, 3, 1, 0, 1, 0, 1, 0, 70_000]));
    expect([...blocks.counts]).toEqual([1, 2, 0, 1]);
    expect([...blocks.rowCounts]).toEqual([3, 1, 0]);
    expect([...blocks.colCounts]).toEqual([1, 0, 1, 0, 70_000]);
  });
  it('show no zeros where nothing was compared', () => {
    const blocks = parseBlocks(body([1, 2, 0, 1, 3, 1, 0, 1, 0, 1, 0, 70_000]));
    expect(rowTable(blocks).rows.map((row) => row[1])).toEqual([null, null, null]);
    expect(blockTable(blocks).rows.map((row) => row[3])).toEqual([null, null, null, null]);
    expect(rowTable({ ...blocks, a: 1 }).rows.map((row) => row[1])).toEqual([3, 1, 0]);
  });
  it('refuses what is cut short', () => {
    expect(() => parseBlocks(body([1, 2, 3]))).toThrow();
    expect(() => parseBlocks(new ArrayBuffer(4))).toThrow();
  });
  it('knows that blocks at the edges are smaller', () => {
    expect([blockElements(header, 0, 0), blockElements(header, 0, 1), blockElements(header, 1, 1)]).toEqual([6, 4, 2]);
  });
  it('sums neighbors', () => {
    expect([...binned(Uint32Array.of(1, 2, 3, 4, 5), 2).sums]).toEqual([6, 9]);
  });
});

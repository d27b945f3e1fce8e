// Elements of one tensor at two steps: bits, values and how far they moved.

import type { ElementWindow } from '../api/types';

export interface Element {
  index: number; // in the tensor, row by row
  row: number;
  col: number;
  oldBits: string | null;
  newBits: string;
  oldValue: number | null;
  newValue: number | null;
  delta: number | null;
  ulps: number | null;
  changed: boolean;
}

const FLOAT = /^(bf16|f16|f32|f64|f8|bfloat16|float)/i;

/** Position of a float among all floats of its width, so that neighbors differ by one. */
function place(bits: string): number {
  const value = BigInt(`0x${bits}`);
  const sign = 1n << BigInt(bits.length * 4 - 1);
  return Number(value >= sign ? sign - value : value);
}

/** Representable values between two; null for what is no float. */
export function ulpsBetween(a: string, b: string, dtype: string): number | null {
  const bits = (text: string): string => text.replace(/^0x/, '');
  return FLOAT.test(dtype) ? Math.abs(place(bits(a)) - place(bits(b))) : null;
}

/** `columns`: of the whole tensor, for the index. */
export function elementsOf(window: ElementWindow, columns: number): Element[] {
  return window.new_bits.map((newBits, at) => {
    const row = window.row + Math.floor(at / window.cols);
    const col = window.col + (at % window.cols);
    const oldBits = window.old_bits[at] ?? null;
    const oldValue = window.old_values[at] ?? null;
    const newValue = window.new_values[at] ?? null;
    return {
      index: row * columns + col, row, col, oldBits, newBits, oldValue, newValue,
      delta: oldValue === null || newValue === null ? null : newValue - oldValue,
      ulps: oldBits === null ? null : ulpsBetween(oldBits, newBits, window.dtype),
      changed: oldBits !== null && oldBits !== newBits,
    };
  });
}

/** For numpy.array(…) or a spreadsheet. */
export function toTsv(elements: readonly Element[]): string {
  const head = 'index\trow\tcol\told_bits\tnew_bits\told\tnew\tdelta\tulps';
  const lines = elements.map((e) =>
    [e.index, e.row, e.col, e.oldBits, e.newBits, e.oldValue, e.newValue, e.delta, e.ulps].map((cell) => cell ?? '').join('\t'),
  );
  return [head, ...lines].join('\n');
}

// Elements of one tensor at two steps: bits, values and how far they moved.

import type { ElementWindow } from '../api/types';
import { numberText } from './export';

export interface Element {
  index: number; // in the tensor, row by row
  row: number;
  col: number;
  oldBits: string | null;
  newBits: string;
  oldValue: number | null; // null: nothing to compare with; NaN and infinities are numbers here
  newValue: number | null;
  delta: number | null; // as the values
  ulps: number | null; // null: of no float, or of NaN
  changed: boolean;
}

const FLOAT = /^(bf16|f16|f32|f64|f8|bfloat16|float)/i;

/** Bits of the mantissa of the floats that have infinities, where it is zero. */
const MANTISSA: Record<string, number> = { BF16: 7, F16: 10, F32: 23, F64: 52, F8_E5M2: 2 };

const whole = (bits: string): bigint => BigInt(`0x${bits.replace(/^0x/, '')}`);
const signBit = (bits: string): bigint => 1n << BigInt(bits.replace(/^0x/, '').length * 4 - 1);

/** Position of a float among all floats of its width, so that neighbors differ by one. */
function place(bits: string, dtype: string): bigint {
  const value = whole(bits);
  const sign = signBit(bits);
  return value >= sign && !/E8M0/i.test(dtype) ? sign - value : value;
}

/** The value of bits; an answer has null for NaN and for the infinities. Null: there are no bits. */
export function valueOf(bits: string | null, value: number | null, dtype: string): number | null {
  if (bits === null || value !== null || !FLOAT.test(dtype)) return value;
  const mantissa = MANTISSA[dtype.toUpperCase()];
  if (mantissa === undefined || whole(bits) % (1n << BigInt(mantissa)) !== 0n) return NaN;
  return whole(bits) >= signBit(bits) ? -Infinity : Infinity;
}

/** Representable values between two; null for what is no float. */
export function ulpsBetween(a: string, b: string, dtype: string): number | null {
  return FLOAT.test(dtype) ? Math.abs(Number(place(a, dtype) - place(b, dtype))) : null;
}

/** `columns`: of the whole tensor, for the index. */
export function elementsOf(window: ElementWindow, columns: number): Element[] {
  return window.new_bits.map((newBits, at) => {
    const row = window.row + Math.floor(at / window.cols);
    const col = window.col + (at % window.cols);
    const oldBits = window.old_bits[at] ?? null;
    const oldValue = valueOf(oldBits, window.old_values[at] ?? null, window.dtype);
    const newValue = valueOf(newBits, window.new_values[at] ?? null, window.dtype);
    const measured = oldBits !== null && !Number.isNaN(oldValue) && !Number.isNaN(newValue);
    return {
      index: row * columns + col, row, col, oldBits, newBits, oldValue, newValue,
      delta: oldValue === null || newValue === null ? null : newValue - oldValue + 0, // not -0
      ulps: measured ? ulpsBetween(oldBits, newBits, window.dtype) : null,
      changed: oldBits !== null && oldBits !== newBits,
    };
  });
}

/** For numpy.array(…) or a spreadsheet. */
export function toTsv(elements: readonly Element[]): string {
  const head = 'index\trow\tcol\told_bits\tnew_bits\told\tnew\tdelta\tulps';
  const lines = elements.map((e) =>
    [e.index, e.row, e.col, e.oldBits, e.newBits, e.oldValue, e.newValue, e.delta, e.ulps].map((cell) => (typeof cell === 'number' ? numberText(cell) : (cell ?? ''))).join('\t'),
  );
  return [head, ...lines].join('\n');
}

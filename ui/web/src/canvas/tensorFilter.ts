// Filter of tensors: words, /regular expressions/ and `changed>1%`, `dtype:bf16`, all of which have to hold.

import type { TensorRow } from '../api/types';

export interface TensorFilter {
  test: (tensor: TensorRow) => boolean;
  error: string | null;
}

type Test = TensorFilter['test'];

const WORDS = /\/(?:\\.|[^/])+\/|[^\s,]+/g;
const COMPARE: Record<string, (a: number, b: number) => boolean> = {
  '>': (a, b) => a > b, '<': (a, b) => a < b, '>=': (a, b) => a >= b, '<=': (a, b) => a <= b,
};
const DTYPES: Record<string, string> = { bfloat16: 'bf16', float16: 'f16', fp16: 'f16', float32: 'f32', fp32: 'f32' };
const dtypeOf = (text: string): string => DTYPES[text.toLowerCase()] ?? text.toLowerCase();

/** Mean share per step over the columns that are known; null: none is. */
export const meanShare = (tensor: TensorRow, known: number): number | null => {
  if (tensor.changed_elems === null || known === 0) return null;
  return tensor.elements === 0 ? 0 : tensor.changed_elems / tensor.elements / known;
};

function term(word: string, known: number): Test {
  const pattern = /^\/(.*)\/$/.exec(word)?.[1];
  if (pattern !== undefined) {
    const regex = new RegExp(pattern);
    return (tensor) => regex.test(tensor.name);
  }
  const changed = /^changed(>=|<=|>|<)([\d.]+)(%?)$/.exec(word);
  if (changed !== null) {
    const limit = Number(changed[2]) / (changed[3] === '%' ? 100 : 1);
    if (Number.isNaN(limit)) throw new Error(`${changed[2]} is no number`);
    const compare = COMPARE[changed[1]!]!;
    return (tensor) => {
      const share = meanShare(tensor, known);
      return share !== null && compare(share, limit);
    };
  }
  if (/^changed[<>=:]/.test(word)) throw new Error('write changed>1%');
  if (word.startsWith('dtype:')) {
    const dtype = dtypeOf(word.slice(6));
    return (tensor) => dtypeOf(tensor.dtype) === dtype;
  }
  const wanted = word.toLowerCase();
  return (tensor) => tensor.name.toLowerCase().includes(wanted);
}

/** A filter with an error passes everything. */
export function tensorFilter(text: string, known: number): TensorFilter {
  try {
    const tests = (text.match(WORDS) ?? []).map((word) => term(word, known));
    return { test: (tensor) => tests.every((test) => test(tensor)), error: null };
  } catch (error) {
    return { test: () => true, error: error instanceof Error ? error.message : String(error) };
  }
}

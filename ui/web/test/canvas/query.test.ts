import { describe, expect, it } from 'vitest';
import { parseQuery, type Value } from '../../src/canvas/query';

interface Row {
  kind: string;
  step: number | null;
  size: number;
  refs: string[];
}

const FIELDS: Record<string, (row: Row) => Value> = {
  kind: (row) => row.kind, step: (row) => row.step, size: (row) => row.size, ref: (row) => row.refs,
};
const rows: Row[] = [
  { kind: 'anchor', step: 1200, size: 15e9, refs: ['latest', 'good'] },
  { kind: 'delta', step: 1201, size: 182e6, refs: [] },
  { kind: 'delta', step: 1300, size: 9e6, refs: [] },
  { kind: 'other', step: null, size: 12, refs: [] },
];
const parse = (text: string) => parseQuery(text, FIELDS, ['step', 'size'], (row) => `${row.kind} ${row.step}`);
const found = (text: string): (number | null)[] => rows.filter(parse(text).test).map((row) => row.step);

describe('queries', () => {
  it('compares, ranges, matches and combines', () => {
    expect(found('kind:delta')).toEqual([1201, 1300]);
    expect(found('step:>1200')).toEqual([1201, 1300]);
    expect(found('step:1200..1250')).toEqual([1200, 1201]);
    expect(found('kind:delta size:>10M')).toEqual([1201]);
    expect(found('size:<=9M')).toEqual([1300, null]);
    expect(found('step:1300')).toEqual([1300]);
    expect(found('ref:*')).toEqual([1200]);
    expect(found('ref:good')).toEqual([1200]);
    expect(found('120')).toEqual([1200, 1201]);
    expect(found('')).toHaveLength(4);
  });
  it('never matches a number that is not known', () => {
    expect(found('step:<99999')).not.toContain(null);
  });
  it('says what is wrong and passes everything', () => {
    for (const text of ['steps:1', 'step:abc', 'size:>10X', 'kind:']) {
      expect(parse(text).error, text).not.toBeNull();
      expect(found(text)).toHaveLength(4);
    }
    expect(parse('steps:1').error).toContain('kind, step, size, ref');
    expect(parse('  ').empty).toBe(true);
  });
});

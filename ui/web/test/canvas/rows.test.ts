import { describe, expect, it } from 'vitest';
import type { TensorRow } from '../../src/api/types';
import { matrixRowAt, rowAt, rowTops, rowTree, viewRows } from '../../src/canvas/rows';
import { meanShare, tensorFilter } from '../../src/canvas/tensorFilter';

const tensor = (name: string, group = '', more: Partial<TensorRow> = {}): TensorRow => ({
  id: 0, name, dtype: 'bf16', shape: [10, 10], elements: 100, group, changed_elems: 0, last_changed: null, ...more,
});

const model: TensorRow[] = [
  tensor('embed.weight', '', { changed_elems: 50, dtype: 'F32' }),
  ...[0, 1].flatMap((layer) => ['norm', 'attn.q', 'mlp.down'].map((name, i) =>
    tensor(`model.layers.${layer}.${name}.weight`, `layers.${layer}`, { changed_elems: 100 * layer + 10 * i, last_changed: 9 - i }))),
  tensor('lm_head.weight', ''),
].map((entry, id) => ({ ...entry, id }));

const rowsWith = (open: string[], sort: Parameters<typeof viewRows>[3] = 'model', filter = '') =>
  viewRows(model, rowTree(model), new Set(open), sort, filter, 10);

describe('rows', () => {
  it('closes layers at first and shows single tensors alone', () => {
    expect(rowsWith([]).map((row) => [row.label, row.kind, row.count])).toEqual([
      ['embed', 'tensor', 1], ['layers.0', 'band', 3], ['layers.1', 'band', 3], ['lm_head', 'tensor', 1],
    ]);
  });
  it('opens a layer into a head and its tensors', () => {
    expect(rowsWith(['g1']).map((row) => `${row.depth} ${row.kind} ${row.label}`)).toEqual([
      '0 tensor embed', '0 head layers.0', '1 tensor norm', '1 tensor attn.q', '1 tensor mlp.down', '0 band layers.1',
      '0 tensor lm_head',
    ]);
  });
  it('lists sorted tensors flat', () => {
    expect(rowsWith([], 'total')[0]!.label).toBe('model.layers.1.mlp.down');
    expect(rowsWith([], 'last')[0]!.label).toContain('norm');
    expect(rowsWith([], 'name').map((row) => row.label)[0]).toBe('embed');
  });
  it('folds experts into one node', () => {
    const moe = Array.from({ length: 12 }, (_, i) => tensor(`l.0.mlp.experts.${i >> 1}.up.weight`, 'l.0'));
    const [layer] = rowTree(moe);
    expect(layer!.children).toHaveLength(1);
    expect(layer!.children[0]!.label).toBe('experts[0…5]');
    expect(layer!.children[0]!.children).toHaveLength(12);
  });
  it('finds rows by height', () => {
    const rows = rowsWith([]);
    const tops = rowTops(rows, 1);
    expect([...tops]).toEqual([0, 12, 30, 48, 60]);
    expect([-1, 0, 11.9, 12, 47, 59, 60].map((y) => rowAt(tops, y))).toEqual([-1, 0, 0, 1, 2, 3, -1]);
    expect([12, 18, 24, 29.9].map((y) => matrixRowAt(rows, tops, y))).toEqual([1, 2, 3, 3]);
    expect(rowAt(rowTops([], 1), 0)).toBe(-1);
  });
});

describe('what is not known', () => {
  const unknown = [tensor('a', '', { changed_elems: null }), tensor('b', '', { changed_elems: 0 })];
  it('passes no comparison of what changed', () => {
    for (const text of ['changed<1%', 'changed>=0%']) {
      expect(unknown.map((row) => tensorFilter(text, 0).test(row))).toEqual([false, false]);
      expect(unknown.map((row) => tensorFilter(text, 4).test(row))).toEqual([false, true]);
    }
  });
  it('has no mean, and what is known has one over its columns alone', () => {
    expect(meanShare(unknown[0]!, 4)).toBeNull();
    expect(meanShare(unknown[1]!, 0)).toBeNull();
    expect(meanShare(tensor('c', '', { changed_elems: 7 }), 7)).toBe(0.01);
  });
});

describe('filter of tensors', () => {
  const found = (text: string): string[] => rowsWith([], 'model', text).map((row) => row.label);
  it('takes words, expressions and predicates together', () => {
    expect(found('mlp')).toHaveLength(2);
    expect(found('/layers\\.1\\..*(q|down)/')).toHaveLength(2);
    expect(found('dtype:float32')).toEqual(['embed']);
    expect(found('changed>=5%')).toEqual(['embed', 'model.layers.1.norm', 'model.layers.1.attn.q', 'model.layers.1.mlp.down']);
    expect(found('mlp, changed>5%')).toEqual(['model.layers.1.mlp.down']);
  });
  it('says what is wrong and passes everything', () => {
    for (const text of ['/(/', 'changed>x', 'changed:1']) {
      const filter = tensorFilter(text, 10);
      expect(filter.error, text).not.toBeNull();
      expect(filter.test(model[0]!)).toBe(true);
    }
  });
  it('is fast for 40,000 tensors', () => {
    const many = Array.from({ length: 40_000 }, (_, i) => tensor(`model.layers.${i >> 9}.experts.${i & 511}.w`, `layers.${i >> 9}`, { id: i }));
    const tree = rowTree(many);
    const start = performance.now();
    expect(viewRows(many, tree, new Set(), 'name', 'experts.7', 10)).toHaveLength(859);
    expect(performance.now() - start).toBeLessThan(1000);
  });
});

import { describe, expect, it } from 'vitest';
import type { LineageRow } from '../../src/api/types';
import { chainKey, edgesOf, itemOfRows, itemsOf, linksOf, replayPath, TRACKS } from '../../src/canvas/chains';
import { stripRow } from '../../src/canvas/stripPainter';

/** Newest first: chains of three, an anchor at each third step. */
function lineage(steps: number): LineageRow[] {
  return Array.from({ length: steps }, (_, i) => {
    const step = steps - 1 - i;
    const anchor = step % 3 === 0;
    return {
      epoch: 0, step, kind: anchor ? 'anchor' : 'delta', state: 'complete', lane: 0, base: anchor ? null : i + 1, chain: Math.floor(step / 3),
      published_at: 1, last_step: null, wire_bytes: 5, changed_frac: null, restorable: true, proven: true, verified: null, restore: null,
      forms: [], problem: null, refs: [], surviving: true,
    };
  });
}

describe('chains', () => {
  it('follows bases back to the anchor', () => {
    const rows = lineage(9);
    expect([...replayPath(rows, 0)]).toEqual([0, 1, 2]);
    expect([...replayPath(rows, 2)]).toEqual([2]);
    expect(replayPath(rows, -1).size).toBe(0);
  });
  it('ends where bases run in a circle or out of the list', () => {
    const rows = lineage(3);
    rows[2]!.base = 0;
    expect(replayPath(rows, 0).size).toBe(3);
    rows[2]!.base = 99;
    expect(replayPath(rows, 0).size).toBe(3);
  });
  it('folds old chains, but not the newest, the chosen and the broken ones', () => {
    const rows = lineage(15);
    rows[7]!.state = 'broken';
    const items = itemsOf(rows, new Map(), new Set([13]));
    expect(items.map((item) => (item.kind === 'fold' ? `${item.from}-${item.to}` : item.kind === 'row' ? item.at : 'restart'))).toEqual([
      0, 1, 2, '3-6', 6, 7, 8, '9-12', 12, 13, 14,
    ]);
    const opened = itemsOf(rows, new Map([[chainKey(rows[4]!), true], [chainKey(rows[0]!), false]]), new Set());
    expect(opened[0]).toEqual({ kind: 'fold', from: 0, to: 3 });
    expect(opened[1]).toEqual({ kind: 'row', at: 3 });
  });
  it('says where an epoch began', () => {
    const rows = lineage(6).map((row) => ({ ...row, epoch: row.step >= 3 ? 1 : 0 }));
    rows[2]!.base = 3;
    expect(itemsOf(rows, new Map(), new Set()).find((item) => item.kind === 'restart')).toEqual({ kind: 'restart', epoch: 1, base: 3 });
  });
  it('links items, through folds, and marks the replay path', () => {
    const rows = lineage(9);
    rows[5]!.base = 6;
    const items = itemsOf(rows, new Map(), new Set());
    const where = itemOfRows(items, rows.length);
    expect([...where]).toEqual([0, 1, 2, 3, 3, 3, 4, 4, 4]);
    const links = linksOf(rows, where, replayPath(rows, 0));
    expect(links.map(({ from, to, path }) => [from, to, path])).toEqual([[0, 1, true], [1, 2, true], [3, 4, false]]);
  });
  it('draws other forms as edges, also to what a fold hides, and none inside a fold', () => {
    const rows = lineage(30);
    const own = (base: number) => ({ complete: false, base, used: true, usable: true });
    const over = (base: number | null, usable = true) => ({ complete: base === null, base, used: false, usable });
    rows[0]!.forms = [own(1), over(2), over(17), over(29, false)]; // 17 and 29 lie in folds
    rows[1]!.forms = [{ ...own(2), used: false }, { complete: true, base: null, used: true, usable: true }];
    rows[6]!.forms = [own(7), over(8)]; // in one fold
    rows[7]!.forms = [own(8), over(null)]; // a complete form in a fold
    const items = itemsOf(rows, new Map(), new Set());
    const where = itemOfRows(items, rows.length);
    expect(items[where[6]!]!.kind).toBe('fold');
    expect(edgesOf(rows, items, where).map(({ from, to, usable }) => [from, to, usable])).toEqual([
      [0, 2, true], [0, where[17], true], [0, where[29], false], [1, 2, true], [1, null, true],
    ]);
  });
  it('puts long edges further out', () => {
    const rows = lineage(2000);
    rows[0]!.forms = [1, 2, 8, 60, 400, 1999].map((base) => ({ complete: false, base, used: false, usable: true }));
    const items = rows.map((_, at) => ({ kind: 'row' as const, at }));
    const tracks = edgesOf(rows, items, itemOfRows(items, rows.length)).map((edge) => edge.track);
    expect(tracks).toEqual([0, 0, 1, 2, 4, 4]);
    expect(Math.max(...tracks)).toBe(TRACKS - 1);
  });
  it('lists versions in time that grows as their number', () => {
    const fastest = (versions: number): number => {
      const rows = lineage(versions);
      return Math.min(...Array.from({ length: 7 }, () => {
        const start = performance.now();
        const items = itemsOf(rows, new Map(), new Set([500]));
        linksOf(rows, itemOfRows(items, rows.length), replayPath(rows, 500));
        return performance.now() - start;
      }));
    };
    fastest(2_000); // until it is compiled
    expect(fastest(32_000) / fastest(2_000)).toBeLessThan(100); // a square would be 256
  });
  it('finds the row under a pixel of the strip, oldest left', () => {
    expect(stripRow(100, 208, 4)).toBe(99);
    expect(stripRow(100, 208, 203)).toBe(0);
    expect(stripRow(100, 208, -50)).toBe(99);
    expect(stripRow(100, 208, 900)).toBe(0);
  });
});

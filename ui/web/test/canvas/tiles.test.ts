import { describe, expect, it } from 'vitest';
import { isUnknown, levelsOf, parseTile, TILE, TileStore, type TileData, type TileKey } from '../../src/canvas/tiles';

const blank = (code: number, unknown = false): TileData => ({
  codes: new Uint8Array(TILE * TILE).fill(code), unknown: unknown ? new Uint8Array((TILE * TILE) / 8).fill(255) : null,
});
const later = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 0));

function storeOf(rows: number, columns: number, load: (key: TileKey) => TileData, limit?: number) {
  const asked: TileKey[] = [];
  const store = new TileStore(rows, columns, (key) => {
    asked.push(key);
    return Promise.resolve().then(() => load(key));
  }, () => undefined, limit);
  return { store, asked };
}

async function look(store: TileStore, ...places: [ly: number, lx: number, row: number, tx: number][]): Promise<void> {
  store.begin();
  for (const [ly, lx, row, tx] of places) store.find('max', ly, lx, row, tx);
  store.end();
  await later();
}

describe('tiles', () => {
  it('splits codes and mask', () => {
    const body = new Uint8Array(TILE * TILE + 8192);
    body[5] = 7;
    body[TILE * TILE] = 0b10;
    const tile = parseTile(body.buffer, true);
    expect(tile.codes[5]).toBe(7);
    expect([isUnknown(tile, 0), isUnknown(tile, 1)]).toEqual([false, true]);
    expect(() => parseTile(new ArrayBuffer(10), false)).toThrow();
    expect(() => parseTile(body.buffer, false)).toThrow();
  });
  it('has levels until one tile holds everything', () => {
    expect([1, 256, 257, 512, 513, 10_000].map(levelsOf)).toEqual([1, 1, 2, 2, 3, 7]);
  });
  it('asks for each tile once and stands in with a coarser one', async () => {
    const { store, asked } = storeOf(256, 1024, (key) => blank(key.lx + 1));
    await look(store, [0, 2, 0, 0]);
    store.begin();
    expect(store.find('max', 0, 0, 0, 3)?.lx).toBe(2);
    store.end();
    await later();
    expect(asked).toHaveLength(2);
    await look(store, [0, 0, 0, 3]);
    expect(asked).toHaveLength(2);
    expect(store.find('max', 0, 0, 0, 3)?.lx).toBe(0);
  });
  it('forgets what was wanted but is not looked at any more', async () => {
    const { store, asked } = storeOf(256, 256 * 20, () => blank(1));
    store.begin();
    for (let tx = 0; tx < 20; tx += 1) store.find('max', 0, 0, 0, tx);
    store.end();
    expect(asked).toHaveLength(6);
    store.begin();
    store.end();
    await later();
    expect(asked).toHaveLength(6);
  });
  it('drops the tiles that were not looked at for longest', async () => {
    const { store, asked } = storeOf(256, 256 * 4, () => blank(1), 2 * TILE * TILE);
    await look(store, [0, 0, 0, 0]);
    await look(store, [0, 0, 0, 1]);
    await look(store, [0, 0, 0, 0]);
    await look(store, [0, 0, 0, 2]);
    expect(store.bytes).toBe(2 * TILE * TILE);
    await look(store, [0, 0, 0, 0]);
    expect(asked).toHaveLength(3);
    await look(store, [0, 0, 0, 1]);
    expect(asked).toHaveLength(4);
  });
  it('does not ask again for what failed until told to', async () => {
    let fail = true;
    const { store, asked } = storeOf(10, 10, () => {
      if (fail) throw new Error('gone');
      return blank(3);
    });
    await look(store, [0, 0, 0, 0]);
    await look(store, [0, 0, 0, 0]);
    expect(asked).toHaveLength(1);
    fail = false;
    store.retry();
    await look(store, [0, 0, 0, 0]);
    expect(store.code('max', 0, 0)).toBe(3);
  });
});

describe('a new column', () => {
  it('is written into all levels, maxima stay', async () => {
    const { store } = storeOf(600, 300, () => blank(0, true));
    await look(store, [0, 0, 0, 1], [0, 1, 0, 0], [1, 1, 0, 0]);
    const codes = new Uint8Array(600);
    codes[4] = 90;
    codes[5] = 120;
    store.append(299, codes, false);
    expect(store.code('max', 4, 299)).toBe(90);
    expect(store.code('max', 4, 298)).toBeNull();
    const merged = store.find('max', 1, 1, 2, 0)!;
    expect(merged.codes[2 * TILE + 149]).toBe(120);
    codes.fill(1);
    store.append(298, codes, false);
    expect(merged.codes[2 * TILE + 149]).toBe(120);
  });
  it('stays unknown if it was not measured, and adds a level when the matrix grows', async () => {
    const { store } = storeOf(10, 256, () => blank(0, true));
    await look(store, [0, 0, 0, 0]);
    store.append(255, new Uint8Array(10).fill(9), true);
    expect(store.code('max', 0, 255)).toBeNull();
    expect(store.levelsX).toBe(1);
    store.append(256, new Uint8Array(10), false);
    expect(store.levelsX).toBe(2);
  });
  it('that is unknown again is asked for, a new one that is not measured yet is not', async () => {
    const { store } = storeOf(10, 20, () => blank(7));
    await look(store, [0, 0, 0, 0]);
    store.append(20, new Uint8Array(10), true);
    expect(store.code('max', 0, 19)).toBe(7);
    store.append(19, new Uint8Array(10), true);
    expect(store.code('max', 0, 19)).toBeNull();
  });
  it('is not lost in a tile that was on its way', async () => {
    let answer: (tile: TileData) => void = () => undefined;
    const store = new TileStore(10, 10, () => new Promise((resolve) => (answer = resolve)), () => undefined);
    store.begin();
    store.find('max', 0, 0, 0, 0);
    store.end();
    store.append(9, new Uint8Array(10).fill(5), false);
    answer(blank(0));
    await later();
    expect(store.code('max', 0, 9)).toBeNull();
    store.begin();
    store.find('max', 0, 0, 0, 0);
    store.end();
    answer(blank(5));
    await later();
    expect(store.code('max', 0, 9)).toBe(5);
  });
});

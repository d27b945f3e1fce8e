import { describe, expect, it } from 'vitest';
import type { Gap, HeatColumn, Step, TensorRow, TensorTable } from '../../src/api/types';
import { HeatModel } from '../../src/canvas/heatModel';
import { TILE, TileStore } from '../../src/canvas/tiles';

const column = (step: number): HeatColumn => ({
  step, kind: 'delta', state: 'complete', known: true, pause_ms: null, verified: null, damaged: false,
});

const tensors: TensorRow[] = Array.from({ length: 6 }, (_, id) => ({
  id, name: id < 5 ? `layers.0.t${id}` : 'head', dtype: 'bf16', shape: [4], elements: 4, group: id < 5 ? 'layers.0' : '',
  changed_elems: id, last_changed: null,
}));

const table = (of: TensorRow[] = tensors): TensorTable => ({ rev: 1, epoch: 0, known_columns: 20, tensors: of });

/** 6 tensors by 20 steps; the code of a cell is its step, changed at each fifth step. */
async function modelOf(steps = Array.from({ length: 20 }, (_, i) => 100 + i)): Promise<HeatModel> {
  const codes = new Uint8Array(TILE * TILE);
  for (let row = 0; row < 6; row += 1) for (let x = 0; x < 20; x += 1) codes[row * TILE + x] = Math.floor(x / 5) + 10 * row;
  const store = new TileStore(6, 20, async () => ({ codes, unknown: null }), () => undefined);
  store.begin();
  store.find('max', 0, 0, 0, 0);
  store.end();
  await new Promise((resolve) => setTimeout(resolve, 0));
  const model = new HeatModel(table(), { rev: 1, epoch: 0, rows: 6, tile: 256, levels_y: 1, levels_x: 1, columns: steps.map(column) }, store);
  model.resize(200, 20);
  return model;
}

describe('model of the heatmap', () => {
  it('moves the cursor cell by cell, through the tensors of a closed layer', async () => {
    const model = await modelOf();
    model.moveColumn(0);
    expect(model.cursor).toEqual({ row: 0, offset: 0, column: 19 });
    for (let i = 0; i < 4; i += 1) model.moveRow(1);
    expect(model.tensorAt(model.cursor!)?.name).toBe('layers.0.t4');
    model.moveRow(1);
    expect(model.tensorAt(model.cursor!)?.name).toBe('head');
    model.moveRow(1);
    expect(model.cursor).toEqual({ row: 1, offset: 0, column: 19 });
    model.moveRow(-1);
    expect(model.cursor).toEqual({ row: 0, offset: 4, column: 19 });
    model.moveColumn(-100);
    expect(model.cursor!.column).toBe(0);
  });
  it('goes to the next cell of another value', async () => {
    const model = await modelOf();
    model.place({ row: 0, offset: 2, column: 1 });
    model.moveToOther(1, 0, 'max');
    expect(model.cursor!.column).toBe(5);
    model.moveToOther(-1, 0, 'max');
    expect(model.cursor!.column).toBe(4);
    model.moveToOther(0, 1, 'max');
    expect(model.cursor).toEqual({ row: 0, offset: 3, column: 4 });
  });
  it('keeps the tensor of the cursor when a layer opens or rows are sorted', async () => {
    const model = await modelOf();
    model.place({ row: 0, offset: 3, column: 7 });
    model.toggle(0);
    expect(model.rows.map((row) => row.kind)).toEqual(['head', 'tensor', 'tensor', 'tensor', 'tensor', 'tensor', 'tensor']);
    expect(model.tensorAt(model.cursor!)?.name).toBe('layers.0.t3');
    model.setOptions({ sort: 'total', filter: '' });
    expect(model.tensorAt(model.cursor!)?.name).toBe('layers.0.t3');
  });
  it('shows the highest cell of an open layer', async () => {
    const model = await modelOf();
    model.toggle(0, true);
    expect(model.code({ row: 0, offset: 0, column: 6 }, 'max')).toBe(41);
    expect(model.tensorAt({ row: 0, offset: 0, column: 6 })).toBeNull();
  });
  it('finds the spot under the mouse, also when scrolled', async () => {
    const model = await modelOf();
    model.setScale(2, 0);
    model.scrollBy(10);
    expect(model.scroll).toBe(10);
    expect(model.spotAt(3, 0)).toEqual({ row: 0, offset: 1, column: 3 });
    expect(model.spotAt(3, 30)).toEqual({ row: 1, offset: 0, column: 3 });
    expect(model.spotAt(3, 500)).toBeNull();
  });
  it('takes a new column and follows it', async () => {
    const model = await modelOf();
    model.showSteps(100, 104);
    expect(model.append(20, column(120))).toBe(true);
    expect(model.append(3, column(103))).toBe(false);
    expect(model.columnOf(120)).toBe(20);
    model.showNewest();
    expect(model.axis.first + model.axis.size / model.axis.cell).toBeCloseTo(21, 9);
  });
});

describe('a new column', () => {
  it('keeps the whole run in view for who sees all of it', async () => {
    const model = await modelOf();
    for (let i = 0; i < 7; i += 1) model.append(20 + i, column(120 + i));
    expect(model.axis.first).toBe(0);
    expect(model.axis.size / model.axis.cell).toBeCloseTo(27, 9);
  });
  it('is described by its step', async () => {
    const model = await modelOf();
    model.describe({ step: 103, kind: 'anchor', state: 'broken', pause_ms: 900, verified: null } as Step);
    expect(model.columns[3]).toMatchObject({ kind: 'anchor', damaged: true, pause_ms: 900, verified: null, known: true });
    expect(model.longestPause).toBe(900);
    model.describe({ step: 9999 } as Step);
    expect(model.columns).toHaveLength(20);
  });
});

describe('steps that come and go', () => {
  const gap = (step: number, last_step: number): Gap => ({ epoch: 0, step, kind: 'gap', state: 'gap', last_step });
  it('are noticed by columns that are not where their steps were', async () => {
    const model = await modelOf();
    expect([model.fits(3, 103), model.fits(20, 120)]).toEqual([true, true]);
    expect([model.fits(3, 104), model.fits(20, 119), model.fits(21, 121)]).toEqual([false, false, false]);
  });
  it('are noticed by holes where columns are', async () => {
    const model = await modelOf([1, 2, 3, 6, 7]);
    expect([model.hasLost(gap(3, 3)), model.hasLost(gap(2, 9))]).toEqual([true, true]);
    expect([model.hasLost(gap(4, 5)), model.hasLost({ step: 3, kind: 'delta' } as Step)]).toEqual([false, false]);
  });
  it('leave the view at the steps and the tensor that it shows', async () => {
    const old = await modelOf();
    old.toggle(0, true);
    old.showSteps(105, 109);
    old.place({ row: 3, offset: 0, column: 7 });
    const model = await modelOf(old.columns.map(({ step }) => step).filter((step) => step !== 102));
    model.showAs(old);
    expect(model.columns[Math.round(model.axis.first)]!.step).toBe(105);
    expect(model.axis.cell).toBe(old.axis.cell);
    expect([model.tensorAt(model.cursor!)?.name, model.columns[model.cursor!.column]!.step]).toEqual(['layers.0.t2', 107]);
    const gone = await modelOf(old.columns.map(({ step }) => step).filter((step) => step !== 107));
    gone.showAs(old);
    expect(gone.cursor).toBeNull();
  });
  it('keep the whole run in view for who sees all of it', async () => {
    const model = await modelOf([100, 101, 103]);
    model.showAs(await modelOf());
    expect([model.axis.first, model.axis.size / model.axis.cell]).toEqual([0, 3.125]);
  });
});

describe('counts of tensors', () => {
  it('are loaded again below the cursor, which stays at its tensor', async () => {
    const model = await modelOf();
    model.setOptions({ sort: 'total', filter: '' });
    model.place({ row: 0, offset: 0, column: 3 });
    expect(model.tensorAt(model.cursor!)?.name).toBe('head');
    model.count({ ...table(tensors.map((tensor) => ({ ...tensor, changed_elems: 10 - tensor.id }))), known_columns: 21 });
    expect([model.known, model.rows[0]!.first, model.tensorAt(model.cursor!)?.name]).toEqual([21, 0, 'head']);
  });
});

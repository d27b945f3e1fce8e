import { expect, it } from 'vitest';
import type { HeatIndex, TensorTable } from '../../src/api/types';
import { show } from '../../src/canvas/CanvasFrame';
import { heatTable } from '../../src/canvas/colors';
import { toCsv } from '../../src/canvas/export';
import { paintGutter, paintLegend, paintOverview } from '../../src/canvas/heatFrame';
import { HeatModel } from '../../src/canvas/heatModel';
import type { Palette } from '../../src/canvas/palette';
import type { Pen } from '../../src/canvas/surface';
import { TILE, TileStore } from '../../src/canvas/tiles';
import { rowsTable } from '../../src/pages/heatmap/tables';

const colors = new Proxy({}, { get: (_, name) => `#${String(name)}` }) as Palette;
const box = { x: 200, y: 50, width: 100, height: 16 };

/** Notes what is drawn. */
function recorder(): { pen: Pen; calls: [name: string, ...args: unknown[]][] } {
  const calls: [string, ...unknown[]][] = [];
  const pen = new Proxy({}, {
    get: (_, name) => (...args: unknown[]) => {
      calls.push([String(name), ...args]);
      return { width: 10 };
    },
    set: (_, name, to) => Boolean(calls.push([String(name), to])),
  });
  return { pen: pen as Pen, calls };
}

/** Two tensors by two steps, the first of which is not known. */
function modelOf(): HeatModel {
  const codes = new Uint8Array(TILE * TILE).fill(0);
  const unknown = new Uint8Array((TILE * TILE) / 8).fill(255);
  for (const row of [0, 1]) {
    codes[row * TILE + 1] = 200;
    unknown[(row * TILE) >> 3]! &= ~2;
  }
  const store = new TileStore(2, 2, async () => ({ codes, unknown }), () => undefined);
  const tensors = [0, 1].map((id) => ({ id, name: `t${id}`, dtype: 'BF16', shape: [4], elements: 4, group: '', changed_elems: 1, last_changed: 2 }));
  const columns = [1, 2].map((step) => ({ step, kind: 'delta', state: 'complete', known: step > 1, pause_ms: null, verified: null, damaged: false }) as const);
  const index: HeatIndex = { rev: 1, epoch: 0, rows: 2, tile: TILE, levels_y: 1, levels_x: 1, columns: [...columns] };
  const table: TensorTable = { rev: 1, epoch: 0, known_columns: 1, tensors };
  const model = new HeatModel(table, index, store);
  model.resize(100, 60);
  return model;
}
const later = () => new Promise((resolve) => setTimeout(resolve, 0));

it('the strip of the whole run is hatched below what is known, so that unknown is not zero', async () => {
  const model = modelOf();
  model.store.begin();
  model.store.find('max', 0, 0, 0, 0);
  model.store.end();
  await later();
  const { pen, calls } = recorder();
  paintOverview(pen, box, model, heatTable('cividis', { lo: 1e-4, hi: 0.1 }, [1, 2, 3]), colors);
  const names = calls.map(([name]) => name);
  const cells = calls.filter(([name, x, , width]) => name === 'fillRect' && !(x === box.x && width === box.width));
  expect(cells.map(([, x, , width]) => [x, width])).toEqual([[250, 50]]); // only the second step
  expect(names.indexOf('stroke')).toBeGreaterThan(-1);
  expect(names.indexOf('stroke')).toBeLessThan(calls.indexOf(cells[0]!));
});

it('the caption of the means stands above the first tick of the legend', () => {
  const [caption, ticks] = [recorder(), recorder()];
  paintGutter(caption.pen, { ...box, width: 48 }, modelOf(), colors);
  paintLegend(ticks.pen, { x: 264, y: 50, width: 12, height: 100 }, 'cividis', { lo: 1e-4, hi: 0.1 }, colors);
  const heights = (of: typeof caption, words: RegExp) => of.calls.filter(([name, text]) => name === 'fillText' && words.test(String(text))).map(([, , , y]) => y as number);
  expect(heights(caption, /mean/)[0]! + 12).toBeLessThanOrEqual(heights(ticks, /^10 %/)[0]!);
});

it('the table asks for the tiles that no picture has asked for, and has percentages', async () => {
  const model = modelOf();
  const shares = () => rowsTable(model, 1, 'max').rows.map((row) => row[4]);
  expect(shares()).toEqual([null, null]);
  await later();
  expect(shares()).toEqual([0.0502, 0.0502]);
  const { columns, rows } = rowsTable(model, 1, 'max');
  expect(columns.map((column, i) => show(rows[0]![i]!, column.share))).toEqual(['t0', 'BF16', '4', '4', '5 %', '25 %', '2']);
  expect(toCsv({ columns, rows }).split('\r\n')[1]).toBe('t0,BF16,4,4,0.0502,0.25,2');
  expect([show(null, true), show(-0)]).toEqual(['–', '-0']);
});

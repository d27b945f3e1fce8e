// What the heatmap shows: rows, columns, view and cursor. No drawing, no events.

import type { Gap, HeatColumn, HeatIndex, Step, StepRow, TensorRow, TensorTable } from '../api/types';
import { clamp, fit, pan, reveal, seen, show, type Axis } from './axis';
import { sumsBefore } from './cells';
import { rowAt, rowTops, rowTree, viewRows, type RowSort, type ViewRow } from './rows';
import type { Agg, TileStore } from './tiles';

/** A cell: a row of the view, inside of a band the tensor in it, and a column. */
export interface Spot {
  row: number;
  offset: number;
  column: number;
}

export interface RowOptions {
  sort: RowSort;
  filter: string;
}

const SCALE = { least: 0.25, most: 6 };

export class HeatModel {
  readonly columns: HeatColumn[];
  tensors: TensorRow[] = [];
  elementsBefore: Float64Array = new Float64Array(1);
  changedBefore: Float64Array = new Float64Array(1);
  known = 0; // columns that `changed_elems` adds up
  readonly open = new Set<string>();
  private tree: ReturnType<typeof rowTree> = [];
  private readonly columnOfStep = new Map<number, number>();
  private options: RowOptions = { sort: 'model', filter: '' };
  rows: ViewRow[] = [];
  tops: Float64Array = new Float64Array(1);
  axis: Axis = { first: 0, cell: 1, size: 0, count: 0 };
  scroll = 0; // pixels
  height = 0; // of the plot
  scale = 1; // of row heights
  cursor: Spot | null = null;
  longestPause: number; // ms, for the scale of the lane
  private fitted = false;

  constructor(table: TensorTable, index: HeatIndex, readonly store: TileStore) {
    this.columns = [...index.columns];
    this.columns.forEach((column, i) => this.columnOfStep.set(column.step, i));
    this.longestPause = index.columns.reduce((most, column) => Math.max(most, column.pause_ms ?? 0), 1);
    this.count(table);
  }

  /** Takes what is counted of each tensor by now. */
  count({ tensors, known_columns }: TensorTable): void {
    this.tensors = tensors;
    this.known = known_columns;
    this.elementsBefore = sumsBefore(tensors.map((tensor) => tensor.elements));
    this.changedBefore = sumsBefore(tensors.map((tensor) => tensor.changed_elems ?? 0));
    this.tree = rowTree(tensors);
    this.keepTensor(() => this.layout());
    this.clampScroll();
  }

  /** Shows what `old` shows: the same rows, steps and cell under the cursor, as far as they are still here. */
  showAs(old: HeatModel): void {
    old.open.forEach((key) => this.open.add(key));
    Object.assign(this, { options: old.options, scale: old.scale, height: old.height, fitted: old.fitted });
    this.layout();
    this.scroll = old.scroll;
    this.clampScroll();
    const whole = seen(old.axis) > old.axis.count - 0.5;
    const left = old.columns[Math.floor(old.axis.first)]?.step ?? 0;
    const first = this.columns.findIndex((column) => column.step >= left) + old.axis.first % 1;
    this.axis = { ...old.axis, first, count: this.columns.length };
    this.axis = whole ? fit(this.axis) : clamp(this.axis);
    const tensor = old.cursor === null ? null : old.tensorAt(old.cursor)?.name;
    const column = old.cursor === null ? -1 : this.columnOf(old.columns[old.cursor.column]!.step);
    const at = this.tensors.findIndex(({ name }) => name === tensor);
    if (column >= 0 && at >= 0) this.cursor = this.spotOf(at, column);
  }

  setOptions(options: RowOptions): void {
    if (options.sort === this.options.sort && options.filter === this.options.filter) return;
    this.options = options;
    this.keepTensor(() => this.layout());
    this.clampScroll();
  }

  /** Opens or closes a group; `open` undefined: the other way. */
  toggle(row: number, open?: boolean): void {
    const view = this.rows[row];
    if (view === undefined || view.kind === 'tensor') return;
    const now = open ?? !this.open.has(view.key);
    if (now) this.open.add(view.key);
    else this.open.delete(view.key);
    this.keepTensor(() => this.layout());
    this.clampScroll();
  }

  resize(width: number, height: number): void {
    if (width === this.axis.size && height === this.height && this.fitted) return;
    const whole = this.axis.size === 0;
    this.height = height;
    this.axis = { ...this.axis, size: width, count: this.columns.length };
    this.axis = whole ? fit(this.axis) : clamp(this.axis);
    if (!this.fitted && height > 0) {
      this.fitted = true;
      this.fitRows();
    }
    this.clampScroll();
  }

  /** Row heights at which all rows are seen, where that is readable. */
  fitRows(): void {
    const natural = rowTops(this.rows, 1).at(-1)!;
    this.setScale(natural === 0 ? 1 : Math.min(2.4, Math.max(0.5, Math.floor((this.height / natural) * 20) / 20)), 0);
    this.scroll = 0;
  }

  fitSteps(): void {
    this.axis = fit(this.axis);
  }

  /** Zooms rows so that what is under `y` stays there. */
  setScale(scale: number, y: number): void {
    const at = rowAt(this.tops, y + this.scroll);
    const part = at < 0 ? 0 : (y + this.scroll - this.tops[at]!) / (this.tops[at + 1]! - this.tops[at]!);
    this.scale = Math.min(SCALE.most, Math.max(SCALE.least, scale));
    this.tops = rowTops(this.rows, this.scale);
    if (at >= 0) this.scroll = this.tops[at]! + part * (this.tops[at + 1]! - this.tops[at]!) - y;
    this.clampScroll();
  }

  panBy(pixels: number): void {
    this.axis = pan(this.axis, pixels);
  }

  scrollBy(pixels: number): void {
    this.scroll += pixels;
    this.clampScroll();
  }

  /** False: the column is not where the model has its step, so that a step came or went that it has not heard of. */
  fits(column: number, step: number): boolean {
    return column === this.columns.length ? (this.columns.at(-1)?.step ?? -1) < step : this.columns[column]?.step === step;
  }

  /** True: the model has a column of a step that is not there any more. */
  hasLost(row: StepRow): boolean {
    return row.kind === 'gap' && this.columns.some(({ step }) => step >= row.step && step <= (row as Gap).last_step);
  }

  /** Takes a column that fits and was measured just now; true: it is a new one at the end. Who sees the whole run goes on to. */
  append(column: number, entry: HeatColumn): boolean {
    const fresh = column >= this.columns.length;
    const whole = seen(this.axis) > this.axis.count - 0.5;
    this.columns[column] = fresh ? entry : { ...this.columns[column]!, known: entry.known };
    this.columnOfStep.set(entry.step, column);
    this.axis = { ...this.axis, count: this.columns.length };
    this.axis = whole ? fit(this.axis) : clamp(this.axis);
    return fresh;
  }

  /** Takes what became known of a step: its kind, pause and verification. */
  describe(step: Step): void {
    const at = this.columnOf(step.step);
    if (at < 0) return;
    const { kind, state, pause_ms, verified } = step;
    const damaged = state === 'broken' || verified?.result === 'damaged';
    this.columns[at] = { ...this.columns[at]!, kind, state, pause_ms, verified: verified?.level ?? null, damaged };
    this.longestPause = Math.max(this.longestPause, pause_ms ?? 0);
  }

  /** Moves to the newest column. */
  showNewest(): void {
    this.axis = clamp({ ...this.axis, first: this.columns.length });
  }

  showSteps(from: number, to: number): void {
    const first = this.columns.findIndex((column) => column.step >= from);
    const after = this.columns.findIndex((column) => column.step > to);
    if (first >= 0) this.axis = show(this.axis, first, after < 0 ? this.columns.length : after);
  }

  columnOf(step: number | null): number {
    return step === null ? -1 : (this.columnOfStep.get(step) ?? -1);
  }

  /** Matrix row of a spot; null for an open group, which stands for all its tensors. */
  tensorAt(spot: Spot): TensorRow | null {
    const row = this.rows[spot.row];
    return row === undefined || row.kind === 'head' ? null : (this.tensors[row.first + spot.offset] ?? null);
  }

  code(spot: Spot, agg: Agg): number | null {
    const row = this.rows[spot.row];
    if (row === undefined) return null;
    if (row.kind !== 'head') return this.store.code(agg, row.first + spot.offset, spot.column);
    let most: number | null = null;
    for (let at = row.first; at < row.first + row.count; at += 1) {
      const code = this.store.code('max', at, spot.column);
      if (code !== null) most = Math.max(most ?? 0, code);
    }
    return most;
  }

  /** The spot at a place in the plot; null outside. */
  spotAt(column: number, y: number): Spot | null {
    const at = rowAt(this.tops, y + this.scroll);
    if (at < 0 || column < 0) return null;
    const row = this.rows[at]!;
    const part = (y + this.scroll - this.tops[at]!) / (this.tops[at + 1]! - this.tops[at]!);
    return { row: at, offset: row.kind === 'band' ? Math.floor(part * row.count) : 0, column };
  }

  moveColumn(by: number): void {
    const from = this.start();
    if (from === null) return;
    this.place({ ...from, column: Math.min(this.columns.length - 1, Math.max(0, from.column + by)) });
  }

  moveRow(by: 1 | -1): void {
    const from = this.start();
    if (from !== null) this.place(this.neighbor(from, by) ?? from);
  }

  /** Goes on until the color changes. */
  moveToOther(dx: number, dy: 1 | -1 | 0, agg: Agg): void {
    const from = this.start();
    if (from === null) return;
    const code = this.code(from, agg);
    let spot = from;
    for (;;) {
      const next = dy === 0 ? { ...spot, column: spot.column + dx } : this.neighbor(spot, dy);
      if (next === null || next.column < 0 || next.column >= this.columns.length) break;
      spot = next;
      if (this.code(spot, agg) !== code) break;
    }
    this.place(spot);
  }

  /** Sets the cursor and brings it into view. */
  place(spot: Spot): void {
    this.cursor = spot;
    this.axis = reveal(this.axis, spot.column);
    const top = this.tops[spot.row]!;
    const bottom = this.tops[spot.row + 1]!;
    if (top < this.scroll) this.scroll = top;
    else if (bottom > this.scroll + this.height) this.scroll = bottom - this.height;
  }

  private start(): Spot | null {
    if (this.rows.length === 0 || this.columns.length === 0) return null;
    return this.cursor ?? { row: Math.max(0, rowAt(this.tops, this.scroll)), offset: 0, column: this.columns.length - 1 };
  }

  private neighbor(spot: Spot, by: 1 | -1): Spot | null {
    const band = (at: number): number => (this.rows[at]!.kind === 'band' ? this.rows[at]!.count : 1);
    const offset = spot.offset + by;
    if (offset >= 0 && offset < band(spot.row)) return { ...spot, offset };
    const row = spot.row + by;
    if (row < 0 || row >= this.rows.length) return null;
    return { ...spot, row, offset: by > 0 ? 0 : band(row) - 1 };
  }

  private keepTensor(change: () => void): void {
    const { cursor } = this;
    const tensor = cursor && this.rows[cursor.row] ? this.rows[cursor.row]!.first + cursor.offset : null;
    change();
    this.cursor = null;
    if (cursor !== null && tensor !== null) this.cursor = this.spotOf(tensor, cursor.column);
  }

  private spotOf(tensor: number, column: number): Spot | null {
    const row = this.rows.findIndex((r) => r.kind !== 'head' && r.first <= tensor && tensor < r.first + r.count);
    if (row < 0) return null;
    return { row, offset: this.rows[row]!.kind === 'band' ? tensor - this.rows[row]!.first : 0, column };
  }

  private layout(): void {
    const { sort, filter } = this.options;
    this.rows = viewRows(this.tensors, this.tree, this.open, sort, filter, this.known);
    this.tops = rowTops(this.rows, this.scale);
  }

  private clampScroll(): void {
    this.scroll = Math.min(Math.max(0, this.tops.at(-1)! - this.height), Math.max(0, this.scroll));
  }
}

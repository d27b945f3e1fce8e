// Colors the cells in view, one pixel per cell, in a picture that is then stretched over the plot. Unknown cells stay
// transparent. Nothing is allocated while the view moves: pictures only grow.

import { encode, SHARES } from './codes';
import { isUnknown, TILE, type Agg, type Tile, type TileStore } from './tiles';

/** Matrix rows that a pooled line looks at, at most; beyond that it uses a coarser level. */
const POOLED = 16;

export interface Cells {
  store: TileStore;
  agg: Agg;
  table: Uint32Array;
  elementsBefore: Float64Array; // prefix sums over the rows: weights of means
}

export class CellPicture {
  readonly canvas = document.createElement('canvas');
  private context = this.canvas.getContext('2d')!;
  private image = this.context.createImageData(1, 1);
  private pixels = new Uint32Array(this.image.data.buffer);
  private sums = new Float64Array(1);
  private weights = new Float64Array(1);

  /** Level and cells [from, to) of the columns in this picture. */
  level = 0;
  from = 0;
  to = 0;

  begin(level: number, from: number, to: number, lines: number): void {
    this.level = level;
    this.from = from;
    this.to = to;
    const { width, height } = this.image;
    if (to - from > width || lines > height) {
      this.canvas.width = Math.max(width, to - from);
      this.canvas.height = Math.max(height, lines);
      this.image = this.context.createImageData(this.canvas.width, this.canvas.height);
      this.pixels = new Uint32Array(this.image.data.buffer);
      this.sums = new Float64Array(this.canvas.width);
      this.weights = new Float64Array(this.canvas.width);
    }
  }

  /** Fills one line with the rows [first, first + count). */
  line(y: number, cells: Cells, first: number, count: number): void {
    const ly = count <= POOLED ? 0 : Math.min(cells.store.levelsY - 1, Math.floor(Math.log2(count / POOLED)));
    const last = (first + count - 1) >> ly;
    if (last === first >> ly) this.single(y, cells, ly, last);
    else this.pooled(y, cells, ly, first >> ly, last);
  }

  /** Copies the first `lines` lines into the canvas. */
  end(lines: number): void {
    this.context.putImageData(this.image, 0, 0, 0, 0, this.to - this.from, lines);
  }

  private single(y: number, { store, agg, table }: Cells, ly: number, row: number): void {
    const start = y * this.image.width - this.from;
    for (let tx = this.from >> 8; tx << 8 < this.to; tx += 1) {
      const begin = Math.max(this.from, tx << 8);
      const end = Math.min(this.to, (tx + 1) << 8);
      const tile = store.find(agg, ly, this.level, row, tx);
      if (tile === null) {
        this.pixels.fill(0, start + begin, start + end);
        continue;
      }
      const line = ((row >> (tile.ly - ly)) & 255) * TILE;
      const shift = tile.lx - this.level;
      const { codes, unknown } = tile;
      for (let x = begin; x < end; x += 1) {
        const cell = line + ((x >> shift) & 255);
        const hidden = unknown !== null && ((unknown[cell >> 3]! >> (cell & 7)) & 1) === 1;
        this.pixels[start + x] = hidden ? 0 : table[codes[cell]!]!;
      }
    }
  }

  private pooled(y: number, cells: Cells, ly: number, first: number, last: number): void {
    const { store, agg, table } = cells;
    const width = this.to - this.from;
    this.sums.fill(0, 0, width);
    this.weights.fill(0, 0, width);
    for (let row = first; row <= last; row += 1) {
      const weight = agg === 'max' ? 1 : elementsOf(cells, ly, row);
      for (let tx = this.from >> 8; tx << 8 < this.to; tx += 1) {
        const tile = store.find(agg, ly, this.level, row, tx);
        if (tile !== null) this.pool(tile, agg, ly, row, tx, weight);
      }
    }
    const start = y * this.image.width;
    for (let x = 0; x < width; x += 1) {
      const weight = this.weights[x]!;
      if (weight === 0) this.pixels[start + x] = 0;
      else this.pixels[start + x] = table[agg === 'max' ? this.sums[x]! : encode(this.sums[x]! / weight)]!;
    }
  }

  private pool(tile: Tile, agg: Agg, ly: number, row: number, tx: number, weight: number): void {
    const end = Math.min(this.to, (tx + 1) << 8);
    const line = ((row >> (tile.ly - ly)) & 255) * TILE;
    const shift = tile.lx - this.level;
    for (let x = Math.max(this.from, tx << 8); x < end; x += 1) {
      const cell = line + ((x >> shift) & 255);
      if (isUnknown(tile, cell)) continue;
      const at = x - this.from;
      const code = tile.codes[cell]!;
      if (agg === 'max') this.sums[at] = Math.max(this.sums[at]!, code);
      else this.sums[at]! += SHARES[code]! * weight;
      this.weights[at]! += weight;
    }
  }
}

function elementsOf({ elementsBefore }: Cells, ly: number, row: number): number {
  const end = Math.min(elementsBefore.length - 1, (row + 1) << ly);
  return elementsBefore[end]! - elementsBefore[Math.min(end, row << ly)]!;
}

/** Prefix sums: entry i is the sum of the first i values. */
export function sumsBefore(values: readonly number[]): Float64Array {
  const sums = new Float64Array(values.length + 1);
  values.forEach((value, i) => (sums[i + 1] = sums[i]! + value));
  return sums;
}

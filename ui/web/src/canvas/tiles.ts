// Tiles of the heatmap: 256 x 256 codes each, fetched as they are looked at, the least recently seen ones dropped.

export const TILE = 256;
const CELLS = TILE * TILE;
const LIMIT = 64 * 1024 * 1024;
const PARALLEL = 6;

export type Agg = 'max' | 'mean';

export interface TileKey {
  agg: Agg;
  ly: number;
  lx: number;
  ty: number;
  tx: number;
}

export interface TileData {
  codes: Uint8Array;
  unknown: Uint8Array | null; // one bit per cell, 1 = unknown; null: all are known
}

export interface Tile extends TileData, TileKey {
  used: number; // frame in which it was last looked at
}

/** Splits the body of an answer: codes, then the mask if the header X-Unknown says so. */
export function parseTile(body: ArrayBuffer, masked: boolean): TileData {
  const bytes = new Uint8Array(body);
  if (bytes.length !== CELLS + (masked ? CELLS / 8 : 0)) throw new Error(`a tile of ${bytes.length} bytes`);
  return { codes: bytes.subarray(0, CELLS), unknown: masked ? bytes.subarray(CELLS) : null };
}

export const isUnknown = (tile: TileData, cell: number): boolean =>
  tile.unknown !== null && ((tile.unknown[cell >> 3]! >> (cell & 7)) & 1) === 1;

/** Levels until one tile holds all cells. */
export const levelsOf = (cells: number): number => Math.max(1, Math.ceil(Math.log2(Math.max(1, cells) / TILE)) + 1);

/** One number per tile: no allocation while looking for it. */
const idOf = (agg: Agg, ly: number, lx: number, ty: number, tx: number): number =>
  ((((agg === 'max' ? 0 : 1) * 32 + ly) * 32 + lx) * 65536 + ty) * 65536 + tx;

const sizeOf = (tile: TileData): number => tile.codes.length + (tile.unknown?.length ?? 0);

export class TileStore {
  private tiles = new Map<number, Tile>();
  private wanted = new Map<number, TileKey>();
  private loading = new Map<number, { stale: boolean }>();
  private failed = new Set<number>();
  private frame = 0;
  private closed = false;
  bytes = 0;

  constructor(
    public rows: number,
    public columns: number,
    private readonly load: (key: TileKey) => Promise<TileData>,
    private readonly changed: (error: unknown) => void,
    private readonly limit = LIMIT,
  ) {}

  get levelsX(): number {
    return levelsOf(this.columns);
  }
  get levelsY(): number {
    return levelsOf(this.rows);
  }

  /** Starts a frame: what was wanted before and is not looked at again is not fetched. */
  begin(): void {
    this.frame += 1;
    this.wanted.clear();
  }

  /** Fetches what the frame missed, what was looked at first comes first. */
  end(): void {
    for (const [id, key] of this.wanted) {
      if (this.loading.size >= PARALLEL) return;
      this.wanted.delete(id);
      void this.fetch(id, key);
    }
  }

  /**
   * The tile with the cell row `row` of level `ly` and the tile column `tx` of level `lx`, or a coarser one that covers
   * them while it is not here; null: nothing is here yet.
   */
  find(agg: Agg, ly: number, lx: number, row: number, tx: number): Tile | null {
    const ty = row >> 8;
    const id = idOf(agg, ly, lx, ty, tx);
    const exact = this.tiles.get(id);
    if (exact !== undefined) {
      exact.used = this.frame;
      return exact;
    }
    if (!this.wanted.has(id) && !this.loading.has(id) && !this.failed.has(id)) {
      this.wanted.set(id, { agg, ly, lx, ty, tx });
    }
    for (let up = 1; lx + up < this.levelsX; up += 1) {
      const coarse = this.tiles.get(idOf(agg, ly, lx + up, ty, tx >> up));
      if (coarse !== undefined) return coarse;
    }
    return this.tiles.get(idOf(agg, this.levelsY - 1, this.levelsX - 1, 0, 0)) ?? null;
  }

  /** Code of one cell at the finest level; null: unknown or not here. */
  code(agg: Agg, row: number, column: number): number | null {
    const tile = this.tiles.get(idOf(agg, 0, 0, row >> 8, column >> 8));
    if (tile === undefined) return null;
    const cell = (row & 255) * TILE + (column & 255);
    return isUnknown(tile, cell) ? null : tile.codes[cell]!;
  }

  /** Writes one column: a new one at the end, one that was measured just now, or one that is unknown again. */
  append(column: number, codes: Uint8Array, unknown: boolean): void {
    const forgotten = unknown && column < this.columns;
    this.columns = Math.max(this.columns, column + 1);
    for (const loading of this.loading.values()) loading.stale = true;
    for (const [id, tile] of this.tiles) {
      if (column >> (tile.lx + 8) !== tile.tx) continue;
      if (forgotten || (tile.agg === 'mean' && (tile.lx > 0 || tile.ly > 0))) this.drop(id, tile);
      else if (!unknown) this.write(tile, column, codes);
    }
  }

  private write(tile: Tile, column: number, codes: Uint8Array): void {
    const merged = 1 << tile.ly;
    const at = (column >> tile.lx) & 255;
    for (let line = 0; line < TILE; line += 1) {
      const first = (tile.ty * TILE + line) * merged;
      if (first >= codes.length) return;
      let code = 0;
      for (let row = first; row < Math.min(codes.length, first + merged); row += 1) code = Math.max(code, codes[row]!);
      const cell = line * TILE + at;
      const known = tile.unknown === null || !isUnknown(tile, cell);
      tile.codes[cell] = known && tile.lx > 0 ? Math.max(tile.codes[cell]!, code) : code;
      if (!known) tile.unknown![cell >> 3]! &= ~(1 << (cell & 7));
    }
  }

  /** Tries again what failed. */
  retry(): void {
    this.failed.clear();
  }

  close(): void {
    this.closed = true;
    this.tiles.clear();
  }

  private drop(id: number, tile: Tile): void {
    this.tiles.delete(id);
    this.bytes -= sizeOf(tile);
  }

  private async fetch(id: number, key: TileKey): Promise<void> {
    const mark = { stale: false };
    this.loading.set(id, mark);
    let error: unknown = null;
    try {
      const data = await this.load(key);
      if (!mark.stale) this.keep(id, { ...key, ...data, used: this.frame });
    } catch (reason) {
      this.failed.add(id);
      error = reason;
    }
    this.loading.delete(id);
    if (!this.closed) this.changed(error);
  }

  private keep(id: number, tile: Tile): void {
    this.tiles.set(id, tile);
    this.bytes += sizeOf(tile);
    while (this.bytes > this.limit && this.tiles.size > 1) {
      let oldest: [number, Tile] | null = null;
      for (const entry of this.tiles) if (oldest === null || entry[1].used < oldest[1].used) oldest = entry;
      this.drop(oldest![0], oldest![1]);
    }
  }
}

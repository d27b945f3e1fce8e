// The answer of …/blocks: a line of JSON, then counts of blocks, rows and columns.

import type { BlockHeader } from '../api/types';

export interface Blocks extends BlockHeader {
  counts: Uint32Array; // block_rows x block_cols
  rowCounts: Uint32Array;
  colCounts: Uint32Array;
}

export function parseBlocks(body: ArrayBuffer): Blocks {
  const bytes = new Uint8Array(body);
  const end = bytes.indexOf(10);
  if (end < 0) throw new Error('the answer has no header');
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(0, end))) as BlockHeader;
  const blocks = header.block_rows * header.block_cols;
  if (body.byteLength - end - 1 !== 4 * (blocks + header.rows + header.cols)) throw new Error('the answer is cut short');
  const view = new DataView(body, end + 1);
  let at = 0;
  const take = (count: number): Uint32Array =>
    Uint32Array.from({ length: count }, () => view.getUint32(4 * at++, true));
  return { ...header, counts: take(blocks), rowCounts: take(header.rows), colCounts: take(header.cols) };
}

/** Sums neighbors so that at most `limit` values are left; the last one may hold fewer. */
export function binned(values: Uint32Array, limit: number): { sums: Float64Array; per: number } {
  const per = Math.max(1, Math.ceil(values.length / limit));
  const sums = new Float64Array(Math.ceil(values.length / per));
  values.forEach((value, i) => (sums[Math.floor(i / per)]! += value));
  return { sums, per };
}

/** Elements of one block, which is smaller at the edges. */
export function blockElements(blocks: BlockHeader, row: number, col: number): number {
  const rows = Math.min(blocks.rows_per_block, blocks.rows - row * blocks.rows_per_block);
  const cols = Math.min(blocks.cols_per_block, blocks.cols - col * blocks.cols_per_block);
  return Math.max(0, rows) * Math.max(0, cols);
}

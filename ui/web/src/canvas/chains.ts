// Rows of the lineage as they are listed: chains folded, restarts between epochs, and the lines of the chain column.

import type { LineageRow } from '../api/types';

export type Item =
  | { kind: 'row'; at: number } // index in the rows
  | { kind: 'fold'; from: number; to: number } // rows [from, to), newest first
  | { kind: 'restart'; epoch: number; base: number | null };

/** Rows that are folded together: neighbors of one chain. */
export const chainKey = (row: LineageRow): string => `${row.epoch}/${row.lane}/${row.chain}`;

const FEWEST = 3; // rows worth folding

/** `open` lists chains that were opened or closed by hand; others are open if they hold something to look at. */
export function itemsOf(rows: readonly LineageRow[], open: ReadonlyMap<string, boolean>, marked: ReadonlySet<number>): Item[] {
  const items: Item[] = [];
  for (let from = 0; from < rows.length; ) {
    const key = chainKey(rows[from]!);
    let to = from + 1;
    while (to < rows.length && chainKey(rows[to]!) === key) to += 1;
    const show = open.get(key) ?? (from === 0 || to - from < FEWEST || hasNews(rows, from, to, marked));
    if (show) for (let at = from; at < to; at += 1) items.push({ kind: 'row', at });
    else items.push({ kind: 'fold', from, to });
    const older = rows[to];
    const row = rows[to - 1]!;
    if (older !== undefined && older.epoch < row.epoch) items.push({ kind: 'restart', epoch: row.epoch, base: row.base });
    from = to;
  }
  return items;
}

function hasNews(rows: readonly LineageRow[], from: number, to: number, marked: ReadonlySet<number>): boolean {
  for (let at = from; at < to; at += 1) {
    const row = rows[at]!;
    if (marked.has(at) || row.state === 'broken' || row.state === 'gap' || row.refs.length > 0) return true;
  }
  return false;
}

/** Rows that step B is rebuilt from, itself first. */
export function replayPath(rows: readonly LineageRow[], at: number): Set<number> {
  const path = new Set<number>();
  for (let next: number | null = at; next !== null && next >= 0 && !path.has(next); next = rows[next]?.base ?? null) {
    if (rows[next] === undefined) break;
    path.add(next);
  }
  return path;
}

/** Item of each row. */
export function itemOfRows(items: readonly Item[], rows: number): Int32Array {
  const where = new Int32Array(rows).fill(-1);
  items.forEach((item, i) => {
    if (item.kind === 'row') where[item.at] = i;
    else if (item.kind === 'fold') where.fill(i, item.from, item.to);
  });
  return where;
}

/** A line in the chain column between two items. */
export interface Link {
  from: number;
  to: number;
  laneFrom: number;
  laneTo: number;
  path: boolean; // part of the replay path of B
  lost: boolean; // of a branch that was overwritten
}

export function linksOf(rows: readonly LineageRow[], where: Int32Array, path: ReadonlySet<number>): Link[] {
  const links: Link[] = [];
  rows.forEach((row, at) => {
    if (row.base === null || rows[row.base] === undefined) return;
    const [from, to] = [where[at]!, where[row.base]!];
    if (from < 0 || to < 0 || from === to) return;
    links.push({
      from, to, laneFrom: row.lane, laneTo: rows[row.base]!.lane, path: path.has(at) && path.has(row.base), lost: !row.surviving,
    });
  });
  return links;
}

/** A way to have a row beside the line of its chain. */
export interface Edge {
  from: number; // item
  to: number | null; // item that holds what it builds on; null: it is complete by itself
  lane: number;
  track: number; // 0…TRACKS - 1, longer ones further out
  usable: boolean;
}

export const TRACKS = 5;
const trackOf = (length: number): number => Math.min(TRACKS - 1, Math.floor(Math.log2(Math.max(1, length)) / 2));

/** What a fold hides inside itself has no edge. The way that is used has one where it leaves the chain: a complete form of a delta. */
export function edgesOf(rows: readonly LineageRow[], items: readonly Item[], where: Int32Array): Edge[] {
  const edges: Edge[] = [];
  rows.forEach((row, at) => {
    const from = where[at]!;
    for (const form of row.forms) {
      if (from < 0 || (form.used && !(form.complete && row.kind === 'delta'))) continue;
      const to = form.base === null ? null : (where[form.base] ?? -1);
      const hidden = to === null ? !form.complete || items[from]?.kind !== 'row' : to < 0 || to === from;
      if (!hidden) edges.push({ from, to, lane: row.lane, track: to === null ? 0 : trackOf(to - from), usable: form.usable });
    }
  });
  return edges;
}

// Rows of the heatmap as they are seen: a tree of layers, or a flat list when sorted or filtered.

import type { TensorRow } from '../api/types';
import { tensorFilter } from './tensorFilter';

/** A stretch of matrix rows. Without children: one tensor. */
export interface RowNode {
  key: string;
  label: string;
  first: number;
  count: number;
  children: RowNode[];
}

/** band: closed group, its tensors as thin lines; head: open group, all in one; tensor: one row of the matrix. */
export interface ViewRow {
  key: string;
  label: string;
  depth: number;
  first: number;
  count: number;
  kind: 'band' | 'head' | 'tensor';
  height: number;
}

export type RowSort = 'model' | 'total' | 'last' | 'name';

const THIN = 2;
const BAND = { least: 18, most: 48 };
const OPEN = 12;

const EXPERT = /^(.*?\bexperts)\.(\d+)\./;

const tensorNode = (tensors: TensorRow[], at: number, prefix: string): RowNode => {
  const { id, name } = tensors[at]!;
  const rest = prefix !== '' && name.includes(`${prefix}.`) ? name.slice(name.indexOf(`${prefix}.`) + prefix.length + 1) : name;
  return { key: `t${id}`, label: rest.replace(/\.weight$/, ''), first: at, count: 1, children: [] };
};

/** Folds neighboring tensors of experts into one node. */
function foldExperts(tensors: TensorRow[], nodes: RowNode[]): RowNode[] {
  const out: RowNode[] = [];
  for (let at = 0; at < nodes.length; ) {
    const stem = EXPERT.exec(tensors[nodes[at]!.first]!.name)?.[1];
    let end = at + 1;
    if (stem !== undefined) {
      while (end < nodes.length && EXPERT.exec(tensors[nodes[end]!.first]!.name)?.[1] === stem) end += 1;
    }
    if (end - at > 3) {
      const children = nodes.slice(at, end);
      const numbers = children.map((child) => Number(EXPERT.exec(tensors[child.first]!.name)![2]));
      const label = `experts[${Math.min(...numbers)}…${Math.max(...numbers)}]`;
      out.push({ key: `e${stem}`, label, first: children[0]!.first, count: children.length, children });
    } else {
      out.push(...nodes.slice(at, end));
    }
    at = end;
  }
  return out;
}

/** Model order: neighboring tensors of one group are one node, tensors outside of layers stand alone. */
export function rowTree(tensors: TensorRow[]): RowNode[] {
  const nodes: RowNode[] = [];
  for (let at = 0; at < tensors.length; ) {
    const group = tensors[at]!.group;
    let end = at + 1;
    while (end < tensors.length && tensors[end]!.group === group) end += 1;
    const members = Array.from({ length: end - at }, (_, i) => tensorNode(tensors, at + i, group));
    if (group === '') nodes.push(...members);
    else nodes.push({ key: `g${at}`, label: group, first: at, count: end - at, children: foldExperts(tensors, members) });
    at = end;
  }
  return nodes;
}

const bandHeight = (count: number): number => Math.min(BAND.most, Math.max(BAND.least, count * THIN));

function flatten(nodes: RowNode[], open: ReadonlySet<string>, depth: number, out: ViewRow[]): ViewRow[] {
  for (const { key, label, first, count, children } of nodes) {
    if (children.length === 0) out.push({ key, label, depth, first, count, kind: 'tensor', height: OPEN });
    else if (!open.has(key)) out.push({ key, label, depth, first, count, kind: 'band', height: bandHeight(count) });
    else {
      out.push({ key, label, depth, first, count, kind: 'head', height: OPEN });
      flatten(children, open, depth + 1, out);
    }
  }
  return out;
}

const COLLATOR = new Intl.Collator('en', { numeric: true });

const ORDER: Record<Exclude<RowSort, 'model'>, (a: TensorRow, b: TensorRow) => number> = {
  total: (a, b) => (b.changed_elems ?? 0) / b.elements - (a.changed_elems ?? 0) / a.elements,
  last: (a, b) => (b.last_changed ?? -1) - (a.last_changed ?? -1),
  name: (a, b) => COLLATOR.compare(a.name, b.name),
};

export function viewRows(
  tensors: TensorRow[], tree: RowNode[], open: ReadonlySet<string>, sort: RowSort, filter: string, known: number,
): ViewRow[] {
  if (sort === 'model' && filter.trim() === '') return flatten(tree, open, 0, []);
  const test = tensorFilter(filter, known).test;
  const rows = tensors.map((_, at) => at).filter((at) => test(tensors[at]!));
  if (sort !== 'model') rows.sort((a, b) => ORDER[sort](tensors[a]!, tensors[b]!));
  return rows.map((at) => ({
    key: `t${tensors[at]!.id}`, label: tensors[at]!.name.replace(/\.weight$/, ''), depth: 0, first: at, count: 1,
    kind: 'tensor', height: OPEN,
  }));
}

/** Tops of the rows at a scale, and the end of the last one. */
export function rowTops(rows: readonly ViewRow[], scale: number): Float64Array {
  const tops = new Float64Array(rows.length + 1);
  rows.forEach((row, i) => (tops[i + 1] = tops[i]! + Math.max(1, Math.round(row.height * scale))));
  return tops;
}

/** Row at a height in pixels; -1 outside. */
export function rowAt(tops: Float64Array, y: number): number {
  const rows = tops.length - 1;
  if (y < 0 || rows < 1 || y >= tops[rows]!) return -1;
  let low = 0;
  let high = rows;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (tops[middle]! <= y) low = middle;
    else high = middle;
  }
  return low;
}

/** Matrix row under a height: inside of a band, the thin line of one tensor. */
export function matrixRowAt(rows: readonly ViewRow[], tops: Float64Array, y: number): number {
  const at = rowAt(tops, y);
  if (at < 0) return -1;
  const row = rows[at]!;
  if (row.kind !== 'band') return row.first;
  return row.first + Math.floor(((y - tops[at]!) / (tops[at + 1]! - tops[at]!)) * row.count);
}

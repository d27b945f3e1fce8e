// The chain column of the lineage: lanes, anchors ◆, deltas ●, gaps ○, broken ✕, and the replay path of B.

import type { LineageRow } from '../api/types';
import type { Edge, Item, Link } from './chains';
import type { Palette } from './palette';
import { cross, diamond, font, line, text } from './pen';
import type { Pen } from './surface';

export const ROW = 28;
const FIRST = 24;
const LANE = 24;
const MOST = 6; // lanes; further ones share the last

export const laneX = (lane: number): number => FIRST + Math.min(lane, MOST - 1) * LANE;

export interface ChainScene {
  rows: readonly LineageRow[];
  items: readonly Item[];
  links: readonly Link[];
  edges: readonly Edge[];
  path: ReadonlySet<number>;
  b: number; // row, -1: none
  scroll: number;
}

export function paintChains(pen: Pen, height: number, scene: ChainScene, colors: Palette): void {
  const { items, links, edges, scroll } = scene;
  const first = Math.floor(scroll / ROW);
  const last = Math.min(items.length, Math.ceil((scroll + height) / ROW) + 1);
  const y = (item: number): number => item * ROW + ROW / 2 - scroll;
  for (const link of links) {
    if (link.to < first || link.from > last || link.path) continue;
    paintLink(pen, link, y, colors);
  }
  for (const link of links) if (link.path && link.to >= first && link.from <= last) paintLink(pen, link, y, colors);
  for (const edge of edges) if ((edge.to ?? edge.from) >= first && edge.from <= last) paintEdge(pen, edge, y, colors);
  for (let at = first; at < last; at += 1) paintItem(pen, items[at]!, y(at), scene, colors);
}

function paintLink(pen: Pen, link: Link, y: (item: number) => number, colors: Palette): void {
  const [x0, x1] = [laneX(link.laneFrom), laneX(link.laneTo)];
  pen.strokeStyle = link.path ? colors.accent : colors.other;
  pen.lineWidth = link.path ? 3 : 1.5;
  pen.setLineDash(link.lost ? [3, 3] : []);
  pen.beginPath();
  pen.moveTo(x0, y(link.from));
  if (x0 !== x1) pen.lineTo(x0, y(link.to) - ROW / 2);
  pen.lineTo(x1, y(link.to));
  pen.stroke();
  pen.setLineDash([]);
}

/** A bracket beside the lane; of a complete form an open diamond beside its row. */
function paintEdge(pen: Pen, edge: Edge, y: (item: number) => number, colors: Palette): void {
  const x = laneX(edge.lane);
  const top = y(edge.from);
  pen.strokeStyle = edge.usable ? colors.muted : colors.error;
  pen.lineWidth = 1;
  pen.setLineDash(edge.usable ? [] : [2, 2]);
  pen.beginPath();
  if (edge.to === null) {
    pen.moveTo(x + 12, top - 4);
    pen.lineTo(x + 16, top);
    pen.lineTo(x + 12, top + 4);
    pen.lineTo(x + 8, top);
    pen.closePath();
  } else {
    const side = x + 8 + 2 * edge.track;
    pen.moveTo(x + 5, top + 2);
    pen.lineTo(side, top + 5);
    pen.lineTo(side, y(edge.to) - 5);
    pen.lineTo(x + 5, y(edge.to) - 2);
  }
  pen.stroke();
  pen.setLineDash([]);
}

function paintItem(pen: Pen, item: Item, y: number, { rows, path, b }: ChainScene, colors: Palette): void {
  if (item.kind === 'restart') {
    pen.fillStyle = colors.text;
    pen.font = font(colors, 14, 600);
    text(pen, '⟲', laneX(0), y, 'center');
    return;
  }
  if (item.kind === 'fold') {
    pen.strokeStyle = path.has(item.from) ? colors.accent : colors.text;
    pen.lineWidth = 2;
    pen.setLineDash([2, 4]);
    line(pen, laneX(rows[item.from]!.lane), y - ROW / 2 + 2, laneX(rows[item.from]!.lane), y + ROW / 2 - 2);
    pen.setLineDash([]);
    return;
  }
  const row = rows[item.at]!;
  const x = laneX(row.lane);
  const color = path.has(item.at) ? colors.accent : row.surviving ? colors.text : colors.other;
  pen.fillStyle = color;
  pen.strokeStyle = color;
  if (row.kind === 'anchor' && item.at < rows.length - 1) {
    pen.lineWidth = 1;
    pen.strokeStyle = colors.other;
    line(pen, x - 1.5, y + 8, x - 1.5, y + ROW / 2);
    line(pen, x + 1.5, y + 8, x + 1.5, y + ROW / 2);
  }
  if (row.state === 'gap') {
    pen.strokeStyle = colors.error;
    ring(pen, x, y, 4.5, colors);
  } else if (row.state === 'broken') {
    pen.fillStyle = colors.surface;
    pen.fillRect(x - 6, y - 6, 12, 12);
    pen.strokeStyle = colors.error;
    pen.lineWidth = 2;
    cross(pen, x, y, 4.5);
  } else if (row.kind === 'anchor' || row.kind === 'partial_anchor') {
    diamond(pen, x, y, item.at === b ? 8 : 7);
  } else {
    disc(pen, x, y, item.at === b ? 6 : 4.5);
  }
}

function disc(pen: Pen, x: number, y: number, radius: number): void {
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.fill();
}

function ring(pen: Pen, x: number, y: number, radius: number, colors: Palette): void {
  pen.fillStyle = colors.surface;
  disc(pen, x, y, radius);
  pen.lineWidth = 1.5;
  pen.beginPath();
  pen.arc(x, y, radius, 0, 2 * Math.PI);
  pen.stroke();
}

// What stands around the cells of the heatmap: names, lanes, steps, means, the legend and the overview of the run.

import type { HeatColumn } from '../api/types';
import { safeName } from '../format';
import { tickStep, toPixel } from './axis';
import { colorAt, type MapName, type Window } from './colors';
import { SHARES, shareText } from './codes';
import type { Box } from './heatLayout';
import type { HeatModel } from './heatModel';
import type { Palette } from './palette';
import { cut, diamond, font, hatch, line, text } from './pen';
import { rowAt } from './rows';
import type { Pen } from './surface';
import { isUnknown, TILE } from './tiles';

export interface Marks {
  b: number; // column, -1: none
  a: number;
  alerts: ReadonlySet<number>; // steps
  flags: readonly { x: number; text: string }[]; // words of steps
}

/** Names of the rows, as many as have room. */
export function paintTree(pen: Pen, box: Box, model: HeatModel, colors: Palette): void {
  const { rows, tops, scroll, cursor } = model;
  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y, box.width, box.height);
  pen.clip();
  let free = -Infinity; // bottom of the last name
  for (let at = Math.max(0, rowAt(tops, scroll)); at < rows.length && tops[at]! - scroll < box.height; at += 1) {
    const row = rows[at]!;
    const height = tops[at + 1]! - tops[at]!;
    const middle = box.y + tops[at]! - scroll + height / 2;
    const current = cursor?.row === at;
    if (current) {
      pen.fillStyle = colors.selection;
      pen.fillRect(box.x, middle - Math.max(height, 12) / 2, box.width + 8, Math.max(height, 12));
    }
    if (middle - 5 < free && !current) continue;
    free = middle + 5;
    const x = box.x + 4 + row.depth * 10;
    const group = row.kind !== 'tensor';
    pen.font = font(colors, group ? 11 : 10.5, row.kind === 'head' || current ? 600 : 500);
    pen.fillStyle = row.kind === 'band' && !current ? colors.muted : colors.text;
    if (group) chevron(pen, x + 4, middle, row.kind === 'head', colors);
    text(pen, cut(pen, safeName(row.label), box.width - (x - box.x) - 16, 'start'), x + 14, middle);
  }
  pen.restore();
}

function chevron(pen: Pen, x: number, y: number, open: boolean, colors: Palette): void {
  pen.strokeStyle = colors.muted;
  pen.lineWidth = 1.4;
  pen.beginPath();
  if (open) {
    pen.moveTo(x - 3.5, y - 2);
    pen.lineTo(x, y + 2);
    pen.lineTo(x + 3.5, y - 2);
  } else {
    pen.moveTo(x - 2, y - 3.5);
    pen.lineTo(x + 2, y);
    pen.lineTo(x - 2, y + 3.5);
  }
  pen.stroke();
}

/** Lanes above the cells: anchors and alerts, verified, pause. */
export function paintLanes(pen: Pen, box: Box, model: HeatModel, marks: Marks, colors: Palette): void {
  const { axis, columns } = model;
  pen.font = font(colors, 10.5, 500);
  pen.fillStyle = colors.muted;
  ['anchors, alerts', 'verified', 'pause'].forEach((name, i) => text(pen, name, box.x - 8, box.y + 6 + i * 12, 'right'));

  pen.save();
  pen.beginPath();
  pen.rect(box.x - 5, box.y, box.width + 10, box.height);
  pen.clip();
  const every = Math.max(1, Math.round(1 / axis.cell)); // columns that share a pixel
  const end = Math.min(columns.length, Math.ceil(axis.first + box.width / axis.cell));
  const longest = model.longestPause;
  let free = -Infinity;
  for (let at = Math.floor(Math.max(0, axis.first) / every) * every; at < end; at += every) {
    const lane = merge(columns, at, Math.min(columns.length, at + every), marks);
    const x = box.x + toPixel(axis, at);
    const width = Math.max(1, axis.cell * every - (axis.cell > 3 ? 1 : 0));
    const middle = x + (axis.cell * every) / 2;
    if (lane.alert && middle > free) {
      flag(pen, middle, box.y + 6, colors);
      free = middle + 9;
    } else if (lane.anchor && middle > free) {
      pen.fillStyle = colors.text;
      diamond(pen, middle, box.y + 6, 4);
      free = middle + 8;
    }
    if (lane.damaged) {
      pen.fillStyle = colors.error;
      pen.font = font(colors, 11, 700);
      text(pen, '✕', middle, box.y + 18, 'center');
    } else if (lane.verified !== null) {
      pen.fillStyle = colors.accent;
      pen.globalAlpha = lane.verified >= 4 ? 1 : 0.55;
      pen.fillRect(x, box.y + 15, width, 5);
      pen.globalAlpha = 1;
    }
    if (lane.pause > 0) {
      const height = Math.max(1, (lane.pause / longest) * 11);
      pen.fillStyle = colors.pause;
      pen.fillRect(x, box.y + 35 - height, width, height);
    }
  }
  pen.restore();
}

interface Lane {
  alert: boolean;
  anchor: boolean;
  damaged: boolean;
  verified: number | null;
  pause: number;
}

const merged: Lane = { alert: false, anchor: false, damaged: false, verified: null, pause: 0 };

/** What the lanes say of the columns [from, to): the worst of them. */
function merge(columns: readonly HeatColumn[], from: number, to: number, marks: Marks): Lane {
  Object.assign(merged, { alert: false, anchor: false, damaged: false, verified: columns[from]!.verified, pause: 0 });
  for (let at = from; at < to; at += 1) {
    const column = columns[at]!;
    merged.alert ||= marks.alerts.has(column.step);
    merged.anchor ||= column.kind === 'anchor' || column.kind === 'partial_anchor';
    merged.damaged ||= column.damaged;
    merged.pause = Math.max(merged.pause, column.pause_ms ?? 0);
    if (merged.verified !== null) {
      merged.verified = column.verified === null ? null : Math.min(merged.verified, column.verified);
    }
  }
  return merged;
}

function flag(pen: Pen, x: number, y: number, colors: Palette): void {
  pen.strokeStyle = colors.text;
  pen.fillStyle = colors.text;
  pen.lineWidth = 1;
  line(pen, x - 3, y - 4, x - 3, y + 4);
  pen.fillRect(x - 3, y - 4, 6, 4);
}

/** Step numbers at round steps, and the number of B in a tag. */
export function paintSteps(pen: Pen, box: Box, model: HeatModel, marks: Marks, colors: Palette): void {
  const { axis, columns } = model;
  if (columns.length === 0) return;
  pen.font = font(colors, 11, 500);
  const every = tickStep(axis.cell, 80);
  const end = Math.min(columns.length, Math.ceil(axis.first + box.width / axis.cell));
  const tag = marks.b < 0 ? -1e9 : box.x + toPixel(axis, marks.b) + axis.cell / 2;
  pen.fillStyle = colors.muted;
  for (let at = Math.max(0, Math.floor(axis.first)); at < end; at += 1) {
    if (columns[at]!.step % every !== 0) continue;
    const x = box.x + toPixel(axis, at) + axis.cell / 2;
    if (Math.abs(x - tag) > 44 && x < box.x + box.width - 12) text(pen, String(columns[at]!.step), x, box.y + 8, 'center');
  }
  if (tag < box.x || tag > box.x + box.width) return;
  const middle = Math.min(tag, box.x + box.width - 20);
  pen.fillStyle = colors.text;
  pen.fillRect(middle - 20, box.y, 40, 16);
  pen.fillStyle = colors.surface;
  pen.font = font(colors, 11, 600);
  text(pen, String(columns[marks.b]!.step), middle, box.y + 8.5, 'center');
}

/** Mean share per step of each row, as a bar. */
export function paintGutter(pen: Pen, box: Box, model: HeatModel, colors: Palette): void {
  const { rows, tops, scroll, known, changedBefore, elementsBefore } = model;
  const share = (first: number, count: number): number => {
    const elements = (elementsBefore[first + count]! - elementsBefore[first]!) * known;
    return elements === 0 ? 0 : (changedBefore[first + count]! - changedBefore[first]!) / elements;
  };
  const from = Math.max(0, rowAt(tops, scroll));
  const shares: number[] = [];
  for (let at = from; at < rows.length && tops[at]! - scroll < box.height; at += 1) {
    shares.push(share(rows[at]!.first, rows[at]!.count));
  }
  const most = Math.max(...shares, 1e-9);
  pen.font = font(colors, 11, 500);
  pen.fillStyle = colors.muted;
  text(pen, known === 0 ? 'mean unknown' : `mean, 0 – ${shareText(most)}`, box.x, box.y - 20); // above the first tick of the legend
  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y, box.width, box.height);
  pen.clip();
  pen.fillStyle = colors.other;
  shares.forEach((value, i) => {
    const height = tops[from + i + 1]! - tops[from + i]!;
    const bar = Math.min(6, Math.max(1, height - 2));
    pen.fillRect(box.x, box.y + tops[from + i]! - scroll + (height - bar) / 2, (value / most) * box.width, bar);
  });
  pen.restore();
}

/** The legend lies below the plot where the window is narrow, else upright beside it. */
export function paintLegend(pen: Pen, box: Box, map: MapName, window: Window, colors: Palette): void {
  const upright = box.height > box.width;
  const length = upright ? box.height : box.width;
  const decades = Math.log10(window.hi / window.lo);
  for (let i = 0; i < length; i += 1) {
    pen.fillStyle = colorAt(map, i / (length - 1));
    if (upright) pen.fillRect(box.x, box.y + box.height - 1 - i, box.width, 1.5);
    else pen.fillRect(box.x + i, box.y, 1.5, box.height);
  }
  pen.font = font(colors, 11, 500);
  pen.fillStyle = colors.text;
  const every = decades > 3 || !upright ? [1] : [1, 3];
  for (let power = -6; power <= 0; power += 1) {
    for (const times of every) {
      const value = times * 10 ** power;
      if (value < window.lo * 0.999 || value > window.hi * 1.001) continue;
      const at = (Math.log10(value / window.lo) / decades) * (length - 1);
      if (upright) text(pen, shareText(value), box.x + box.width + 6, box.y + box.height - at);
      else text(pen, shareText(value), box.x + at, box.y + box.height + 9, at > length - 20 ? 'right' : at < 20 ? 'left' : 'center');
    }
  }
  if (upright) {
    swatch(pen, box.x, box.y + box.height + 14, 'zero', colors);
    swatch(pen, box.x, box.y + box.height + 32, 'unknown', colors);
  }
}

function swatch(pen: Pen, x: number, y: number, name: 'zero' | 'unknown', colors: Palette): void {
  pen.fillStyle = name === 'zero' ? colors.zero : colors.sunken;
  pen.fillRect(x, y, 12, 12);
  pen.strokeStyle = colors.other;
  pen.lineWidth = 1;
  if (name === 'unknown') hatch(pen, x, y, 12, 12, 4);
  pen.strokeRect(x + 0.5, y + 0.5, 11, 11);
  pen.fillStyle = colors.muted;
  text(pen, name, x + 18, y + 6.5);
}

/** The whole run in one line, the highest share of each column, and a frame around what is in view. */
export function paintOverview(pen: Pen, box: Box, model: HeatModel, table: Uint32Array, colors: Palette): void {
  const { axis, columns, store } = model;
  pen.font = font(colors, 11, 500);
  pen.fillStyle = colors.muted;
  text(pen, box.x < 120 ? 'run, max' : 'whole run, max', box.x - 8, box.y + box.height / 2, 'right');
  pen.fillStyle = colors.sunken;
  pen.fillRect(box.x, box.y, box.width, box.height);
  pen.strokeStyle = colors.other;
  pen.lineWidth = 1;
  hatch(pen, box.x, box.y, box.width, box.height, 4);
  const level = store.levelsX - 1;
  const tile = store.find('max', store.levelsY - 1, level, 0, 0);
  const cells = Math.ceil(columns.length / (1 << level));
  const width = (box.width * (1 << level)) / Math.max(1, columns.length);
  for (let x = 0; tile !== null && x < cells; x += 1) {
    const code = highest(tile, x, Math.ceil(model.tensors.length / (1 << (store.levelsY - 1))));
    if (code < 0) continue; // unknown
    const color = table[code]!;
    pen.fillStyle = `rgb(${color & 255} ${(color >> 8) & 255} ${(color >> 16) & 255})`;
    const left = box.x + x * width;
    pen.fillRect(left, box.y, Math.min(width + 0.6, box.x + box.width - left), box.height);
  }
  const scale = box.width / Math.max(1, axis.count);
  pen.strokeStyle = colors.text;
  pen.lineWidth = 2;
  pen.strokeRect(
    box.x + axis.first * scale, box.y - 2, Math.min(box.width, Math.max(4, (box.width / axis.cell) * scale)), box.height + 4,
  );
  pen.fillStyle = colors.muted;
  const every = tickStep(scale, 120);
  for (let at = 0; at < columns.length; at += 1) {
    if (columns[at]!.step % every !== 0) continue;
    text(pen, String(columns[at]!.step), box.x + at * scale, box.y + box.height + 13, at * scale < 20 ? 'left' : 'center');
  }
}

function highest(tile: { codes: Uint8Array; unknown: Uint8Array | null }, x: number, rows: number): number {
  let most = -1;
  for (let y = 0; y < Math.min(TILE, rows); y += 1) {
    const cell = y * TILE + x;
    if (!isUnknown(tile, cell)) most = Math.max(most, tile.codes[cell]!);
  }
  return most;
}

/** "0.82 %" of a code, or that it is unknown. */
export const codeText = (code: number | null): string => (code === null ? 'not known' : shareText(SHARES[code]!));

// Paints the heatmap: cells, cursor, marks. The parts around it are in heatFrame.ts.

import { levelFor, toPixel } from './axis';
import type { CellPicture, Cells } from './cells';
import type { HeatModel } from './heatModel';
import { hatch, line } from './pen';
import { rowAt } from './rows';
import type { Pen } from './surface';
import { inside, type Box } from './heatLayout';
import type { Palette } from './palette';

/** Lines of the picture that a row takes: bands are drawn tensor by tensor as far as pixels go. */
const linesOf = (kind: string, count: number, height: number): number =>
  kind === 'band' ? Math.min(count, Math.max(1, Math.floor(height))) : 1;

/** Paints all cells in view; the hatch of what is unknown shines through where a cell is transparent. */
export function paintCells(pen: Pen, box: Box, model: HeatModel, cells: Cells, picture: CellPicture, colors: Palette): void {
  const { axis, rows, tops, scroll } = model;
  const first = rowAt(tops, scroll);
  if (first < 0 || axis.count === 0) return;
  const right = Math.min(box.width, toPixel(axis, axis.count));
  const bottom = Math.min(box.height, tops[rows.length]! - scroll);

  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y, right, bottom);
  pen.clip();
  pen.fillStyle = colors.sunken;
  pen.fillRect(box.x, box.y, right, bottom);
  pen.strokeStyle = colors.other;
  pen.globalAlpha = 0.55;
  pen.lineWidth = 1;
  hatch(pen, box.x, box.y, right, bottom, 6);
  pen.globalAlpha = 1;

  const level = levelFor(axis.cell, cells.store.levelsX);
  const merged = 1 << level;
  const from = Math.floor(axis.first / merged);
  const to = Math.min(Math.ceil(axis.count / merged), Math.ceil((axis.first + box.width / axis.cell) / merged));
  let last = first;
  let lines = 0;
  for (; last < rows.length && tops[last]! - scroll < box.height; last += 1) {
    lines += linesOf(rows[last]!.kind, rows[last]!.count, tops[last + 1]! - tops[last]!);
  }
  picture.begin(level, from, to, lines);
  let y = 0;
  for (let at = first; at < last; at += 1) {
    const row = rows[at]!;
    const wanted = linesOf(row.kind, row.count, tops[at + 1]! - tops[at]!);
    for (let i = 0; i < wanted; i += 1) {
      const begin = row.first + Math.floor((i * row.count) / wanted);
      const end = row.first + Math.floor(((i + 1) * row.count) / wanted);
      picture.line(y + i, cells, begin, end - begin);
    }
    y += wanted;
  }
  picture.end(lines);
  stretch(pen, box, model, picture, first, last, merged);
  pen.restore();
}

/** Stretches the picture over the plot; neighboring rows with lines of one height go together. */
function stretch(pen: Pen, box: Box, model: HeatModel, picture: CellPicture, first: number, last: number, merged: number): void {
  const { axis, rows, tops, scroll } = model;
  pen.imageSmoothingEnabled = false;
  const x = box.x + toPixel(axis, picture.from * merged);
  const width = (picture.to - picture.from) * merged * axis.cell;
  let y = 0;
  for (let at = first; at < last; ) {
    const height = tops[at + 1]! - tops[at]!;
    let lines = linesOf(rows[at]!.kind, rows[at]!.count, height);
    const each = height / lines;
    let end = at + 1;
    for (; end < last; end += 1) {
      const more = linesOf(rows[end]!.kind, rows[end]!.count, tops[end + 1]! - tops[end]!);
      if ((tops[end + 1]! - tops[end]!) / more !== each) break;
      lines += more;
    }
    pen.drawImage(
      picture.canvas, 0, y, picture.to - picture.from, lines, x, box.y + tops[at]! - scroll, width, tops[end]! - tops[at]!,
    );
    y += lines;
    at = end;
  }
}

/** A column marked from top to bottom: B solid, A dashed. */
export function paintColumn(pen: Pen, box: Box, model: HeatModel, column: number, colors: Palette, dashed: boolean): void {
  if (column < 0) return;
  const x = toPixel(model.axis, column);
  const width = Math.max(2, model.axis.cell);
  if (x + width < 0 || x > box.width) return;
  pen.save();
  pen.beginPath();
  pen.rect(box.x - 1, box.y - 1, box.width + 2, box.height + 2);
  pen.clip();
  pen.strokeStyle = colors.text;
  pen.lineWidth = 1;
  pen.setLineDash(dashed ? [3, 3] : []);
  pen.globalAlpha = 0.85;
  const height = Math.min(box.height, model.tops.at(-1)! - model.scroll);
  pen.strokeRect(box.x + Math.round(x) + 0.5, box.y + 0.5, Math.round(width) - 1, height - 1);
  pen.restore();
}

/** Thin lines through the mouse. */
export function paintCrosshair(pen: Pen, box: Box, mouse: { x: number; y: number }, colors: Palette): void {
  if (!inside(box, mouse.x, mouse.y)) return;
  const x = Math.round(mouse.x) + 0.5;
  const y = Math.round(mouse.y) + 0.5;
  pen.strokeStyle = colors.text;
  pen.globalAlpha = 0.35;
  pen.lineWidth = 1;
  line(pen, x, box.y, x, box.y + box.height);
  line(pen, box.x, y, box.x + box.width, y);
  pen.globalAlpha = 1;
}

/** The cell of the cursor. */
export function paintCursor(pen: Pen, box: Box, model: HeatModel, colors: Palette): void {
  const { cursor, axis, rows, tops, scroll } = model;
  const row = cursor === null ? undefined : rows[cursor.row];
  if (cursor === null || row === undefined) return;
  const height = tops[cursor.row + 1]! - tops[cursor.row]!;
  const part = row.kind === 'band' ? height / row.count : height;
  const x = box.x + toPixel(axis, cursor.column);
  const y = box.y + tops[cursor.row]! - scroll + cursor.offset * part;
  pen.save();
  pen.beginPath();
  pen.rect(box.x - 2, box.y - 2, box.width + 4, box.height + 4);
  pen.clip();
  const width = Math.max(6, axis.cell);
  const tall = Math.max(6, part);
  pen.strokeStyle = colors.surface;
  pen.lineWidth = 4;
  pen.strokeRect(x + (axis.cell - width) / 2, y + (part - tall) / 2, width, tall);
  pen.strokeStyle = colors.text;
  pen.lineWidth = 2;
  pen.strokeRect(x + (axis.cell - width) / 2, y + (part - tall) / 2, width, tall);
  pen.restore();
}

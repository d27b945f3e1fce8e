// The whole lineage in one strip: height is bytes, anchors are dark, problems are marked.

import type { LineageRow } from '../api/types';
import type { Palette } from './palette';
import { cross, font, line, text } from './pen';
import { tickStep } from './axis';
import type { Pen } from './surface';

export interface StripScene {
  rows: readonly LineageRow[]; // newest first; drawn oldest left
  from: number; // rows in view
  to: number;
}

export const STRIP = { left: 4, right: 4, plot: 36 };

/** Row under a pixel. */
export function stripRow(rows: number, width: number, x: number): number {
  const part = (x - STRIP.left) / Math.max(1, width - STRIP.left - STRIP.right);
  return Math.min(rows - 1, Math.max(0, rows - 1 - Math.floor(part * rows)));
}

export function paintStrip(pen: Pen, width: number, { rows, from, to }: StripScene, colors: Palette): void {
  const count = rows.length;
  const inner = Math.max(1, width - STRIP.left - STRIP.right);
  const each = inner / count;
  const largest = rows.reduce((most, row) => Math.max(most, isAnchor(row) ? 0 : row.wire_bytes), 1);
  const x = (at: number): number => STRIP.left + (count - 1 - at) * each;
  const pixels = new Float32Array(Math.ceil(inner) + 1); // highest delta per pixel, -1: an anchor
  for (let at = count - 1; at >= 0; at -= 1) {
    const row = rows[at]!;
    const pixel = Math.floor(x(at) - STRIP.left);
    if (isAnchor(row) && row.state !== 'gap') pixels[pixel] = -1;
    else if (pixels[pixel]! >= 0) pixels[pixel] = Math.max(pixels[pixel]!, row.wire_bytes / largest);
  }
  const bar = Math.max(1, Math.min(each * 0.8, 3));
  pixels.forEach((value, pixel) => {
    if (value === 0) return;
    const height = value < 0 ? STRIP.plot : value * STRIP.plot * 0.6;
    pen.fillStyle = value < 0 ? colors.text : colors.accent;
    pen.globalAlpha = value < 0 ? 0.85 : 0.6;
    pen.fillRect(STRIP.left + pixel, STRIP.plot - height, bar, height);
  });
  let broken = -Infinity;
  pen.globalAlpha = 1;
  for (let at = count - 1; at >= 0; at -= 1) {
    if (rows[at]!.state !== 'broken' && rows[at]!.state !== 'gap') continue;
    if (x(at) - broken < 8) continue;
    broken = x(at);
    pen.strokeStyle = colors.error;
    pen.lineWidth = 2;
    cross(pen, x(at) + each / 2, STRIP.plot + 8, 3.5);
  }
  pen.strokeStyle = colors.border;
  pen.lineWidth = 1;
  line(pen, STRIP.left, STRIP.plot + 0.5, width - STRIP.right, STRIP.plot + 0.5);
  pen.strokeStyle = colors.text;
  pen.lineWidth = 2;
  const left = x(Math.min(count - 1, to));
  pen.strokeRect(left, 1, Math.max(4, x(from) + each - left), STRIP.plot - 1);
  pen.fillStyle = colors.muted;
  pen.font = font(colors, 11, 500);
  const every = tickStep(each, 120);
  for (let at = count - 1; at >= 0; at -= every) text(pen, String(rows[at]!.step), x(at), STRIP.plot + 20, at === count - 1 ? 'left' : 'center');
}

const isAnchor = (row: LineageRow): boolean => row.kind === 'anchor' || row.kind === 'partial_anchor';

// Bars of sync time, one per step, with the pause at the bottom.

import type { Bar } from '../api/types';
import { duration } from '../format';
import { tickStep, toPixel, valueTicks, type Axis } from './axis';
import type { Box } from './heatLayout';
import type { Palette } from './palette';
import { font, hatch, line, text } from './pen';
import { colorOf, stretches } from './phases';
import type { Pen } from './surface';

const HATCHED = 8; // pixels of width from which a pause is hatched

export interface BarScene {
  bars: readonly Bar[];
  axis: Axis;
  selected: number; // index, -1: none
  ghostMs: number | null; // a full sync, for comparison
  labels: boolean; // write the length of the longest pause
}

/** Milliseconds at the top of the plot: the highest bar in view, up to a round number. */
export function topOf({ bars, axis }: BarScene): { ticks: number[]; top: number } {
  let most = 0;
  const end = Math.min(bars.length, Math.ceil(axis.first + axis.size / axis.cell));
  for (let at = Math.max(0, Math.floor(axis.first)); at < end; at += 1) most = Math.max(most, bars[at]!.total_ms);
  const ticks = valueTicks(Math.max(1, most) / 1000, 7).map((seconds) => seconds * 1000);
  return { ticks, top: ticks.at(-1)! };
}

export function paintBars(pen: Pen, box: Box, scene: BarScene, colors: Palette): void {
  const { bars, axis, selected } = scene;
  const { ticks, top } = topOf(scene);
  const y = (ms: number): number => box.y + box.height - (ms / top) * box.height;
  pen.font = font(colors, 11, 500);
  pen.lineWidth = 1;
  for (const tick of ticks) {
    pen.strokeStyle = colors.grid;
    line(pen, box.x, Math.round(y(tick)) + 0.5, box.x + box.width, Math.round(y(tick)) + 0.5);
    pen.fillStyle = colors.muted;
    text(pen, String(Number((tick / 1000).toPrecision(3))), box.x - 8, y(tick), 'right');
  }

  pen.save();
  pen.beginPath();
  pen.rect(box.x, box.y - 20, box.width, box.height + 20);
  pen.clip();
  const end = Math.min(bars.length, Math.ceil(axis.first + box.width / axis.cell));
  const width = Math.max(1, Math.min(20, axis.cell * 0.72));
  for (let at = Math.max(0, Math.floor(axis.first)); at < end; at += 1) {
    const left = box.x + toPixel(axis, at);
    if (at === selected) {
      pen.fillStyle = colors.selection;
      pen.fillRect(left, box.y - 8, axis.cell, box.height + 8);
    }
    paintBar(pen, bars[at]!, left + (axis.cell - width) / 2, width, y, colors);
  }
  pen.restore();
  if (scene.labels) paintLongest(pen, box, scene, y, colors);
  paintGhost(pen, box, scene.ghostMs, top, y, colors);
  paintStepAxis(pen, box, scene, colors);
}

function paintBar(pen: Pen, bar: Bar, x: number, width: number, y: (ms: number) => number, colors: Palette): void {
  for (const { group, from, to } of stretches(bar)) {
    const upper = y(to);
    const height = y(from) - upper;
    const gap = height > 3 && width > 3 ? 1 : 0;
    pen.fillStyle = colorOf(group, colors);
    if (group !== 'pause') {
      pen.globalAlpha = group === 'other' ? 0.45 : 1;
      pen.fillRect(x, upper + gap, width, Math.max(0.5, height - gap));
      pen.globalAlpha = 1;
      continue;
    }
    pen.fillRect(x, upper, width, Math.max(1, height));
    if (width < HATCHED) continue;
    pen.strokeStyle = colors.surface;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1.6;
    hatch(pen, x, upper, width, height, 5);
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.pause;
    pen.lineWidth = 1.5;
    pen.strokeRect(x + 0.75, upper + 0.75, width - 1.5, Math.max(0, height - 1.5));
  }
}

/** The longest pause in view says its length. */
function paintLongest(pen: Pen, box: Box, { bars, axis }: BarScene, y: (ms: number) => number, colors: Palette): void {
  const from = Math.max(0, Math.floor(axis.first));
  const end = Math.min(bars.length, Math.ceil(axis.first + box.width / axis.cell));
  let longest = -1;
  let pause = 0;
  for (let at = from; at < end; at += 1) {
    const ms = bars[at]!.pause_ms ?? 0;
    if (ms <= pause) continue;
    longest = at;
    pause = ms;
  }
  const bar = bars[longest];
  if (bar === undefined) return;
  pen.font = font(colors, 11, 600);
  pen.fillStyle = colors.text;
  const x = box.x + toPixel(axis, longest) + axis.cell / 2;
  text(pen, `${duration(pause / 1000)} paused`, Math.min(box.x + box.width - 44, Math.max(box.x + 44, x)), y(bar.total_ms) - 10, 'center');
}

/** What one full checkpoint would take: a dashed line, off the scale with its number. */
function paintGhost(pen: Pen, box: Box, ms: number | null, top: number, y: (ms: number) => number, colors: Palette): void {
  if (ms === null) return;
  const off = ms > top;
  const at = off ? box.y - 20 : y(ms);
  const note = off
    ? `↑ full sync would take ${duration(ms / 1000)} per step, ${Math.round(ms / top)} times the height of this chart`
    : `full sync ${duration(ms / 1000)}`;
  pen.font = font(colors, 11, 400);
  const width = pen.measureText(note).width;
  pen.strokeStyle = colors.muted;
  pen.lineWidth = 1;
  pen.setLineDash([4, 3]);
  line(pen, box.x, at, box.x + 24, at);
  line(pen, box.x + 40 + width, at, box.x + box.width, at);
  pen.setLineDash([]);
  pen.fillStyle = colors.surface;
  pen.fillRect(box.x + 26, at - 9, width + 12, 18);
  pen.fillStyle = colors.muted;
  text(pen, note, box.x + 32, at);
}

function paintStepAxis(pen: Pen, box: Box, { bars, axis, selected }: BarScene, colors: Palette): void {
  const every = tickStep(axis.cell, 70);
  const end = Math.min(bars.length, Math.ceil(axis.first + box.width / axis.cell));
  const bottom = box.y + box.height;
  for (let at = Math.max(0, Math.floor(axis.first)); at < end; at += 1) {
    const { step } = bars[at]!;
    const x = box.x + toPixel(axis, at) + axis.cell / 2;
    const own = at === selected;
    if (!own && (step % every !== 0 || Math.abs(at - selected) * axis.cell < 40 && selected >= 0)) continue;
    pen.font = font(colors, 11, own ? 600 : 500);
    pen.fillStyle = own ? colors.text : colors.muted;
    text(pen, String(step), x, bottom + 14, 'center');
  }
}

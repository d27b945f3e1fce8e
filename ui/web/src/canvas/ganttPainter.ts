// Wall clock: one lane per actor, pauses hatched, outlined and labeled, publications as marks.

import type { SpanRow, Timeline } from '../api/types';
import { bytes, duration, safeName } from '../format';
import { tickStep, toPixel, type Axis } from './axis';
import type { Box } from './heatLayout';
import type { Palette } from './palette';
import { cut, font, hatch, line, text } from './pen';
import { colorOf, groupOf } from './phases';
import type { Pen } from './surface';

export interface Lane {
  kind: 'actor' | 'bucket';
  actor: string;
  spans: SpanRow[];
  pauses: SpanRow[]; // the parts of one pause joined
}

export interface GanttScene {
  lanes: Lane[];
  visible: Timeline['visible'];
  axis: Axis; // one cell per millisecond after `start`
  start: number; // µs
  step: number | null; // selected
}

const PUBLISHING = new Set(['diff', 'encode', 'upload']);
const NAMES = 92;
const HEAD = 24;
const BAR = 28;

export const laneHeight = (lanes: number): number => (lanes > 8 ? 36 : 56);
export const ganttHeight = (lanes: number): number => HEAD + lanes * laneHeight(lanes) + 4;
export const ganttPlot = (width: number, height: number): Box => ({
  x: NAMES, y: HEAD, width: Math.max(1, width - NAMES - 12), height: Math.max(1, height - HEAD),
});

/** Joins what belongs to one pause: spans of one actor and step that touch. */
function joinPauses(spans: readonly SpanRow[]): SpanRow[] {
  const out: SpanRow[] = [];
  for (const span of spans) {
    if (groupOf(span.phase) !== 'pause') continue;
    const last = out.at(-1);
    if (last !== undefined && last.step === span.step && span.t0_us <= last.t1_us + 1000) {
      last.t1_us = Math.max(last.t1_us, span.t1_us);
    } else {
      out.push({ ...span, phase: 'pause' });
    }
  }
  return out;
}

/** Publishers first, then the bucket, then the replicas. */
export function lanesOf(timeline: Timeline): Lane[] {
  const lane = (actor: string): Lane => {
    const spans = timeline.spans.filter((span) => span.actor === actor);
    return { kind: 'actor', actor, spans, pauses: joinPauses(spans) };
  };
  const actors = [...new Set([...timeline.actors, ...timeline.spans.map((span) => span.actor)])].map(lane);
  const publishes = ({ spans }: Lane): boolean => spans.some((span) => PUBLISHING.has(span.phase));
  return [
    ...actors.filter(publishes),
    { kind: 'bucket', actor: 'bucket', spans: [], pauses: [] },
    ...actors.filter((entry) => !publishes(entry)),
  ];
}

export function paintGantt(pen: Pen, box: Box, scene: GanttScene, colors: Palette): void {
  const height = laneHeight(scene.lanes.length);
  paintTimes(pen, box, scene, colors);
  scene.lanes.forEach((lane, i) => {
    const y = box.y + i * height;
    pen.strokeStyle = colors.border;
    pen.lineWidth = 1;
    line(pen, 0, Math.round(y + height) - 0.5, box.x + box.width, Math.round(y + height) - 0.5);
    pen.font = font(colors, 12, 600);
    pen.fillStyle = colors.text;
    text(pen, cut(pen, safeName(lane.actor) || 'publisher', NAMES - 24), 12, y + height / 2);
    pen.save();
    pen.beginPath();
    pen.rect(box.x, y, box.width, lane.kind === 'bucket' ? box.height : height);
    pen.clip();
    if (lane.kind === 'bucket') paintVisible(pen, box, y + height / 2, scene, colors);
    else paintLane(pen, box, y + (height - BAR) / 2, lane, scene, colors);
    pen.restore();
  });
}

function paintTimes(pen: Pen, box: Box, { axis, start }: GanttScene, colors: Palette): void {
  const every = tickStep(axis.cell, 110);
  const end = axis.first + box.width / axis.cell;
  const startMs = Math.round(start / 1000);
  const offset = startMs % every;
  pen.font = font(colors, 11, 500);
  for (let ms = Math.ceil((axis.first + offset) / every) * every - offset; ms < end; ms += every) {
    const x = box.x + toPixel(axis, ms);
    pen.strokeStyle = colors.grid;
    pen.lineWidth = 1;
    line(pen, Math.round(x) + 0.5, box.y, Math.round(x) + 0.5, box.y + box.height);
    pen.fillStyle = colors.muted;
    text(pen, timeOf(startMs + ms, every), x, box.y - 12, 'center');
  }
}

/** Time of day, with as many digits as neighbors differ in. */
function timeOf(ms: number, every: number): string {
  const time = new Date(ms);
  const clock = time.toLocaleTimeString('en-GB');
  return every >= 1000 ? clock : `${clock}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

const placeOf = (box: Box, { axis, start }: GanttScene, us: number): number => box.x + toPixel(axis, (us - start) / 1000);

/** Publications, each with a line down through the lanes of the replicas. */
function paintVisible(pen: Pen, box: Box, y: number, scene: GanttScene, colors: Palette): void {
  const bottom = box.y + box.height;
  let free = -Infinity;
  for (const { step, t_us } of scene.visible) {
    const x = placeOf(box, scene, t_us);
    if (x < box.x - 80 || x > box.x + box.width + 8) continue;
    pen.fillStyle = colors.text;
    pen.beginPath();
    pen.moveTo(x, y - 7);
    pen.lineTo(x + 7, y + 6);
    pen.lineTo(x - 7, y + 6);
    pen.closePath();
    pen.fill();
    pen.font = font(colors, 11, 500);
    pen.fillStyle = colors.muted;
    if (x > free) text(pen, `${step} visible`, x + 13, y);
    pen.strokeStyle = colors.muted;
    pen.setLineDash([2, 3]);
    line(pen, Math.round(x) + 0.5, y + 7, Math.round(x) + 0.5, bottom);
    pen.setLineDash([]);
    free = Math.max(free, x + 90);
  }
}

function paintLane(pen: Pen, box: Box, y: number, lane: Lane, scene: GanttScene, colors: Palette): void {
  const right = box.x + box.width;
  for (const span of lane.spans) {
    const group = groupOf(span.phase);
    const x0 = placeOf(box, scene, span.t0_us);
    const x1 = placeOf(box, scene, span.t1_us);
    if (group === 'pause' || x1 < box.x || x0 > right) continue;
    pen.fillStyle = colorOf(group, colors);
    pen.fillRect(x0, y, Math.max(1, x1 - x0 - 1), BAR);
    const from = Math.max(x0, box.x) + 8;
    if (x1 - from < 60) continue;
    const note = [`${safeName(span.phase)} ${span.step}`, duration((span.t1_us - span.t0_us) / 1e6), span.bytes > 0 ? bytes(span.bytes) : ''];
    pen.font = font(colors, 11, 500);
    pen.fillStyle = colors.onAccent;
    text(pen, cut(pen, note.filter((part) => part !== '').join(', '), x1 - from - 8), from, y + BAR / 2);
  }
  lane.pauses.forEach((pause, i) => paintPause(pen, box, y, pause, lane.pauses[i + 1], scene, colors));
}

function paintPause(pen: Pen, box: Box, y: number, pause: SpanRow, next: SpanRow | undefined, scene: GanttScene, colors: Palette): void {
  const x0 = placeOf(box, scene, pause.t0_us);
  const x1 = placeOf(box, scene, pause.t1_us);
  const right = box.x + box.width;
  if (x0 > right) return;
  const width = Math.max(2, x1 - x0);
  pen.fillStyle = colors.pause;
  pen.fillRect(x0, y, width, BAR);
  if (width >= 8) {
    pen.strokeStyle = colors.surface;
    pen.globalAlpha = 0.45;
    pen.lineWidth = 1.6;
    hatch(pen, x0, y, width, BAR, 5);
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.pause;
    pen.lineWidth = 1.5;
    pen.strokeRect(x0 + 0.75, y + 0.75, width - 1.5, BAR - 1.5);
  }
  const length = duration((pause.t1_us - pause.t0_us) / 1e6);
  pen.font = font(colors, 11, 600);
  const note = width > 110 ? `paused ${length}` : length;
  const wide = pen.measureText(note).width + 6;
  if (wide < width - 3) {
    pen.fillStyle = colors.surface;
    pen.fillRect(x0 + (width - wide) / 2, y + 6, wide, 16);
    pen.fillStyle = colors.text;
    text(pen, note, x0 + width / 2, y + BAR / 2, 'center');
  }
  const free = (next === undefined ? right : placeOf(box, scene, next.t0_us)) - x1;
  if (free < 150) return;
  pen.fillStyle = colors.text;
  pen.fillRect(x1 + 4, y + BAR / 2 - 3, 6, 6);
  pen.font = font(colors, 11, 400);
  pen.fillStyle = colors.muted;
  text(pen, `generating on ${pause.step}`, x1 + 18, y + BAR / 2);
}

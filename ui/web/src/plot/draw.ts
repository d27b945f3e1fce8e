import uPlot from 'uplot';
import { color } from '../state/theme';
import { align, type PlacedFlag, placeFlags, type PlotLabel, type PlotSeries, smooth } from './model';

// From our series to what uPlot draws.

export interface Decorations {
  anchors: readonly number[]; // ticks below the axis
  marks: readonly { x: number; text: string }[]; // alerts
  flags: readonly { x: number; text: string }[]; // words of steps
  labels: readonly PlotLabel[];
  threshold: { y: number; text: string } | null;
  current: number | null; // step B
  dot: { x: number; y: number; color: string } | null; // the newest value
}

/** A column of the drawing. `of` is the series it belongs to, for the readout; -1: decoration. */
interface Drawn {
  of: number;
  x: readonly number[];
  y: readonly number[];
  options: uPlot.Series;
}

function lineOf(series: PlotSeries, stroke: string, width: number): uPlot.Series {
  const stepped = uPlot.paths.stepped?.({ align: 1 });
  return { stroke, width, points: { show: false }, ...(series.draw === 'steps' && stepped ? { paths: stepped } : {}) };
}

function drawnOf(series: PlotSeries, of: number, w: number): Drawn[] {
  const { x, min, max, last } = series.columns;
  const ink = color(series.color);
  if (series.draw === 'bars') {
    const paths = uPlot.paths.bars?.({ size: [1, 20, 1], gap: 1 });
    return [{ of, x, y: max, options: { fill: ink, stroke: ink, width: 0, points: { show: false }, ...(paths ? { paths } : {}) } }];
  }
  const main = lineOf(series, ink, series.width ?? 1.5);
  if (w <= 0) return [{ of, x, y: last, options: main }, ...bandOf(x, min, max, last)];
  const raw = lineOf(series, `${ink}66`, 1);
  return [{ of: -1, x, y: last, options: raw }, { of, x, y: smooth(last, w), options: main }];
}

/** Two unseen lines around a decimated series, between which uPlot fills. */
function bandOf(x: readonly number[], min: readonly number[], max: readonly number[], last: readonly number[]): Drawn[] {
  if (last.every((value, i) => min[i] === value && max[i] === value)) return [];
  const options: uPlot.Series = { stroke: 'transparent', width: 0, points: { show: false } };
  return [{ of: -1, x, y: max, options }, { of: -1, x, y: min, options }];
}

export interface Drawing {
  data: uPlot.AlignedData;
  series: uPlot.Series[];
  bands: uPlot.Band[];
  /** Column of the data by index of the series. */
  column: number[];
}

export function drawingOf(series: readonly PlotSeries[], w: number): Drawing {
  const drawn = series.map((one, i) => drawnOf(one, i, one.draw === 'bars' ? 0 : w));
  const flat = drawn.flat();
  const { x, y } = align(flat);
  const bands: uPlot.Band[] = [];
  let at = 1;
  drawn.forEach((columns, i) => {
    const ink = series[i]?.color;
    if (columns.length === 3 && ink) bands.push({ series: [at + 1, at + 2], fill: `${color(ink)}33` });
    at += columns.length;
  });
  return {
    data: [x, ...y] as uPlot.AlignedData,
    series: [{}, ...flat.map(({ options }) => options)],
    bands,
    column: series.map((_, i) => flat.findIndex(({ of }) => of === i) + 1),
  };
}

/** Labels grow with the type of the page. */
function font(ratio = 1): string {
  const size = 0.6875 * parseFloat(getComputedStyle(document.documentElement).fontSize);
  return `${size * ratio}px ${getComputedStyle(document.body).fontFamily}`;
}


/** Draws what stands around the series: anchors, alert marks, labels, the threshold, the current step. */
export function decorate(u: uPlot, shown: Decorations): void {
  const { ctx } = u;
  const ratio = uPlot.pxRatio;
  const { left, top, width, height } = u.bbox;
  const px = (x: number) => Math.round(u.valToPos(x, 'x', true)) + 0.5;
  const py = (y: number) => Math.round(u.valToPos(y, 'y', true)) + 0.5;
  const inside = (x: number) => px(x) >= left - 1 && px(x) <= left + width + 1;
  ctx.save();
  ctx.lineWidth = ratio;
  ctx.textAlign = 'left';
  ctx.textBaseline = 'alphabetic';
  ctx.font = font(ratio);

  ctx.fillStyle = color('muted');
  const dense = shown.anchors.length * 6 * ratio > width;
  for (const x of dense ? [] : shown.anchors.filter(inside)) ctx.fillRect(px(x) - 0.5, top + height, ratio, 4 * ratio);

  if (shown.threshold) {
    const y = py(shown.threshold.y);
    if (y > top && y < top + height) {
      ctx.strokeStyle = color('muted');
      ctx.setLineDash([3 * ratio, 3 * ratio]);
      line(ctx, left, y, left + width, y);
      ctx.setLineDash([]);
      ctx.fillText(shown.threshold.text, left + 8 * ratio, y - 4 * ratio);
    }
  }
  ctx.strokeStyle = color('text');
  ctx.fillStyle = color('text');
  for (const { x, text } of shown.marks.filter((mark) => inside(mark.x))) {
    ctx.setLineDash([2 * ratio, 3 * ratio]);
    line(ctx, px(x), top, px(x), top + height);
    ctx.setLineDash([]);
    ctx.fillText(text, px(x) + 3 * ratio, top + 10 * ratio);
  }
  const flags = shown.flags.filter((flag) => inside(flag.x)).map(({ x, text }) => ({ x: px(x), width: ctx.measureText(text).width + 9 * ratio, text }));
  for (const flag of placeFlags(flags, left, left + width)) drawFlag(ctx, flag, top, ratio);
  if (shown.current !== null && inside(shown.current)) {
    ctx.strokeStyle = color('accent');
    line(ctx, px(shown.current), top, px(shown.current), top + height);
  }
  if (shown.dot && inside(shown.dot.x)) {
    ctx.fillStyle = color(shown.dot.color);
    ctx.beginPath();
    ctx.arc(px(shown.dot.x), py(shown.dot.y), 3 * ratio, 0, 2 * Math.PI);
    ctx.fill();
    ctx.fillStyle = color('text');
  }
  for (const { x, y, text } of shown.labels.filter((label) => inside(label.x))) {
    const w = ctx.measureText(text).width;
    const to = Math.max(left, Math.min(px(x) - 6 * ratio - w, left + width - w));
    ctx.fillText(text, to, Math.max(top + 11 * ratio, py(y) + 10 * ratio));
  }
  ctx.restore();
}

/** A small flag at the upper edge with its word on the side that has room. */
function drawFlag(ctx: CanvasRenderingContext2D, { x, text, side }: PlacedFlag, top: number, ratio: number): void {
  const out = side === 'left' ? -ratio : ratio;
  ctx.save();
  ctx.strokeStyle = ctx.fillStyle = color('accent');
  line(ctx, x, top, x, top + 12 * ratio);
  ctx.beginPath();
  ctx.moveTo(x, top);
  ctx.lineTo(x + 7 * out, top + 3 * ratio);
  ctx.lineTo(x, top + 6 * ratio);
  ctx.fill();
  ctx.fillStyle = color('text');
  ctx.textAlign = side === 'left' ? 'right' : 'left';
  if (side !== 'none') ctx.fillText(text, x + 9 * out, top + 9 * ratio);
  ctx.restore();
}

function line(ctx: CanvasRenderingContext2D, x0: number, y0: number, x1: number, y1: number): void {
  ctx.beginPath();
  ctx.moveTo(x0, y0);
  ctx.lineTo(x1, y1);
  ctx.stroke();
}

export function axes(format: (value: number) => string): uPlot.Axis[] {
  const look = { stroke: color('muted'), font: font(), ticks: { show: false } };
  const steps = (_: uPlot, values: number[]) => values.map((v, i) => (i === 0 ? `step ${v}` : String(v)));
  return [
    { ...look, size: 22, gap: 4, space: 80, grid: { show: false }, values: steps, incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000] },
    { ...look, size: 44, gap: 6, space: 24, grid: { stroke: color('grid'), width: 1 }, values: (_, values) => values.map(format) },
  ];
}

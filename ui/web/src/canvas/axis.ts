// One axis of a canvas: which stretch of `count` cells is seen on `size` pixels. Pure arithmetic, no canvas.

export interface Axis {
  first: number; // cell at pixel 0, may be a fraction
  cell: number; // pixels per cell
  size: number;
  count: number;
}

export const MAX_CELL = 64;

export const toPixel = (axis: Axis, cell: number): number => (cell - axis.first) * axis.cell;

/** Cell under a pixel; -1 outside of the cells. */
export function cellAt(axis: Axis, pixel: number): number {
  const cell = Math.floor(axis.first + pixel / axis.cell);
  return pixel >= 0 && pixel < axis.size && cell >= 0 && cell < axis.count ? cell : -1;
}

export const seen = (axis: Axis): number => axis.size / axis.cell;
export const smallestCell = (axis: Axis): number => Math.min(MAX_CELL, axis.size / Math.max(1, axis.count));

/** Keeps the cells in view: no empty space left or right while there are enough of them. */
export function clamp(axis: Axis): Axis {
  const cell = Math.min(MAX_CELL, Math.max(smallestCell(axis), axis.cell));
  const last = Math.max(0, axis.count - axis.size / cell);
  return { ...axis, cell, first: Math.min(last, Math.max(0, axis.first)) };
}

export const fit = (axis: Axis): Axis => clamp({ ...axis, first: 0, cell: smallestCell(axis) });
export const pan = (axis: Axis, pixels: number): Axis => clamp({ ...axis, first: axis.first - pixels / axis.cell });

/** Zooms so that what is under `pixel` stays there. */
export function zoom(axis: Axis, pixel: number, factor: number): Axis {
  const anchor = axis.first + pixel / axis.cell;
  const cell = Math.min(MAX_CELL, Math.max(smallestCell(axis), axis.cell * factor));
  return clamp({ ...axis, cell, first: anchor - pixel / cell });
}

/** Shows the cells [from, to). */
export function show(axis: Axis, from: number, to: number): Axis {
  return clamp({ ...axis, first: from, cell: axis.size / Math.max(1, to - from) });
}

/** Moves as little as needed to have the cell in view. */
export function reveal(axis: Axis, cell: number): Axis {
  const width = seen(axis);
  if (cell < axis.first) return clamp({ ...axis, first: cell });
  if (cell + 1 > axis.first + width) return clamp({ ...axis, first: cell + 1 - width });
  return axis;
}

/** Level of the pyramid whose cells are at least one pixel wide. */
export function levelFor(cell: number, levels: number): number {
  const level = cell >= 1 ? 0 : Math.ceil(-Math.log2(cell) - 1e-9);
  return Math.min(Math.max(0, levels - 1), level);
}

/** Distance of labels: 1, 2 or 5 times a power of ten, at least `pixels` apart. */
export function tickStep(cell: number, pixels: number): number {
  const least = Math.max(1, pixels / cell);
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least - 1e-9)!;
}

/** 1-2-5 values from 0 up to at least `max`, about `wanted` of them. */
export function valueTicks(max: number, wanted: number): number[] {
  if (!(max > 0)) return [0];
  const least = max / wanted;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].map((n) => n * power).find((n) => n >= least - 1e-12 * power)!;
  return Array.from({ length: Math.ceil(max / step - 1e-9) + 1 }, (_, i) => i * step);
}

// Small things that all painters share.

import type { Palette } from './palette';
import type { Pen } from './surface';

export const font = (colors: Palette, size: number, weight = 400): string => `${weight} ${size}px ${colors.font}`;

export function text(pen: Pen, content: string, x: number, y: number, align: CanvasTextAlign = 'left'): void {
  pen.textAlign = align;
  pen.textBaseline = 'middle';
  pen.fillText(content, x, y);
}

export function line(pen: Pen, x0: number, y0: number, x1: number, y1: number): void {
  pen.beginPath();
  pen.moveTo(x0, y0);
  pen.lineTo(x1, y1);
  pen.stroke();
}

export function diamond(pen: Pen, x: number, y: number, radius: number): void {
  pen.beginPath();
  pen.moveTo(x, y - radius);
  pen.lineTo(x + radius, y);
  pen.lineTo(x, y + radius);
  pen.lineTo(x - radius, y);
  pen.closePath();
  pen.fill();
}

export function cross(pen: Pen, x: number, y: number, radius: number): void {
  pen.beginPath();
  pen.moveTo(x - radius, y - radius);
  pen.lineTo(x + radius, y + radius);
  pen.moveTo(x - radius, y + radius);
  pen.lineTo(x + radius, y - radius);
  pen.stroke();
}

/** Lines at 45 degrees over a rectangle. */
export function hatch(pen: Pen, x: number, y: number, width: number, height: number, period: number): void {
  if (width <= 0 || height <= 0) return;
  pen.save();
  pen.beginPath();
  pen.rect(x, y, width, height);
  pen.clip();
  pen.beginPath();
  const from = x - height + (period - ((x - height) % period));
  for (let at = from; at < x + width; at += period) {
    pen.moveTo(at, y + height);
    pen.lineTo(at + height, y);
  }
  pen.stroke();
  pen.restore();
}

const widths = new Map<string, string>();

/** Text cut to a width with an ellipsis at the end or at the start; remembered, because measuring is slow. */
export function cut(pen: Pen, content: string, width: number, at: 'end' | 'start' = 'end'): string {
  const key = `${pen.font}|${at}|${Math.floor(width)}|${content}`;
  const shown = (length: number): string => (at === 'end' ? `${content.slice(0, length)}…` : `…${content.slice(content.length - length)}`);
  const known = widths.get(key);
  if (known !== undefined) return known;
  if (widths.size > 5000) widths.clear();
  let result = content;
  if (pen.measureText(content).width > width) {
    let low = 0;
    let high = content.length;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (pen.measureText(shown(middle)).width <= width) low = middle;
      else high = middle;
    }
    result = low === 0 ? '' : shown(low);
  }
  widths.set(key, result);
  return result;
}

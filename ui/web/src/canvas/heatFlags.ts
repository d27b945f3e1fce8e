// Words of steps at the upper edge of the heatmap.

import { toPixel } from './axis';
import type { Box } from './heatLayout';
import type { HeatModel } from './heatModel';
import type { Palette } from './palette';
import { cut, font, line, text } from './pen';
import type { Pen } from './surface';

const TALL = 14;
const MOST = 140; // pixels of a word

/** A small flag per named step, with its words where they have room. */
export function paintFlags(pen: Pen, box: Box, model: HeatModel, flags: readonly { x: number; text: string }[], colors: Palette): void {
  const right = box.x + box.width;
  const placed = flags
    .map(({ x: step, text: words }) => ({ words, x: box.x + toPixel(model.axis, model.columnOf(step)) + model.axis.cell / 2, known: model.columnOf(step) >= 0 }))
    .filter(({ x, known }) => known && x >= box.x && x <= right)
    .sort((p, q) => p.x - q.x);
  pen.save();
  pen.font = font(colors, 10.5, 500);
  placed.forEach(({ x, words }, i) => {
    const room = Math.min(MOST, (placed[i + 1]?.x ?? right) - x - 14);
    const word = room > 24 ? cut(pen, words, room) : '';
    const width = 10 + (word === '' ? 0 : pen.measureText(word).width + 6);
    pen.fillStyle = colors.surface;
    pen.globalAlpha = 0.9;
    pen.fillRect(x, box.y, width, TALL);
    pen.globalAlpha = 1;
    pen.strokeStyle = colors.accent;
    pen.fillStyle = colors.accent;
    pen.lineWidth = 1;
    line(pen, Math.round(x) + 0.5, box.y, Math.round(x) + 0.5, box.y + TALL + 6);
    pen.fillRect(x + 1, box.y + 3, 7, 5);
    pen.fillStyle = colors.text;
    if (word !== '') text(pen, word, x + 11, box.y + TALL / 2 + 0.5);
  });
  pen.restore();
}

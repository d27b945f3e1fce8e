// Pictures and tables of what a canvas shows, with a title; painters draw their legend and units themselves.

import { palette } from './palette';
import { font, text } from './pen';
import type { Painter, Pen } from './surface';
import { SvgPen } from './svgPen';

export type Cell = string | number | null;

/** The content of a canvas as a table. */
export interface Twin {
  columns: { name: string; number?: boolean; share?: boolean }[]; // share: a fraction, shown as a percentage
  rows: Cell[][];
}

export interface Picture {
  title: string;
  paint: Painter;
  width: number;
  height: number;
}

const HEAD = 32;
const PNG_SCALE = 2;

function paintWithTitle(pen: Pen, { title, paint, width, height }: Picture): void {
  const colors = palette();
  pen.fillStyle = colors.surface;
  pen.fillRect(0, 0, width, height + HEAD);
  pen.fillStyle = colors.text;
  pen.font = font(colors, 13, 600);
  text(pen, title, 12, HEAD / 2);
  pen.save();
  pen.translate(0, HEAD);
  paint({ pen, width, height, colors });
  pen.restore();
}

export function toSvg(picture: Picture): string {
  const pen = new SvgPen();
  paintWithTitle(pen, picture);
  return pen.document(picture.width, picture.height + HEAD);
}

export function toPng(picture: Picture): Promise<Blob> {
  const canvas = document.createElement('canvas');
  canvas.width = picture.width * PNG_SCALE;
  canvas.height = (picture.height + HEAD) * PNG_SCALE;
  const context = canvas.getContext('2d')!;
  context.scale(PNG_SCALE, PNG_SCALE);
  paintWithTitle(context, picture);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob === null ? reject(new Error('the picture is too large')) : resolve(blob)), 'image/png'),
  );
}

/** All digits, and the sign of zero. */
export const numberText = (x: number): string => (Object.is(x, -0) ? '-0' : String(x));

/** RFC 4180. Text that a spreadsheet would take for a formula gets a quote in front. */
export function toCsv({ columns, rows }: Twin): string {
  const field = (cell: Cell): string => {
    if (cell === null) return '';
    if (typeof cell === 'number') return numberText(cell);
    const plain = /^[=+\-@\t\r]/.test(cell) ? `'${cell}` : cell;
    return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
  };
  return [columns.map((column) => column.name), ...rows].map((row) => row.map(field).join(',')).join('\r\n') + '\r\n';
}

/** Has the browser save a file. */
export function save(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement('a');
  link.href = url;
  link.download = name.replace(/[^\w.-]+/g, '_');
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

import { useMemo, useState } from 'preact/hooks';
import { CanvasFrame } from './CanvasFrame';
import { signedTable } from './colors';
import type { Element } from './elements';
import { palette } from './palette';
import { font, text } from './pen';
import { useSurface, type Surface } from './surface';

interface Props {
  name: string; // of the tensor
  file: string;
  elements: readonly Element[]; // row by row
  columns: number; // of the window
}

const FOOT = 20;
const value = (x: number): string => x.toExponential(1);
const isFinite = (x: number | null): x is number => x !== null && Number.isFinite(x);

/** Signed change of the elements of a window; zero in the middle of the colors. */
export function ElementCanvas({ name, file, elements, columns }: Props) {
  const { theme } = palette();
  const [cursor, setCursor] = useState(0);
  const rows = Math.max(1, Math.ceil(elements.length / columns));
  const most = useMemo(() => elements.reduce((high, { delta }) => (isFinite(delta) ? Math.max(high, Math.abs(delta)) : high), 0), [elements]);
  const picture = useMemo(() => {
    const canvas = document.createElement('canvas');
    canvas.width = columns;
    canvas.height = rows;
    const context = canvas.getContext('2d')!;
    const image = context.createImageData(columns, rows);
    const pixels = new Uint32Array(image.data.buffer);
    const table = signedTable(theme);
    elements.forEach(({ delta }, at) => {
      if (isFinite(delta)) pixels[at] = table[128 + (most === 0 ? 0 : Math.round((delta / most) * 127))]!;
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }, [elements, columns, rows, most, theme]);

  const paint = ({ pen, width, height, colors }: Surface): void => {
    const each = Math.min(width / columns, (height - FOOT) / rows);
    pen.fillStyle = colors.sunken;
    pen.fillRect(0, 0, each * columns, each * rows);
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture, 0, 0, columns, rows, 0, 0, each * columns, each * rows);
    pen.strokeStyle = colors.text;
    pen.lineWidth = 2;
    pen.strokeRect((cursor % columns) * each, Math.floor(cursor / columns) * each, Math.max(4, each), Math.max(4, each));
    pen.font = font(colors, 11, 500);
    pen.fillStyle = colors.muted;
    text(pen, elements.every(({ oldBits }) => oldBits === null) ? 'not compared' : most === 0 ? 'no change that can be measured' : `Δ from ${value(-most)} to ${value(most)}`, 0, each * rows + FOOT / 2);
  };
  const surface = useSurface(paint);
  const moves: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -columns, ArrowDown: columns };
  const here = elements[cursor];

  return (
    <CanvasFrame
      class="elements" name={`Change of ${rows} by ${columns} elements`} title={`${name}, signed change of elements`} file={file}
      says={here === undefined ? '' : `row ${here.row}, column ${here.col}, ${here.changed ? `Δ ${here.delta ?? 'not known'}` : here.oldBits === null ? 'not compared' : 'unchanged'}`}
      surface={surface} paint={paint}
      twin={() => ({
        columns: ['row', 'column', 'old', 'new', 'delta', 'ulps'].map((column) => ({ name: column, number: true })),
        rows: elements.map((e) => [e.row, e.col, e.oldValue, e.newValue, e.delta, e.ulps]),
      })}
      onKeyDown={(event) => {
        const by = moves[event.key];
        if (by === undefined || event.ctrlKey) return;
        event.preventDefault();
        setCursor(Math.min(elements.length - 1, Math.max(0, cursor + by)));
      }}
      events={{
        onPointerMove: (event: PointerEvent) => {
          const canvas = surface.ref.current!;
          const each = Math.min(canvas.clientWidth / columns, (canvas.clientHeight - FOOT) / rows);
          const box = canvas.getBoundingClientRect();
          const [x, y] = [Math.floor((event.clientX - box.left) / each), Math.floor((event.clientY - box.top) / each)];
          if (x >= 0 && x < columns && y >= 0 && y < rows && y * columns + x < elements.length) setCursor(y * columns + x);
        },
      }}
    />
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { exact, safeName } from '../format';
import { valueTicks } from './axis';
import { binned, blockElements, type Blocks } from './blocks';
import { CanvasFrame } from './CanvasFrame';
import { encode, shareText } from './codes';
import { heatTable, parseColor } from './colors';
import type { Twin } from './export';
import { inside, type Box } from './heatLayout';
import { paintLegend } from './heatFrame';
import { font, hatch, text } from './pen';
import { palette, type Palette } from './palette';
import { scale } from './scale';
import { useSurface, type Pen, type Surface } from './surface';

interface Props {
  blocks: Blocks;
  title: string;
  file: string;
  tools?: ComponentChildren;
  open: (row: number, col: number) => void; // first element of a block
  back: () => void;
  step: (by: 1 | -1) => void;
}

interface Layout {
  grid: Box;
  rows: Box;
  cols: Box;
  legend: Box;
}

const blockLayout = (width: number, height: number): Layout => {
  const grid = { x: 68, y: 20, width: Math.max(1, width - 68 - 232), height: Math.max(1, height - 20 - 72) };
  return {
    grid,
    rows: { x: grid.x + grid.width + 8, y: grid.y, width: 72, height: grid.height },
    cols: { x: grid.x, y: grid.y + grid.height + 8, width: grid.width, height: 48 },
    legend: { x: grid.x + grid.width + 108, y: grid.y, width: 12, height: Math.min(280, grid.height - 48) },
  };
};

/** Counts along one side of the grid as bars, scaled to the highest. */
function paintBars(pen: Pen, box: Box, values: Uint32Array, along: 'x' | 'y', colors: Palette): void {
  const { sums } = binned(values, Math.max(1, Math.floor(along === 'x' ? box.width : box.height)));
  const most = Math.max(1, ...sums);
  const each = (along === 'x' ? box.width : box.height) / sums.length;
  pen.fillStyle = colors.other;
  sums.forEach((sum, i) => {
    const length = (sum / most) * (along === 'x' ? box.height : box.width);
    if (along === 'x') pen.fillRect(box.x + i * each, box.y, Math.max(1, each - 0.2), length);
    else pen.fillRect(box.x, box.y + i * each, length, Math.max(1, each - 0.2));
  });
}

/** One tensor as blocks, with the counts of its rows and columns beside it. */
export function BlockCanvas(props: Props) {
  const { blocks } = props;
  const { map, window: shown } = scale.value;
  const { zero } = palette();
  const [cursor, setCursor] = useState({ row: 0, col: 0 });
  const over = useRef(false);

  const picture = useMemo(() => {
    const canvas = document.createElement('canvas');
    canvas.width = Math.max(1, blocks.block_cols);
    canvas.height = Math.max(1, blocks.block_rows);
    const context = canvas.getContext('2d')!;
    const image = context.createImageData(canvas.width, canvas.height);
    const pixels = new Uint32Array(image.data.buffer);
    const table = heatTable(map, shown, parseColor(zero));
    if (blocks.a !== null) blocks.counts.forEach((count, at) => {
      const elements = blockElements(blocks, Math.floor(at / blocks.block_cols), at % blocks.block_cols);
      pixels[at] = table[encode(elements === 0 ? 0 : count / elements)]!;
    });
    context.putImageData(image, 0, 0);
    return canvas;
  }, [blocks, map, shown, zero]);

  const paint = ({ pen, width, height, colors }: Surface): void => {
    const at = blockLayout(width, height);
    if (blocks.a === null) { // the picture is empty
      pen.fillStyle = colors.sunken;
      pen.fillRect(at.grid.x, at.grid.y, at.grid.width, at.grid.height);
      pen.strokeStyle = colors.other;
      pen.lineWidth = 1;
      hatch(pen, at.grid.x, at.grid.y, at.grid.width, at.grid.height, 6);
    }
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture, 0, 0, picture.width, picture.height, at.grid.x, at.grid.y, at.grid.width, at.grid.height);
    paintBars(pen, at.rows, blocks.rowCounts, 'y', colors);
    paintBars(pen, at.cols, blocks.colCounts, 'x', colors);
    pen.font = font(colors, 11, 500);
    pen.fillStyle = colors.muted;
    text(pen, 'column 0', at.grid.x, 9);
    text(pen, exact(blocks.cols), at.grid.x + at.grid.width, 9, 'right');
    text(pen, 'by row', at.rows.x + at.rows.width, 9, 'right');
    text(pen, 'by column', at.grid.x - 8, at.cols.y + 8, 'right');
    for (const row of valueTicks(blocks.rows, 6)) {
      const y = at.grid.y + (row / blocks.rows) * at.grid.height;
      if (row < blocks.rows) text(pen, row === 0 ? 'row 0' : exact(row), at.grid.x - 8, y + 6, 'right');
    }
    paintLegend(pen, at.legend, map, shown, colors);
    const cell = { width: at.grid.width / blocks.block_cols, height: at.grid.height / blocks.block_rows };
    pen.strokeStyle = colors.surface;
    pen.lineWidth = 4;
    const frame = [at.grid.x + cursor.col * cell.width, at.grid.y + cursor.row * cell.height, cell.width, cell.height] as const;
    pen.strokeRect(...frame);
    pen.strokeStyle = colors.text;
    pen.lineWidth = 2;
    pen.strokeRect(...frame);
  };
  const surface = useSurface(paint);
  useEffect(() => surface.ref.current?.focus({ preventScroll: true }), []);

  const move = (rows: number, cols: number): void =>
    setCursor({
      row: Math.min(blocks.block_rows - 1, Math.max(0, cursor.row + rows)),
      col: Math.min(blocks.block_cols - 1, Math.max(0, cursor.col + cols)),
    });
  const open = (): void => props.open(cursor.row * blocks.rows_per_block, cursor.col * blocks.cols_per_block);
  const keys: Record<string, () => void> = {
    ArrowUp: () => move(-1, 0), ArrowDown: () => move(1, 0), ArrowLeft: () => move(0, -1), ArrowRight: () => move(0, 1),
    Enter: open, Backspace: props.back, ',': () => props.step(-1), '.': () => props.step(1),
  };
  const blockAt = (event: PointerEvent): { row: number; col: number } | null => {
    const canvas = surface.ref.current!;
    const box = canvas.getBoundingClientRect();
    const { grid } = blockLayout(canvas.clientWidth, canvas.clientHeight);
    const [x, y] = [event.clientX - box.left, event.clientY - box.top];
    if (!inside(grid, x, y)) return null;
    return {
      row: Math.floor(((y - grid.y) / grid.height) * blocks.block_rows),
      col: Math.floor(((x - grid.x) / grid.width) * blocks.block_cols),
    };
  };

  const count = blocks.counts[cursor.row * blocks.block_cols + cursor.col] ?? 0;
  const elements = blockElements(blocks, cursor.row, cursor.col);
  const first = { row: cursor.row * blocks.rows_per_block, col: cursor.col * blocks.cols_per_block };
  const found = blocks.a === null ? 'not compared'
    : `${exact(count)} of ${exact(elements)} changed, ${shareText(elements === 0 ? 0 : count / elements)}`;
  const says = `rows from ${exact(first.row)}, columns from ${exact(first.col)}: ${found}`;

  return (
    <>
      <CanvasFrame
        class="blocks" name={`Blocks of ${safeName(blocks.tensor)}, ${blocks.block_rows} by ${blocks.block_cols}`} title={props.title}
        file={props.file} says={says} surface={surface} paint={paint} tools={props.tools}
        twin={() => rowTable(blocks)} csv={() => blockTable(blocks)}
        onKeyDown={(event) => {
          const act = keys[event.key];
          if (act === undefined || event.ctrlKey || event.altKey || event.metaKey) return;
          event.preventDefault();
          act();
        }}
        events={{
          onPointerMove: (event: PointerEvent) => {
            const block = blockAt(event);
            over.current = block !== null;
            if (block !== null) setCursor(block);
          },
          onClick: () => over.current && open(),
        }}
      />
      <p class="cell-line">
        <span>{says}</span>
        <span class="muted cell-end">Enter opens the elements, Backspace goes back</span>
      </p>
    </>
  );
}

export function rowTable(blocks: Blocks): Twin {
  return {
    columns: [{ name: 'row', number: true }, { name: 'changed', number: true }],
    rows: Array.from(blocks.rowCounts, (count, row) => [row, blocks.a === null ? null : count]),
  };
}

export function blockTable(blocks: Blocks): Twin {
  return {
    columns: ['first row', 'first column', 'elements', 'changed'].map((name) => ({ name, number: true })),
    rows: Array.from(blocks.counts, (count, at) => {
      const [row, col] = [Math.floor(at / blocks.block_cols), at % blocks.block_cols];
      return [row * blocks.rows_per_block, col * blocks.cols_per_block, blockElements(blocks, row, col), blocks.a === null ? null : count];
    }),
  };
}

import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Icon } from '../components/Icon';
import { Menu, type MenuItem } from '../components/Menu';
import { Table, type Column } from '../components/Table';
import { safeName, unknown } from '../format';
import { shareText } from './codes';
import './canvas.css';
import { numberText, save, toCsv, toPng, toSvg, type Cell, type Twin } from './export';
import type { Painter, useSurface } from './surface';

interface Props {
  name: string; // for screen readers: "Heatmap, 339 tensors by 134 steps"
  title: string; // of exported pictures
  file: string; // name of exported files, without extension
  says: string; // the current cell in words
  surface: ReturnType<typeof useSurface>;
  paint: Painter;
  twin: () => Twin; // the same as a table
  csv?: () => Twin; // what is exported, where that is more
  onKeyDown: (event: KeyboardEvent) => void;
  events?: JSX.HTMLAttributes<HTMLCanvasElement>;
  tools?: ComponentChildren;
  compact?: boolean; // everything in one menu, in the corner of the card around
  height?: number; // where the style sheet does not say it
  class?: string;
}

/** A canvas that can be focused, read aloud, shown as a table and exported. */
export function CanvasFrame(props: Props) {
  const [asTable, setAsTable] = useState(false);
  const spoken = useDelayed(props.says, 150);
  const picture = () => {
    const canvas = props.surface.ref.current!;
    return { title: props.title, paint: props.paint, width: canvas.clientWidth, height: canvas.clientHeight };
  };
  const exports: MenuItem[] = [
    { text: 'PNG picture', act: () => void toPng(picture()).then((blob) => save(`${props.file}.png`, blob)), disabled: asTable },
    { text: 'SVG picture', act: () => save(`${props.file}.svg`, new Blob([toSvg(picture())], { type: 'image/svg+xml' })), disabled: asTable },
    { text: 'CSV table', act: () => save(`${props.file}.csv`, new Blob([toCsv((props.csv ?? props.twin)())], { type: 'text/csv' })) },
  ];
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.ctrlKey && event.shiftKey && event.key.toLowerCase() === 't') {
      event.preventDefault();
      setAsTable(!asTable);
    } else if (event.target === props.surface.ref.current) {
      props.onKeyDown(event);
    }
  };
  return (
    <div class={`canvas-frame ${props.compact ? 'compact' : ''} ${props.class ?? ''}`} onKeyDown={onKeyDown}>
      {props.compact ? (
        <Menu label={`${props.name}: more`} items={[{ text: 'Show as table', act: () => setAsTable(!asTable), checked: asTable }, ...exports]}>
          <Icon name="more" />
        </Menu>
      ) : (
        <div class="canvas-tools">
          {props.tools}
          <span class="canvas-end">
            <button type="button" class="small" aria-pressed={asTable} onClick={() => setAsTable(!asTable)}>Show as table</button>
            <Menu label="Export" class="small" items={exports}>Export</Menu>
          </span>
        </div>
      )}
      <canvas
        ref={props.surface.ref} class={asTable ? 'canvas hidden' : 'canvas'} tabIndex={0} role="application"
        aria-label={props.name} style={props.height === undefined ? {} : { height: `${props.height}px` }} {...props.events}
      />
      {asTable && <TwinTable name={props.name} twin={props.twin()} />}
      <p class="visually-hidden" aria-live="polite">{spoken}</p>
    </div>
  );
}

function TwinTable({ name, twin }: { name: string; twin: Twin }) {
  const rows = twin.rows.map((cells, at) => ({ at, cells }));
  const columns = twin.columns.map((column, i): Column<{ at: number; cells: Cell[] }> => ({
    id: String(i), head: column.name, number: column.number ?? false,
    cell: (row) => show(row.cells[i] ?? null, column.share), key: (row) => row.cells[i] ?? null,
  }));
  return <Table label={name} rows={rows} columns={columns} id={(row) => row.at} height={480} />;
}

export const show = (cell: Cell, share = false): string =>
  cell === null ? unknown : typeof cell === 'string' ? safeName(cell) : share ? shareText(cell) : numberText(cell);

/** The value once it has not changed for some time. */
function useDelayed(value: string, ms: number): string {
  const [late, setLate] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setLate(value), ms);
    return () => clearTimeout(timer);
  }, [value]);
  return late;
}

import type { ComponentChildren } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';

export interface Column<T> {
  id: string;
  head: ComponentChildren;
  cell: (row: T) => ComponentChildren;
  /** What rows are sorted by; without it the column cannot be sorted. Unknown values come last. */
  key?: (row: T) => number | string | null;
  number?: boolean; // right-aligned
  width?: string;
  narrow?: boolean; // left out on a phone
  spare?: boolean; // left out in a narrow card
}

export interface Sort {
  column: string;
  descending: boolean;
}

const known = <K extends number | string>(k: K | null): K | null => (Number.isNaN(k) ? null : k);

/** A sorted copy; null and NaN stay at the end in both directions, equals keep their order. */
export function sorted<T>(rows: readonly T[], columns: readonly Column<T>[], sort: Sort | null): readonly T[] {
  const key = columns.find((column) => column.id === sort?.column)?.key;
  if (!sort || !key) return rows;
  const sign = sort.descending ? -1 : 1;
  return rows
    .map((row) => ({ row, k: known(key(row)) }))
    .sort((x, y) => {
      if (x.k === null || y.k === null) return Number(x.k === null) - Number(y.k === null);
      return x.k < y.k ? -sign : x.k > y.k ? sign : 0;
    })
    .map(({ row }) => row);
}

/** Indices of the rows to draw for a scroll position, with some more on both sides. */
export function rowsInSight(top: number, height: number, rowHeight: number, rows: number): [first: number, end: number] {
  const margin = 10;
  const first = Math.max(0, Math.min(rows, Math.floor(top / rowHeight)) - margin);
  const end = Math.min(rows, Math.ceil((top + height) / rowHeight) + margin);
  return [first, Math.max(first, end)];
}

interface Props<T> {
  label: string;
  columns: Column<T>[];
  rows: readonly T[];
  id: (row: T) => string | number;
  sort?: Sort;
  height?: number; // of the scrolling part in pixels; without it all rows are drawn
  rowHeight?: number;
  onOpen?: (row: T) => void; // Enter or a click on the row
  selected?: (row: T) => boolean;
}

/** A real table; with `height` only the rows in sight are in the document, so 40,000 rows scroll smoothly. */
export function Table<T>(props: Props<T>) {
  const { columns, height, rowHeight = 28 } = props;
  const [sort, setSort] = useState<Sort | null>(props.sort ?? null);
  const [top, setTop] = useState(0);
  const [active, setActive] = useState(0);
  const box = useRef<HTMLDivElement>(null);
  const rows = useMemo(() => sorted(props.rows, columns, sort), [props.rows, sort]); // not at each scroll
  const [first, end] = height === undefined ? [0, rows.length] : rowsInSight(top, height, rowHeight, rows.length);

  useEffect(() => {
    if (height === undefined || !box.current) return;
    const y = active * rowHeight;
    if (y < box.current.scrollTop) box.current.scrollTop = y;
    else if (y + 2 * rowHeight > box.current.scrollTop + height) box.current.scrollTop = y + 2 * rowHeight - height;
  }, [active]);

  const toggle = (column: Column<T>) =>
    setSort({ column: column.id, descending: sort?.column === column.id ? !sort.descending : column.number === true });

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget) return;
    const page = Math.max(1, Math.floor((height ?? 0) / rowHeight) - 2);
    const steps: Record<string, number> = {
      ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -rows.length, End: rows.length,
    };
    const step = steps[event.key];
    const row = rows[active];
    if (step !== undefined) setActive(Math.max(0, Math.min(rows.length - 1, active + step)));
    else if (event.key === 'Enter' && row !== undefined && props.onOpen) props.onOpen(row);
    else return;
    event.preventDefault();
  };

  return (
    <div
      ref={box} class="table-box" tabIndex={0} role="group" aria-label={props.label} onKeyDown={onKeyDown}
      style={height === undefined ? {} : { maxHeight: `${height}px` }}
      onScroll={(event) => height !== undefined && setTop(event.currentTarget.scrollTop)}
    >
      <table aria-label={props.label} aria-rowcount={rows.length + 1}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th
                key={column.id} scope="col" class={cellClass(column)} style={column.width ? { width: column.width } : {}}
                aria-sort={sort?.column === column.id ? (sort.descending ? 'descending' : 'ascending') : undefined}
              >
                {column.key ? (
                  <button type="button" class="sort" onClick={() => toggle(column)}>
                    {column.head}
                    <span aria-hidden="true">{sort?.column === column.id ? (sort.descending ? ' ↓' : ' ↑') : ''}</span>
                  </button>
                ) : (
                  column.head
                )}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 && <tr aria-hidden="true" style={{ height: `${first * rowHeight}px` }} />}
          {rows.slice(first, end).map((row, i) => (
            <tr
              key={props.id(row)} aria-rowindex={first + i + 2} style={{ height: `${rowHeight}px` }}
              class={[props.onOpen && 'clickable', props.selected?.(row) && 'selected', height !== undefined && first + i === active && 'active']
                .filter(Boolean).join(' ')}
              onClick={props.onOpen && ((event) => !(event.target as Element).closest('a,button') && props.onOpen?.(row))}
            >
              {columns.map((column) => (
                <td key={column.id} class={cellClass(column)}>{column.cell(row)}</td>
              ))}
            </tr>
          ))}
          {end < rows.length && <tr aria-hidden="true" style={{ height: `${(rows.length - end) * rowHeight}px` }} />}
        </tbody>
      </table>
    </div>
  );
}

function cellClass<T>(column: Column<T>): string {
  return [column.number && 'number', column.narrow && 'wide-only', column.spare && 'spare'].filter(Boolean).join(' ');
}

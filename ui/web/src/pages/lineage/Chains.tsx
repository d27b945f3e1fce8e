import { useEffect, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { LineageRow } from '../../api/types';
import { chainKey, edgesOf, itemOfRows, itemsOf, linksOf, replayPath, type Item } from '../../canvas/chains';
import { laneX, paintChains, ROW } from '../../canvas/chainPainter';
import { useSurface } from '../../canvas/surface';
import { runPage } from '../../components/Link';
import { rowsInSight } from '../../components/Table';
import { navigate } from '../../router';
import { setA, setView, stepA, stepB, view, viewQuery } from '../../state/cursor';
import { FoldLine, RestartLine, VersionLine } from './Lines';
import { Strip } from './Strip';

interface Props {
  runId: string;
  rows: LineageRow[];
  folding: boolean;
}

/** Widths are fixed, so that rows that scroll into view do not move the columns; null takes the rest. */
const HEADS: { text: string; width: number | null; number?: boolean }[] = [
  { text: 'step', width: 88, number: true }, { text: 'kind', width: 112 }, { text: 'age', width: 80, number: true },
  { text: 'changed', width: 88, number: true }, { text: 'bytes', width: 88, number: true }, { text: 'verified', width: 72 },
  { text: 'refs and problems', width: null }, { text: 'to materialize', width: 200, number: true },
];
const HEAD = 32;

/** Row of a step: of the chosen epoch, else of the newest that has it. */
function rowOf(rows: readonly LineageRow[], step: number | null, epoch: number | null): number {
  const exact = rows.findIndex((row) => row.step === step && row.epoch === epoch);
  return exact >= 0 ? exact : rows.findIndex((row) => row.step === step && row.surviving);
}

/** The list of versions with its chain column; only rows in sight are in the document. */
export function Chains({ runId, rows, folding }: Props) {
  const [open, setOpen] = useState<ReadonlyMap<string, boolean>>(new Map());
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(600);
  const [active, setActive] = useState(-1); // item
  const box = useRef<HTMLDivElement>(null);

  const b = useMemo(() => rowOf(rows, stepB.value, view.value.epoch), [rows, stepB.value, view.value.epoch]);
  const a = useMemo(() => rowOf(rows, stepA.value, view.value.epoch), [rows, stepA.value, view.value.epoch]);
  const path = useMemo(() => replayPath(rows, b), [rows, b]);
  const items = useMemo(
    () => (folding ? itemsOf(rows, open, new Set([a, b])) : rows.map((_, at): Item => ({ kind: 'row', at }))), [rows, open, folding, a, b],
  );
  const where = useMemo(() => itemOfRows(items, rows.length), [items]);
  const links = useMemo(() => linksOf(rows, where, path), [rows, where, path]);
  const edges = useMemo(() => edgesOf(rows, items, where), [rows, items, where]);
  const lanes = useMemo(() => rows.reduce((most, row) => Math.max(most, row.lane), 0), [rows]);

  const surface = useSurface(({ pen, height: tall, colors }) => {
    paintChains(pen, tall, { rows, items, links, edges, path, b, scroll: box.current?.scrollTop ?? 0 }, colors);
  });
  useLayoutEffect(() => {
    const observer = new ResizeObserver(() => setHeight(box.current!.clientHeight));
    observer.observe(box.current!);
    return () => observer.disconnect();
  }, []);

  const reveal = (item: number): void => {
    const list = box.current!;
    if (item * ROW < list.scrollTop) list.scrollTop = item * ROW;
    else if ((item + 1) * ROW > list.scrollTop + list.clientHeight - HEAD) list.scrollTop = (item + 1) * ROW - list.clientHeight + HEAD;
  };
  useEffect(() => {
    if (b < 0 || view.peek().b === null) return;
    setActive(where[b]!);
    reveal(where[b]!);
  }, [b]);

  const choose = (item: number, asA: boolean): void => {
    setActive(item);
    const entry = items[item];
    if (entry?.kind === 'fold') return toggle(rows[entry.from]!, true);
    const row = entry?.kind === 'row' ? rows[entry.at]! : null;
    if (row === null || row.kind === 'gap') return;
    if (asA) setA(row.step);
    else setView({ b: row.step, epoch: row.epoch });
  };
  const toggle = (row: LineageRow, show: boolean): void => setOpen(new Map(open).set(chainKey(row), show));
  const go = (to: number): void => {
    const item = Math.min(items.length - 1, Math.max(0, to));
    const entry = items[item];
    if (entry?.kind === 'row') choose(item, false);
    else setActive(item);
    reveal(item);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.altKey || event.metaKey) return;
    const entry = items[active];
    const row = entry?.kind === 'row' ? rows[entry.at]! : entry?.kind === 'fold' ? rows[entry.from]! : null;
    const page = Math.max(1, Math.floor(height / ROW) - 2);
    const keys: Record<string, () => void> = {
      j: () => go(active + 1), ArrowDown: () => go(active + 1), k: () => go(active - 1), ArrowUp: () => go(active - 1),
      g: () => go(0), Home: () => go(0), G: () => go(items.length - 1), End: () => go(items.length - 1),
      PageDown: () => go(active + page), PageUp: () => go(active - page),
      ArrowRight: () => row && toggle(row, true), ArrowLeft: () => row && toggle(row, false),
      1: () => row && setA(row.step), 2: () => choose(active, false),
      Enter: () => {
        if (entry?.kind === 'fold') choose(active, false);
        else if (row && row.kind !== 'gap') navigate(runPage(runId, 'steps', `${row.epoch}:${row.step}`), viewQuery.value);
      },
    };
    const act = keys[event.key];
    if (act === undefined) return;
    event.preventDefault();
    act();
  };

  const [first, end] = rowsInSight(top, height, ROW, items.length);
  const chainWidth = laneX(Math.min(lanes, 5)) + 20;
  const inView = (item: number): number => {
    const entry = items[Math.min(items.length - 1, Math.max(0, item))];
    return entry === undefined || entry.kind === 'restart' ? -1 : entry.kind === 'row' ? entry.at : entry.from;
  };
  const from = Math.max(0, inView(Math.floor(top / ROW)));
  const to = Math.max(from, inView(Math.ceil((top + height - HEAD) / ROW) - 1));

  return (
    <>
      <Strip rows={rows} from={from} to={to} go={(row) => (box.current!.scrollTop = Math.max(0, where[row]! * ROW - height / 2))} />
      <div
        ref={box} class="lineage-box" tabIndex={0} role="group" onKeyDown={onKeyDown}
        aria-label="Versions, newest first; j and k move, Enter opens"
        onScroll={(event) => {
          setTop(event.currentTarget.scrollTop);
          surface.invalidate();
        }}
      >
        <div class="chain-pin" aria-hidden="true">
          <canvas ref={surface.ref} style={{ width: `${chainWidth}px`, height: `${Math.max(0, height - HEAD)}px` }} />
        </div>
        <table aria-label="Versions" aria-rowcount={items.length + 1}>
          <thead>
            <tr>
              <th scope="col" style={{ width: `${chainWidth}px` }}>chain</th>
              {HEADS.map(({ text, width, number }) => (
                <th key={text} scope="col" class={number ? 'number' : ''} style={width === null ? {} : { width: `${width}px` }}>{text}</th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && <tr aria-hidden="true" style={{ height: `${first * ROW}px` }} />}
            {items.slice(first, end).map((item, i) => {
              const at = first + i;
              const common = { index: at + 2, active: at === active, onClick: (event: MouseEvent) => choose(at, event.shiftKey) };
              if (item.kind === 'row') {
                return <VersionLine key={at} {...common} runId={runId} row={rows[item.at]!} isB={item.at === b} isA={item.at === a} />;
              }
              if (item.kind === 'fold') return <FoldLine key={at} {...common} rows={rows} from={item.from} to={item.to} />;
              return <RestartLine key={at} {...common} epoch={item.epoch} base={item.base === null ? null : (rows[item.base] ?? null)} />;
            })}
            {end < items.length && <tr aria-hidden="true" style={{ height: `${(items.length - end) * ROW}px` }} />}
          </tbody>
        </table>
      </div>
    </>
  );
}

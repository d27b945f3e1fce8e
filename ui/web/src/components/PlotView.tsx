import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import uPlot from 'uplot';
import 'uplot/dist/uPlot.min.css';
import './plot.css';
import { axes, decorate, type Decorations, drawingOf } from '../plot/draw';
import { downloadCsv, downloadPng, downloadSvg } from '../plot/export';
import { nearest, panned, type PlotLabel, type PlotSeries, tableOf, zoomed } from '../plot/model';
import { setB, setRange, setView, stepB, view } from '../state/cursor';
import { theme } from '../state/theme';
import { Card } from './Card';
import { Icon } from './Icon';
import { Menu } from './Menu';
import { EmptyState } from './states';
import { Table } from './Table';

interface Props {
  title: string;
  unit: string; // of the values, "% of elements"
  series: PlotSeries[];
  range: [number, number]; // steps on the x axis
  limit: [number, number]; // how far the range can grow
  format: (value: number) => string;
  note?: string; // at the right, "anchors 15.2 GB not drawn"
  smoothing?: boolean; // offers it
  anchors?: number[];
  marks?: Decorations['marks'];
  flags?: Decorations['flags'];
  labels?: PlotLabel[];
  threshold?: Decorations['threshold'];
  height?: number;
}

const defaultSmooth = 0.6;

/**
 * A chart over steps. Drag zooms, the wheel zooms at the pointer and with Shift pans, a double click resets, a click
 * sets B; all charts share the range. With the keyboard: arrows move, Enter sets B, + - 0 zoom.
 */
export function PlotView(props: Props) {
  const { title, unit, series, range, limit, format, height = 128 } = props;
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const [at, setAt] = useState<number | null>(null); // index of the point under the crosshair
  const [asTable, setAsTable] = useState(false);
  const w = props.smoothing ? (view.value.smooth ?? defaultSmooth) : 0;
  const look = theme.value;
  const drawing = useMemo(() => drawingOf(series, w), [series, w, look]);
  const decorations = useRef<Decorations>({ anchors: [], marks: [], flags: [], labels: [], threshold: null, current: null, dot: null });
  decorations.current = {
    anchors: props.anchors ?? [], marks: props.marks ?? [], flags: props.flags ?? [], labels: props.labels ?? [],
    threshold: props.threshold ?? null, current: view.value.b, dot: dotOf(drawing, series),
  };
  const shown = useRef({ range, limit });
  shown.current = { range, limit };
  const empty = series.every(({ columns }) => columns.x.length === 0);

  useEffect(() => {
    if (!box.current || empty || asTable) return;
    const u = new uPlot(options(drawing, format, props, shown, decorations, setAt), drawing.data, box.current);
    plot.current = u;
    const size = new ResizeObserver(([entry]) => entry && u.setSize({ width: Math.max(120, entry.contentRect.width), height }));
    size.observe(box.current);
    return () => {
      size.disconnect();
      u.destroy();
      plot.current = null;
    };
  }, [drawing, look, height, empty, asTable]);

  useEffect(() => plot.current?.setScale('x', { min: range[0], max: range[1] }), [range[0], range[1], drawing]);
  useEffect(() => plot.current?.redraw(false), [view.value.b, props.marks, props.flags, props.labels, props.threshold]);

  const x = drawing.data[0];
  const step = at === null ? null : (x[at] ?? null);
  const readout = step === null ? '' : `step ${step}: ${series
    .flatMap((one, i) => {
      const value = drawing.data[drawing.column[i] ?? 0]?.[at ?? 0];
      return typeof value === 'number' ? [`${one.label} ${format(value)}`] : [];
    })
    .slice(0, 5).join(', ')}`;

  const figure = { title, unit, series, range };
  const items = [
    { text: asTable ? 'Show as chart' : 'Show as table', act: () => setAsTable(!asTable) },
    ...(props.smoothing
      ? [0, 0.6, 0.9, 0.99].map((s) => ({ text: s === 0 ? 'No smoothing' : `Smoothing ${s}`, checked: s === w, act: () => setView({ smooth: s }) }))
      : []),
    { text: 'Reset zoom', disabled: view.value.range === null, act: () => setRange(null) },
    { text: 'Export PNG', disabled: asTable || empty, act: () => plot.current && downloadPng(figure, plot.current.ctx.canvas) },
    { text: 'Export SVG', disabled: empty, act: () => downloadSvg(figure) },
    { text: 'Export CSV', disabled: empty, act: () => downloadCsv(figure) },
  ];

  const onKeyDown = (event: KeyboardEvent) => {
    if (event.target !== event.currentTarget || event.ctrlKey || event.metaKey || event.altKey) return;
    const center = step ?? stepB.peek() ?? range[1];
    const move = (by: number) => {
      const start = at ?? nearest(x as number[], stepB.peek() ?? range[1]);
      const to = Math.max(0, Math.min(x.length - 1, start + by));
      setAt(to);
      plot.current?.setCursor({ left: plot.current.valToPos(x[to] ?? 0, 'x'), top: height / 2 });
    };
    if (event.key === 'ArrowRight') move(1);
    else if (event.key === 'ArrowLeft') move(-1);
    else if (event.key === 'Enter' && step !== null) setB(Math.round(step));
    else if (event.key === '+' || event.key === 'w') setRange(zoomed(range, center, 0.7, limit));
    else if (event.key === '-' || event.key === 's') setRange(zoomed(range, center, 1.4, limit));
    else if (event.key === 'a' || event.key === 'd') setRange(panned(range, (event.key === 'a' ? -0.2 : 0.2) * (range[1] - range[0]), limit));
    else if (event.key === '0') setRange(null);
    else return;
    event.preventDefault();
  };

  return (
    <Card
      title={title} note={unit} class="plot-card"
      tools={<>
        <Legend series={series} w={w} note={props.note} />
        <Menu label={`Menu of ${title}`} items={items}><Icon name="more" /></Menu>
      </>}
    >
      {empty ? (
        <EmptyState title="No values in this range" />
      ) : asTable ? (
        <ValueTable {...props} />
      ) : (
        <div
          class="plot" tabIndex={0} role="group" aria-roledescription="chart"
          aria-label={`${title}, ${unit}, steps ${range[0]} to ${range[1]}. Arrow keys read the values.`} onKeyDown={onKeyDown}
        >
          <div ref={box} style={{ height: `${height}px` }} aria-hidden="true" />
          {readout !== '' && <div class="plot-readout" aria-live="polite">{readout}</div>}
        </div>
      )}
    </Card>
  );
}

/** The newest value of a chart that is one line. */
function dotOf(drawing: ReturnType<typeof drawingOf>, series: PlotSeries[]): Decorations['dot'] {
  const [only] = series;
  const x = only?.columns.x.at(-1);
  if (series.length !== 1 || only?.draw !== 'line' || x === undefined) return null;
  const y = drawing.data[drawing.column[0] ?? 0]?.at(-1);
  return typeof y === 'number' ? { x, y, color: only.color } : null;
}

function Legend({ series, w, note }: { series: PlotSeries[]; w: number; note: string | undefined }) {
  const smoothed = w > 0 && series.some(({ draw }) => draw !== 'bars');
  if (series.length === 1 && !smoothed) return note === undefined ? null : <span>{note}</span>;
  return (
    <>
      {note !== undefined && <span>{note}</span>}
      {smoothed && <><span class="key accent">smoothed {w}</span><span class="key faint">raw</span></>}
      {!smoothed && series.length <= 3 && series.map(({ label, color }) => <span key={label} class={`key ${color}`}>{label}</span>)}
      {!smoothed && series.length > 3 && <><span class="key text">{series.at(-1)?.label}</span><span class="key faint">{series.length - 1} others</span></>}
    </>
  );
}

function ValueTable({ title, series, format }: Props) {
  const rows = useMemo(() => tableOf(series), [series]);
  return (
    <Table
      label={`${title} as a table`} rows={rows} id={(row) => row.step} height={128}
      columns={[
        { id: 'step', head: 'step', number: true, cell: (row) => row.step, key: (row) => row.step },
        ...series.map((one, i) => ({
          id: one.label, head: one.label, number: true,
          cell: (row: (typeof rows)[number]) => { const v = row.values[i]; return v == null ? '–' : format(v); },
          key: (row: (typeof rows)[number]) => row.values[i] ?? null,
        })),
      ]}
    />
  );
}

function options(
  drawing: ReturnType<typeof drawingOf>, format: (value: number) => string, props: Props,
  shown: { current: { range: [number, number]; limit: [number, number] } }, decorations: { current: Decorations },
  setAt: (index: number | null) => void,
): uPlot.Options {
  const bars = props.series.some(({ draw }) => draw !== 'line');
  let dragged = false;
  return {
    width: 300, height: props.height ?? 128,
    series: drawing.series, bands: drawing.bands, axes: axes(format),
    legend: { show: false },
    padding: [6, 12, 0, 0],
    scales: {
      x: { time: false, min: props.range[0], max: props.range[1] },
      y: { range: (_, min, max) => yRange(min, max, bars, props.threshold?.y) },
    },
    cursor: {
      sync: { key: 'steps', scales: ['x', null] }, y: false, points: { show: false },
      drag: { x: true, y: false, setScale: false, dist: 6 },
    },
    hooks: {
      draw: [(u) => decorate(u, decorations.current)],
      setCursor: [(u) => setAt(u.cursor.left !== undefined && u.cursor.left >= 0 ? (u.cursor.idx ?? null) : null)],
      setSelect: [(u) => {
        if (u.select.width < 6) return;
        dragged = true;
        const lo = Math.round(u.posToVal(u.select.left, 'x'));
        const hi = Math.round(u.posToVal(u.select.left + u.select.width, 'x'));
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        if (hi - lo >= 2) setRange([lo, hi]);
      }],
      ready: [(u) => {
        u.over.addEventListener('click', () => {
          const x = u.cursor.idx == null ? undefined : u.data[0][u.cursor.idx];
          if (!dragged && x !== undefined) setB(Math.round(x));
          dragged = false;
        });
        u.over.addEventListener('dblclick', () => setRange(null));
        u.over.addEventListener('wheel', (event) => {
          if (!event.shiftKey && !event.ctrlKey && document.activeElement !== u.root.closest('.plot')) return;
          event.preventDefault();
          const { range, limit } = shown.current;
          const by = event.deltaY || event.deltaX;
          if (event.shiftKey) setRange(panned(range, Math.sign(by) * 0.1 * (range[1] - range[0]), limit));
          else setRange(zoomed(range, u.posToVal(u.cursor.left ?? 0, 'x'), by > 0 ? 1.2 : 1 / 1.2, limit));
        }, { passive: false });
      }],
    },
  };
}

function yRange(min: number | null, max: number | null, fromZero: boolean, threshold: number | undefined): [number, number] {
  const lo = fromZero ? 0 : (min ?? 0);
  const hi = Math.max(max ?? 1, threshold ?? -Infinity);
  const space = (hi - lo || Math.abs(hi) || 1) * 0.15;
  return [fromZero ? 0 : lo - space, hi + space];
}

import { useMemo } from 'preact/hooks';
import { runPath } from '../../api/client';
import type { Alert, RunDetail, Series, SeriesColumns } from '../../api/types';
import { PlotView } from '../../components/PlotView';
import { RequestError, Skeleton } from '../../components/states';
import { bytes, bytesQ, duration } from '../../format';
import { type PlotSeries, plainColumns } from '../../plot/model';
import { epoch, view } from '../../state/cursor';
import { useResource } from '../../state/resource';
import { alerts } from '../../state/store';
import { phone } from '../../state/media';
import { flagsOf } from '../journal/names';
import { lagSeries, worstLabel } from './lag';

const none: SeriesColumns = plainColumns([], []);

function scaled(columns: SeriesColumns | undefined, factor: number): SeriesColumns {
  if (!columns) return none;
  const by = (values: number[]) => values.map((value) => value * factor);
  return { x: columns.x, first: by(columns.first), min: by(columns.min), max: by(columns.max), last: by(columns.last) };
}

const short = (value: number) => String(Number(value.toPrecision(4)));

/** The largest value, where it stands out: more than twice the median. */
function peak(columns: SeriesColumns): { x: number; y: number }[] {
  const sorted = [...columns.max].sort((p, q) => p - q);
  const top = sorted.at(-1);
  const median = sorted[sorted.length >> 1];
  if (top === undefined || median === undefined || top < 2 * median) return [];
  return [{ x: columns.x[columns.max.indexOf(top)] ?? 0, y: top }];
}

const panels = ['changed', 'pause', 'delta', 'lag'];

export function Charts({ run }: { run: RunDetail }) {
  const [lo, hi] = [run.first_step ?? 0, run.last_step ?? 0];
  const range = view.value.range ?? [lo, hi];
  const path = `${runPath(run.id, 'series')}?names=changed_frac,wire_bytes,pause_ms&epoch=${epoch.value}&from=${range[0]}&to=${range[1]}&px=600`;
  const loaded = useResource<Series>(path, ['step'], run.id);
  const data = loaded.data;
  const shown = view.value.panels ?? panels;
  const unit = bytesQ(run.kpi.delta_bytes).unit || 'MB';
  const factor = { B: 1, kB: 1e-3, MB: 1e-6, GB: 1e-9, TB: 1e-12 }[unit] ?? 1e-6;

  const changed = useMemo(() => [line('changed', scaled(data?.series.changed_frac, 100))], [data]);
  const pause = useMemo(() => [bars('pause', 'pause', scaled(data?.series.pause_ms, 1e-3))], [data]);
  const delta = useMemo(() => {
    const anchors = new Set(data?.anchors);
    const all = scaled(data?.series.wire_bytes, factor);
    return [bars('delta', 'phase-upload', withoutAnchors(all, anchors))];
  }, [data, factor]);
  const newest = run.kpi.newest ?? hi;
  const lag = useMemo(() => lagSeries(run.replicas, newest), [run.replicas, newest]);
  const rule = alerts.value?.rules.find(({ id }) => id === 'replica-lag');
  const marks = useMemo(() => marksOf(alerts.value?.alerts ?? [], run.id).filter(({ rule: id }) => id === 'density-shift'), [alerts.value, run.id]);
  const flags = useMemo(() => flagsOf(run.refs, epoch.value), [run.refs, epoch.value]);

  if (!data) return loaded.error ? <RequestError error={loaded.error} retry={loaded.retry} /> : <Skeleton rows={6} />;
  const common = { range, limit: [lo, hi] as [number, number], anchors: data.anchors };
  const seconds = pause[0]?.columns ?? none;
  const charts: Record<string, () => preact.JSX.Element> = {
    changed: () => (
      <PlotView key="changed" {...common} title="Changed" unit="% of elements" series={changed} format={short} smoothing marks={marks} flags={flags} />
    ),
    pause: () => (
      <PlotView
        key="pause" {...common} title="Pause" unit="s, slowest replica" series={pause} format={short} note="no tokens produced"
        labels={peak(seconds).map(({ x, y }) => ({ x, y, text: `${duration(y)}, step ${x}` }))}
      />
    ),
    delta: () => (
      <PlotView
        key="delta" {...common} title="Delta size" unit={`${unit} on the wire`} series={delta} format={short}
        note={run.kpi.full_bytes === null || data.anchors.length === 0 ? undefined : `anchors ${bytes(run.kpi.full_bytes)} not drawn`}
      />
    ),
    lag: () => (
      <PlotView
        key="lag" title="Replica lag" unit="versions behind" series={lag} format={short} anchors={data.anchors} limit={[lo, hi]}
        range={[Math.max(range[0], newest - 59), Math.max(range[1], newest - 57)]} labels={worstLabel(lag)}
        threshold={rule?.on && rule.threshold !== null ? { y: rule.threshold, text: `warns at ${rule.threshold} for 60 s` } : null}
      />
    ),
  };
  const order = phone.value ? ['pause', 'changed', 'delta', 'lag'] : panels;
  return (
    <>
      {loaded.error && <RequestError error={loaded.error} retry={loaded.retry} />}
      <div class="charts">{order.filter((name) => shown.includes(name)).map((name) => charts[name]?.())}</div>
    </>
  );
}

const line = (label: string, columns: SeriesColumns): PlotSeries => ({ label, draw: 'line', color: 'accent', columns });
const bars = (label: string, color: string, columns: SeriesColumns): PlotSeries => ({ label, draw: 'bars', color, columns });

/** Anchors are a hundred times larger than deltas; with them the deltas would be a flat line. */
function withoutAnchors(columns: SeriesColumns, anchors: Set<number>): SeriesColumns {
  const keep = columns.x.flatMap((x, i) => (anchors.has(x) ? [] : [i]));
  const pick = (values: number[]) => keep.map((i) => values[i] ?? 0);
  return { x: pick(columns.x), first: pick(columns.first), min: pick(columns.min), max: pick(columns.min), last: pick(columns.last) };
}

function marksOf(list: readonly Alert[], run: string): { x: number; text: string; rule: string }[] {
  return list.flatMap(({ run: id, step, rule }) => (id === run && step !== null ? [{ x: step, text: '⚑', rule }] : []));
}

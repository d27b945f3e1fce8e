import type { Bar, Series, SeriesColumns, StepPage, Timeline } from '../api/types';

// A bundle holds whole epochs. What the daemon would answer for a range is cut out here; nothing is thinned.

/** Steps from `from` to `to`, both included. */
export type Within = (step: number) => boolean;

export function within(query: URLSearchParams): Within {
  const from = Number(query.get('from') ?? 0);
  const to = Number(query.get('to') ?? Infinity);
  return (step) => step >= from && step <= to;
}

export function cutSteps(page: StepPage, epoch: number | null, inside: Within): StepPage {
  return { ...page, steps: page.steps.filter((row) => (epoch === null || row.epoch === epoch) && inside(row.step)) };
}

function cutColumns(columns: SeriesColumns, inside: Within): SeriesColumns {
  const keep = columns.x.map(inside);
  const pick = (values: number[]) => values.filter((_, i) => keep[i]);
  return { x: pick(columns.x), first: pick(columns.first), min: pick(columns.min), max: pick(columns.max), last: pick(columns.last) };
}

/** `steps`: of the bundle, because the columns do not tell how many steps have no value. */
export function cutSeries(series: Series, names: string[], inside: Within, steps: StepPage): Series {
  const known = cutSteps(steps, series.epoch, inside).steps.filter(({ kind }) => kind !== 'gap').map(({ step }) => step);
  const wanted = Object.entries(series.series).filter(([name]) => names.includes(name));
  return {
    ...series,
    from: known[0] ?? series.from,
    to: known.at(-1) ?? series.to,
    points: known.length,
    series: Object.fromEntries(wanted.map(([name, columns]) => [name, cutColumns(columns, inside)])),
    anchors: series.anchors.filter(inside),
  };
}

/** The observed upload rate stays that of the whole epoch. */
export function cutTimeline(whole: Timeline, inside: Within): Timeline {
  const bars = whole.bars.filter(({ step }) => inside(step));
  const spans = whole.spans.filter(({ step }) => inside(step));
  const present = new Set([...bars, ...spans].map(({ actor }) => actor));
  return {
    ...whole,
    bars,
    spans,
    actors: whole.actors.filter((actor) => present.has(actor)),
    visible: whole.visible.filter(({ step }) => inside(step)),
    summary: pauses(bars),
  };
}

/** What the daemon says of the pauses of some bars. */
function pauses(bars: Bar[]): Timeline['summary'] {
  const paused = bars.flatMap(({ step, actor, pause_ms: ms }) => (ms === null ? [] : [{ step, actor, ms }]));
  if (paused.length === 0) return { paused_ms: 0, wall_ms: 0, pauses: 0, p50_ms: null, p95_ms: null, worst: null };
  const ascending = paused.map(({ ms }) => ms).sort((a, b) => a - b);
  const quantile = (share: number) => ascending[Math.ceil(share * ascending.length) - 1] ?? null;
  const begin = Math.min(...bars.map(({ t0_us }) => t0_us));
  const end = Math.max(...bars.map(({ t1_us }) => t1_us));
  return {
    paused_ms: ascending.reduce((sum, ms) => sum + ms, 0),
    wall_ms: ((end - begin) / 1000) * new Set(paused.map(({ actor }) => actor)).size,
    pauses: paused.length,
    p50_ms: quantile(0.5),
    p95_ms: quantile(0.95),
    worst: paused.reduce((worst, pause) => (pause.ms > worst.ms ? pause : worst)),
  };
}

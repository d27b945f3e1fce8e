import type { Replica } from '../../api/types';
import { safeName } from '../../format';
import { type PlotLabel, type PlotSeries, plainColumns } from '../../plot/model';

/** Versions behind, of up to eight replicas one line each, the worst on top; of more a band and the worst. */
export function lagSeries(replicas: readonly Replica[], newest: number): PlotSeries[] {
  const worstFirst = [...replicas].sort((p, q) => Math.max(0, ...q.lag_history) - Math.max(0, ...p.lag_history));
  const x = (history: number[]) => history.map((_, i) => newest - history.length + 1 + i);
  const worst = worstFirst[0];
  if (!worst) return [];
  const line = (replica: Replica, color: string, width: number): PlotSeries => ({
    label: safeName(replica.id), draw: 'steps', color, width, columns: plainColumns(x(replica.lag_history), replica.lag_history),
  });
  const others = worstFirst.slice(1);
  if (others.length < 8) return [...others.reverse().map((replica) => line(replica, 'series-other', 1)), line(worst, 'text', 2)];
  const longest = Math.max(...others.map(({ lag_history }) => lag_history.length));
  const at = (i: number) => others.map(({ lag_history: h }) => h[h.length - longest + i]).filter((v) => v !== undefined);
  const places = Array.from({ length: longest }, (_, i) => i);
  const last = places.map((i) => Math.max(...at(i)));
  const band = { x: places.map((i) => newest - longest + 1 + i), first: last, last, max: last, min: places.map((i) => Math.min(...at(i))) };
  return [{ label: `${others.length} others`, draw: 'line', color: 'series-other', width: 1, columns: band }, line(worst, 'text', 2)];
}

/** The worst replica by name, where it was furthest behind. */
export function worstLabel(lag: readonly PlotSeries[]): PlotLabel[] {
  const worst = lag.at(-1);
  const top = Math.max(0, ...(worst?.columns.last ?? []));
  if (!worst || top < 2) return [];
  return [{ x: worst.columns.x[worst.columns.last.indexOf(top)] ?? 0, y: top, text: `${worst.label} worst ${top}` }];
}

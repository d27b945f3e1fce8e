import { useState } from 'preact/hooks';
import type { RunSummary } from '../../api/types';
import { runState } from '../../components/RunPill';
import { EmptyState, Skeleton } from '../../components/states';
import { Tabs } from '../../components/Tabs';
import { plural } from '../../format';
import { failure, now, runs } from '../../state/store';
import { RunCard } from './RunCard';
import './runs.css';

const filters = {
  all: () => true,
  attention: (run: RunSummary) => run.attention > 0,
  live: (run: RunSummary) => runState(run, now.value) === 'live',
  finished: (run: RunSummary) => runState(run, now.value) === 'finished',
};
type Filter = keyof typeof filters;
const words: Record<Filter, string> = { all: 'All', attention: 'Needs attention', live: 'Live', finished: 'Finished' };

type Order = 'attention' | 'newest' | 'name';
const orders: Record<Order, (x: RunSummary, y: RunSummary) => number> = {
  attention: (x, y) => y.attention - x.attention,
  newest: (x, y) => (y.kpi.latest_at_us ?? 0) - (x.kpi.latest_at_us ?? 0),
  name: (x, y) => x.name.localeCompare(y.name),
};

/** All runs as cards, those that need somebody first. */
export default function Runs() {
  const [filter, setFilter] = useState<Filter>('all');
  const [order, setOrder] = useState<Order>('attention');
  const list = runs.value?.runs;
  if (!list) return failure.value ? null : <Skeleton rows={8} />;
  if (list.length === 0) {
    return (
      <EmptyState page title="No run is open">
        <p>The daemon shows the folders and buckets that it was started with.</p>
        <p><code>deltascope serve SOURCE…</code> opens runs; <code>deltascope demo --serve</code> makes one to look at.</p>
      </EmptyState>
    );
  }
  const shown = list.filter(filters[filter]).sort(orders[order]);
  const sources = new Set(list.map(({ source }) => source)).size;
  const options = (Object.keys(filters) as Filter[]).map((id) => ({ id, text: `${words[id]} ${list.filter(filters[id]).length}` }));
  return (
    <>
      <div class="runs-head">
        <h1>Runs</h1>
        <span class="muted">{plural(list.length, 'run')} from {plural(sources, 'source')}</span>
        <span class="spring" />
        <Tabs label="Which runs" options={options} chosen={filter} choose={setFilter} />
        <label>
          Sort{' '}
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value as Order)}>
            <option value="attention">needs attention first</option>
            <option value="newest">newest step first</option>
            <option value="name">by name</option>
          </select>
        </label>
      </div>
      {shown.length === 0 && <EmptyState title="No run is like this" />}
      <div class="run-cards">{shown.map((run) => <RunCard key={run.id} run={run} />)}</div>
    </>
  );
}

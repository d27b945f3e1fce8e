import { useState } from 'preact/hooks';
import type { AlertList } from '../../api/types';
import { AlertRow } from '../../components/AlertRow';
import { Card } from '../../components/Card';
import { EmptyState, Skeleton } from '../../components/states';
import { plural } from '../../format';
import { alerts, failure } from '../../state/store';
import { Channels } from './Channels';
import { Rules } from './Rules';
import './alerts.css';

/** What fires, what did, the rules and where messages go. */
export default function Alerts() {
  const list = alerts.value;
  if (!list) return failure.value ? null : <Skeleton rows={8} />;
  return (
    <div class="alerts-page">
      <h1>Alerts</h1>
      <Firing list={list} />
      <History list={list} />
      <Rules rules={list.rules} />
      <Channels channels={list.channels} />
    </div>
  );
}

function Firing({ list }: { list: AlertList }) {
  const firing = list.alerts.filter(({ state }) => state !== 'cleared');
  return (
    <Card title="Firing" note={plural(firing.length, 'alert')}>
      {firing.length === 0
        ? <EmptyState title="Nothing fires">{list.rules.length > 0 && <p>{plural(list.rules.filter(({ on }) => on).length, 'rule')} watch the runs.</p>}</EmptyState>
        : <ul class="alert-list">{firing.map((alert) => <AlertRow key={alert.id} alert={alert} full />)}</ul>}
    </Card>
  );
}

const pageSize = 50;

function History({ list }: { list: AlertList }) {
  const [filter, setFilter] = useState('');
  const [shown, setShown] = useState(pageSize);
  const cleared = list.alerts.filter(({ state }) => state === 'cleared');
  const wanted = filter.trim().toLowerCase();
  const found = cleared.filter(({ rule, run, text, title }) => `${rule} ${run} ${title} ${text}`.toLowerCase().includes(wanted));
  return (
    <Card
      title="History" note={`${cleared.length} cleared`}
      tools={<input type="search" aria-label="Filter the history" placeholder="Filter" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />}
    >
      {found.length === 0 && <EmptyState title={cleared.length === 0 ? 'No alert was cleared yet' : 'No alert is like this'} />}
      <ul class="alert-list">{found.slice(0, shown).map((alert) => <AlertRow key={alert.id} alert={alert} full />)}</ul>
      {found.length > shown && <p class="card-body"><button type="button" onClick={() => setShown(shown + pageSize)}>Show more, {found.length - shown} left</button></p>}
    </Card>
  );
}

import type { Replica, RunDetail } from '../../api/types';
import { Name } from '../../components/Name';
import { Spark } from '../../components/Spark';
import { EmptyState } from '../../components/states';
import { type Column, Table } from '../../components/Table';
import { age, milliseconds, percent, unknown } from '../../format';
import { stateOf } from './replicaState';

const columns: Column<Replica>[] = [
  { id: 'id', head: 'id', cell: (r) => <strong><Name text={r.id} limit={24} /></strong>, key: (r) => r.id },
  { id: 'engine', head: 'engine', cell: (r) => <span class="muted"><Name text={r.engine} limit={24} /></span>, key: (r) => r.engine, narrow: true, spare: true },
  { id: 'step', head: 'says it serves', number: true, cell: (r) => <strong>{r.step ?? unknown}</strong>, key: (r) => r.step },
  {
    id: 'state', head: 'state', key: (r) => stateOf(r).word,
    cell: (r) => {
      const { mark, word, look } = stateOf(r);
      return (
        <span class={`state ${look}`} title={r.detail}>
          <span class={look === 'ok' ? 'ok-text' : ''} aria-hidden="true">{mark}</span> {word}
          {r.state !== '' && r.state !== 'serving' && <span class="muted">, <Name text={r.state} limit={20} /></span>}
        </span>
      );
    },
  },
  {
    id: 'lag', head: 'lag', number: true, key: (r) => r.behind,
    cell: (r) => (r.behind === null ? unknown : r.behind > 0 ? <strong>{r.behind} · {age(r.lag_s)}</strong> : String(r.behind)),
  },
  {
    id: 'history', head: 'last 60 steps', narrow: true,
    cell: (r) => <Spark bars values={r.lag_history} height={16} label={`Versions behind, worst ${Math.max(0, ...r.lag_history)}`} />,
  },
  { id: 'pause', head: 'last pause', number: true, cell: (r) => milliseconds(r.last_pause_ms), key: (r) => r.last_pause_ms },
  { id: 'paused', head: 'paused, 1 h', number: true, cell: (r) => percent(r.paused_frac), key: (r) => r.paused_frac, narrow: true },
  { id: 'age', head: 'contact', number: true, cell: (r) => <span class="muted">{age(r.age_s)} ago</span>, key: (r) => r.age_s, narrow: true },
];

/** One row per replica, the worst first. */
export function ReplicasCard({ run }: { run: RunDetail }) {
  return (
    <section class="card" aria-label="Replicas">
      {run.replicas.length === 0 ? (
        <>
          <header class="card-head"><h2>Replicas</h2></header>
          <EmptyState title="No replica has reported">
            <p>Replicas that write heartbeats beside the run are shown here.</p>
          </EmptyState>
        </>
      ) : (
        <Table
          label="Replicas" columns={columns} rows={run.replicas} id={(r) => r.id} sort={{ column: 'lag', descending: true }}
          {...(run.replicas.length > 12 ? { height: 240 } : {})}
        />
      )}
    </section>
  );
}

import { useMemo, useState } from 'preact/hooks';
import { runPath } from '../../api/client';
import type { Lineage, LineageRow } from '../../api/types';
import { save, toCsv, type Twin } from '../../canvas/export';
import { FilterField } from '../../canvas/FilterField';
import { parseQuery, type Value } from '../../canvas/query';
import { EmptyState, Loaded, StaleBadge } from '../../components/states';
import { exact, plural } from '../../format';
import { useResource } from '../../state/resource';
import { Chains } from './Chains';
import './lineage.css';

const FIELDS: Record<string, (row: LineageRow) => Value> = {
  kind: (row) => row.kind,
  state: (row) => row.state,
  step: (row) => row.step,
  epoch: (row) => row.epoch,
  verify: (row) => row.verified?.level ?? -1,
  size: (row) => row.wire_bytes,
  ref: (row) => row.refs,
};
const NUMBERS = ['step', 'epoch', 'verify', 'size'];

/** Which versions there are, what each builds on, and what rebuilding it costs. */
export default function LineagePage({ runId = '' }: Record<string, string>) {
  const lineage = useResource<Lineage>(runPath(runId, 'lineage'), ['step', 'run'], runId);
  return (
    <Loaded from={lineage} rows={14}>
      {(data) => data.rows.length === 0 ? (
        <EmptyState title="No version is published yet">
          <p>The first one appears here by itself.</p>
        </EmptyState>
      ) : <Filtered runId={runId} data={data} />}
    </Loaded>
  );
}

function Filtered({ runId, data }: { runId: string; data: Lineage }) {
  const [text, setText] = useState('');
  const query = useMemo(
    () => parseQuery(text, FIELDS, NUMBERS, (row) => `${row.step} ${row.kind} ${row.state} ${row.refs.join(' ')}`), [text],
  );
  const filtering = !query.empty && query.error === null;
  const rows = useMemo(() => (filtering ? keep(data.rows, query.test) : data.rows), [data, query]);
  const versions = data.rows.filter((row) => row.kind !== 'gap').length;
  const chains = new Set(data.rows.map((row) => row.chain)).size;
  const epochs = new Set(data.rows.map((row) => row.epoch)).size;
  return (
    <div class="lineage">
      <div class="canvas-tools">
        <FilterField
          label="Filter versions" placeholder="kind:anchor state:broken verify:<2 step:1100..1200" text={text} setText={setText}
          error={query.error} found={`${exact(rows.length)} of ${exact(data.rows.length)}`}
        />
        <span><strong>{exact(versions)}</strong> versions in {plural(chains, 'chain')}, {plural(epochs, 'epoch')}</span>
        <StaleBadge />
        <button
          type="button" class="small"
          onClick={() => save(`${runId}-lineage.csv`, new Blob([toCsv(lineageTable(rows))], { type: 'text/csv' }))}
        >
          Export CSV
        </button>
        <ul class="chain-legend" aria-label="Marks">
          <li>◆ anchor</li><li>● delta</li><li>○ gap</li><li>✕ broken</li><li>⟲ restart</li>
          {rows.some((row) => row.forms.length > 1) && <li>◇ ⊐ other way</li>}
          <li class="path">replay path of B</li>
        </ul>
      </div>
      <Chains runId={runId} rows={rows} folding={!filtering} />
    </div>
  );
}

function lineageTable(rows: readonly LineageRow[]): Twin {
  const names = ['epoch', 'step', 'kind', 'state', 'base_step', 'published_at_us', 'wire_bytes', 'changed_frac', 'verify_level', 'restore_bytes', 'restore_deltas', 'refs', 'problem'];
  return {
    columns: names.map((name) => ({ name })),
    rows: rows.map((row) => [
      row.epoch, row.step, row.kind, row.state, row.base === null ? null : (rows[row.base]?.step ?? null), row.published_at,
      row.wire_bytes, row.changed_frac, row.verified?.level ?? null, row.restore?.bytes ?? null, row.restore?.deltas ?? null,
      row.refs.join(' '), row.problem?.code ?? null,
    ]),
  };
}

/** The rows that pass; a base that does not pass is not shown as one. */
function keep(rows: LineageRow[], test: (row: LineageRow) => boolean): LineageRow[] {
  const place = new Map<number, number>();
  const passed = rows.filter((row, at) => test(row) && place.set(at, place.size));
  const placeOf = (base: number | null): number | null => (base === null ? null : (place.get(base) ?? null));
  return passed.map((row) => ({
    ...row, base: placeOf(row.base), forms: row.forms.map((form) => ({ ...form, base: placeOf(form.base) })),
  }));
}

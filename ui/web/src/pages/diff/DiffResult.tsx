import { useMemo, useState } from 'preact/hooks';
import type { Diff, TensorDiff } from '../../api/types';
import { useRoom } from '../../canvas/room';
import { Kpi } from '../../components/Kpi';
import { Name } from '../../components/Name';
import { Reads } from '../../components/Reads';
import { Settings } from '../../components/Settings';
import { Table, type Column } from '../../components/Table';
import { Tabs } from '../../components/Tabs';
import { bytes, count, duration, exact, percent, percentQ, plural, rate, safeName, shape, unknown } from '../../format';
import { between, useHeard } from '../../state/resource';
import { Between } from './Between';
import { norm, notFinite, reportOf, share } from './comparison';
import { ExportMenu } from './ExportMenu';
import { useOpenBlocks, type Pair } from './pair';
import { Share } from './Share';

const touchedShare = (row: TensorDiff): number | null =>
  row.elements_touched === null || row.elements === 0 ? null : row.elements_touched / row.elements;
const exactOr = (n: number | null): string => (n === null ? unknown : exact(n));

const COLUMNS: Column<TensorDiff>[] = [
  { id: 'name', head: 'tensor', cell: (row) => <Name text={row.name} />, key: (row) => row.name },
  { id: 'shape', head: 'shape', cell: (row) => shape(row.shape), number: true, narrow: true },
  { id: 'dtype', head: 'dtype', cell: (row) => row.dtype, key: (row) => row.dtype, narrow: true },
  { id: 'different', head: 'different', cell: (row) => <Share of={share(row)} />, key: share, number: true, width: '200px' },
  { id: 'touched', head: 'touched', cell: (row) => percent(touchedShare(row)), key: touchedShare, number: true, narrow: true },
  { id: 'abs', head: 'max |Δ|', cell: (row) => norm(row.max_abs), key: (row) => row.max_abs, number: true },
  { id: 'l2', head: 'relative L2', cell: (row) => norm(row.relative_norm), key: (row) => row.relative_norm, number: true },
  { id: 'ulp', head: 'max ULP', cell: (row) => exactOr(row.max_ulp), key: (row) => row.max_ulp, number: true, narrow: true },
  { id: 'flips', head: 'sign flips', cell: (row) => exactOr(row.sign_flips), key: (row) => row.sign_flips, number: true, narrow: true },
  { id: 'nan', head: 'NaN', cell: (row) => exactOr(row.nan_involved), key: (row) => row.nan_involved, number: true, narrow: true },
];

const RESHAPED: Column<Diff['changed_dtype_or_shape'][number]>[] = [
  { id: 'name', head: 'tensor', cell: (row) => <Name text={row.name} />, key: (row) => row.name },
  { id: 'a', head: 'in A', cell: (row) => `${row.dtype_a}, ${shape(row.shape_a)}` },
  { id: 'b', head: 'in B', cell: (row) => `${row.dtype_b}, ${shape(row.shape_b)}` },
];

/** Null: of none a distance is measured. */
function largestOf(rows: TensorDiff[]): TensorDiff | null {
  return rows.reduce<TensorDiff | null>((most, row) => (row.max_abs !== null && row.max_abs > (most?.max_abs ?? -1) ? row : most), null);
}

type Part = 'tensors' | 'only' | 'reshaped';

interface Props {
  pair: Pair;
  diff: Diff;
  again: () => void;
}

/** What an exact comparison found. */
export function DiffResult({ pair, diff, again }: Props) {
  const [part, setPart] = useState<Part>('tensors');
  const open = useOpenBlocks(pair);
  const changed = useHeard((event) => between(event, pair.runId, pair.epoch, pair.a, pair.b), `${pair.runId} ${pair.epoch} ${pair.a} ${pair.b} ${diff.seconds}`);
  const before = changed && <p class="warn-text">⚠ A step from {pair.a} to {pair.b} changed or was checked since; what is shown is of before.</p>;
  const room = useRoom(400);
  const report = useMemo(() => reportOf(pair, diff), [diff]);
  const only = diff.only_in_a.length + diff.only_in_b.length;
  const speed = `${bytes(diff.bytes_compared)} compared in ${duration(diff.seconds)}`;
  if (diff.equal) {
    return (
      <div class="equal">
        <p class="equal-text">A and B are bit-identical</p>
        <p class="muted">{plural(diff.tensors_total, 'tensor')}, {exact(diff.elements_total)} elements, {speed}.</p>
        <Reads of={diff} />
        {before}
        <button type="button" onClick={again}>Compare again</button>
      </div>
    );
  }
  const nothing = diff.nothing_compared !== null;
  const largest = largestOf(diff.tensors);
  return (
    <>
      <dl class="kpis">
        <Kpi
          label="Tensors different" value={nothing ? { value: unknown, unit: '' } : { value: exact(diff.tensors_different), unit: `of ${exact(diff.tensors_total)}` }}
          context={nothing ? 'nothing was compared' : `${exact(diff.tensors_total - diff.tensors_different)} equal`}
        />
        <Kpi
          label="Elements different" value={percentQ(diff.elements_total === 0 ? null : diff.elements_different / diff.elements_total)}
          context={nothing ? 'nothing was compared' : diff.elements_touched === null ? count(diff.elements_different)
            : `${count(diff.elements_different)}, touched ${percent(diff.elements_touched / diff.elements_total)}`}
        />
        <Kpi
          label="max |Δ|" value={{ value: largest === null ? unknown : norm(largest.max_abs), unit: '' }}
          context={largest === null ? unknown : <Name text={largest.name} limit={36} />}
        />
        <Kpi label="Relative L2" value={{ value: norm(diff.relative_norm), unit: '' }} context="B − A over A" />
        <Between {...pair} />
        <Kpi label="Compared" value={{ value: bytes(diff.bytes_compared), unit: '' }} context={`in ${duration(diff.seconds)}, ${rate(diff.seconds > 0 ? diff.bytes_compared / diff.seconds : null)}`} />
      </dl>
      {before}
      {nothing && <p class="warn-text">⚠ {diff.nothing_compared}</p>}
      {notFinite(diff) !== '' && <p class="warn-text">⚠ {notFinite(diff)}</p>}
      {diff.form_differences.map(({ text }) => <p key={text} class="warn-text">⚠ {safeName(text)}</p>)}
      {diff.adapters !== null && <p class="warn-text">⚠ {safeName(diff.adapters)}</p>}
      <Settings diff={diff} />
      <Reads of={diff} />
      <div class="canvas-tools diff-tools">
        <Tabs
          label="Part of the result" chosen={part} choose={setPart}
          options={[
            { id: 'tensors', text: `Tensors ${exact(diff.tensors.length)}` }, { id: 'only', text: `Only in A or B ${exact(only)}` },
            { id: 'reshaped', text: `Shape or dtype ${exact(diff.changed_dtype_or_shape.length)}` },
          ]}
        />
        <button type="button" class="small" onClick={again}>Compare again</button>
        <ExportMenu report={report} />
      </div>
      {part === 'tensors' && (
        <Table
          label="Different tensors" columns={COLUMNS} rows={diff.tensors} id={(row) => row.name} height={room}
          sort={{ column: 'different', descending: true }} onOpen={(row) => open(row.name)}
        />
      )}
      {part === 'only' && <OnlyIn diff={diff} />}
      {part === 'reshaped' && (
        <Table label="Tensors of another shape or dtype" columns={RESHAPED} rows={diff.changed_dtype_or_shape} id={(row) => row.name} height={room} />
      )}
      <p class="muted">Enter or a click opens the difference by block.</p>
    </>
  );
}

function OnlyIn({ diff }: { diff: Diff }) {
  const rows = [...diff.only_in_a.map((name) => ({ name, side: 'A' })), ...diff.only_in_b.map((name) => ({ name, side: 'B' }))];
  if (rows.length === 0) return <p class="muted">Both have the same tensors.</p>;
  return (
    <Table
      label="Tensors of one side only" rows={rows} id={(row) => `${row.side} ${row.name}`} height={520}
      columns={[
        { id: 'name', head: 'tensor', cell: (row) => <Name text={row.name} />, key: (row) => row.name },
        { id: 'side', head: 'only in', cell: (row) => row.side, key: (row) => row.side },
      ]}
    />
  );
}

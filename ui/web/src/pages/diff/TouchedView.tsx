import { useMemo } from 'preact/hooks';
import { runPath } from '../../api/client';
import type { Touched } from '../../api/types';
import { useRoom } from '../../canvas/room';
import { Kpi } from '../../components/Kpi';
import { Name } from '../../components/Name';
import { Loaded } from '../../components/states';
import { Table, type Column } from '../../components/Table';
import { count, exact, percentQ, safeName } from '../../format';
import { between, useResource } from '../../state/resource';
import { detail } from '../../state/store';
import { problemsBetween } from './comparison';
import { Between } from './Between';
import { ExportMenu } from './ExportMenu';
import type { Report } from './report';
import { Share } from './Share';
import { useOpenBlocks, type Pair } from './pair';

type Row = Touched['tensors'][number];

const share = (row: Row): number => (row.elements === 0 ? 0 : row.touched_at_most / row.elements);

const COLUMNS: Column<Row>[] = [
  { id: 'name', head: 'tensor', cell: (row) => <Name text={row.name} />, key: (row) => row.name },
  { id: 'elements', head: 'elements', cell: (row) => exact(row.elements), key: (row) => row.elements, number: true, narrow: true },
  { id: 'touched', head: 'touched at most', cell: (row) => exact(row.touched_at_most), key: (row) => row.touched_at_most, number: true, narrow: true },
  { id: 'share', head: 'share', cell: (row) => <Share of={share(row)} />, key: share, number: true, width: '220px' },
];

function reportOf(pair: Pair, data: Touched): Report {
  return {
    title: `Touched between ${pair.a} and ${pair.b}`,
    file: `${pair.runId}-touched-${pair.a}-${pair.b}`,
    facts: [['elements touched at most', exact(data.elements_at_most)], ['elements', exact(data.elements_total)]],
    columns: ['tensor', 'elements', 'touched_at_most'],
    rows: data.tensors.map((row) => [row.name, row.elements, row.touched_at_most]),
  };
}

/** The instant answer: an upper bound, because an element may change twice or change back. */
export function TouchedView(pair: Pair) {
  const { runId, epoch, a, b } = pair;
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  const touched = useResource<Touched>(
    `${runPath(runId, 'touched')}?epoch=${epoch}&a=${from}&b=${to}`, ['step'], (event) => between(event, runId, epoch, from, to),
  );
  const open = useOpenBlocks(pair);
  const room = useRoom(400);
  const problems = detail.value?.id === runId ? problemsBetween(detail.value.problems, from, to) : [];
  const report = useMemo(() => (touched.data === null ? null : reportOf(pair, touched.data)), [touched.data]);
  return (
    <Loaded from={touched} rows={10}>
      {(data) => (
        <>
          <dl class="kpis">
            <Kpi
              label="Elements touched at most" value={percentQ(data.elements_total ? data.elements_at_most / data.elements_total : null)}
              context={`${count(data.elements_at_most)} of ${count(data.elements_total)}`}
            />
            <Kpi label="Tensors touched" value={{ value: exact(data.tensors.length), unit: '' }} context="by at least one delta" />
            <Between {...pair} />
          </dl>
          {problems.length > 0 && <p class="warn-text">⚠ Reported of what is counted here: {safeName(problems.join('; '))}.</p>}
          <div class="canvas-tools diff-tools">
            <span class="muted">An upper bound: an element that changes twice counts twice. "Different" compares the bits.</span>
            {report && <ExportMenu report={report} />}
          </div>
          <Table
            label="Touched tensors" columns={COLUMNS} rows={data.tensors} id={(row) => row.name} height={room}
            sort={{ column: 'share', descending: true }} onOpen={(row) => open(row.name)}
          />
          <p class="muted">Enter or a click opens the difference by block.</p>
        </>
      )}
    </Loaded>
  );
}

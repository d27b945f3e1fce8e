import { canDo, openAct, openUndo } from '../../actions';
import { runPath } from '../../api/client';
import type { Annotation, Annotations, JournalEntry, Lineage, Ref } from '../../api/types';
import { save, toCsv, type Twin } from '../../canvas/export';
import { Card } from '../../components/Card';
import { Icon } from '../../components/Icon';
import { Link, runPage } from '../../components/Link';
import { Name } from '../../components/Name';
import { EmptyState, Loaded, ProblemText } from '../../components/states';
import { type Column, Table } from '../../components/Table';
import { clock, fullTime, plural, safeName, unknown } from '../../format';
import { useResource } from '../../state/resource';
import { mayAct, now } from '../../state/store';
import { nameOf, newestFirst, removalOf, undoable } from './names';
import './journal.css';

/** What people said of the run and did to it. */
export default function JournalPage({ runId = '' }: Record<string, string>) {
  const loaded = useResource<Annotations>(runPath(runId, 'annotations'), ['step', 'run', 'task'], runId);
  return (
    <div class="journal-page">
      <UndoBar runId={runId} />
      <Loaded from={loaded} rows={10}>{(data) => <Content runId={runId} data={data} />}</Loaded>
    </div>
  );
}

/** Where the newest step restores another one, that can be taken back. */
function UndoBar({ runId }: { runId: string }) {
  const { data } = useResource<Lineage>(runPath(runId, 'lineage'), ['step'], runId);
  const newest = undoable(data?.rows ?? []);
  if (newest === null) return null;
  return (
    <section class="card undo-bar" aria-label="Newest roll back">
      <Icon name="undo" />
      <p>
        The newest step, <Link to={runPage(runId, 'steps', String(newest.step))}>{newest.step}</Link>, restores
        step <Link to={runPage(runId, 'steps', String(newest.restores))}>{newest.restores}</Link>.
      </p>
      {canDo('undo') && <button type="button" onClick={() => openUndo(runId)}>Undo…</button>}
    </section>
  );
}

function Content({ runId, data }: { runId: string; data: Annotations }) {
  const journal = newestFirst(data.journal);
  const removable = data.refs.some((ref) => canDo(removalOf(ref)));
  return (
    <>
      {data.problems.length > 0 && (
        <Card title="Problems" note={String(data.problems.length)}>
          <div class="card-body">{data.problems.map((problem, i) => <ProblemText key={i} problem={problem} />)}</div>
        </Card>
      )}
      <Card
        title="Journal" note={data.journal.length > 0 ? `${plural(data.journal.length, 'entry', 'entries')}, newest first` : undefined}
        tools={journal.length > 0 && (
          <button type="button" class="small" onClick={() => save(`${runId}-journal.csv`, new Blob([toCsv(journalTable(journal))], { type: 'text/csv' }))}>Export CSV</button>
        )}
      >
        {journal.length === 0
          ? <EmptyState title="Nothing is in the journal"><p>Roll backs, names, pins and notes are written into it.</p></EmptyState>
          : <Table label="Journal" rows={journal} columns={entries} id={({ number, local }) => `${local} ${number}`} {...(journal.length > 20 ? { height: 460 } : {})} />}
      </Card>
      <div class="journal-two">
        <Card title="Names and pins" note={data.refs.length > 0 ? String(data.refs.length) : undefined}>
          {data.refs.length === 0
            ? <EmptyState title="No step has a name"><p>{mayAct.value ? 'The menu Acts names or pins the step that is selected.' : 'deltascope ref and deltascope pin give one.'}</p></EmptyState>
            : <Table label="Names and pins" rows={data.refs} columns={refColumns(runId, removable)} id={({ word }) => word} {...(data.refs.length > 20 ? { height: 460 } : {})} />}
        </Card>
        <Card title="Notes" note={data.notes.length > 0 ? String(data.notes.length) : undefined}>
          {data.notes.length === 0
            ? <EmptyState title="Nobody has written a note"><p>{mayAct.value ? 'The menu Acts writes one about the step that is selected.' : 'deltascope note writes one.'}</p></EmptyState>
            : <Table label="Notes" rows={[...data.notes].reverse()} columns={noteColumns(runId)} id={({ number, local }) => `${local} ${number}`} {...(data.notes.length > 20 ? { height: 460 } : {})} />}
        </Card>
      </div>
    </>
  );
}

const time = (us: number) => <time title={fullTime(us)}>{clock(us, now.value)}</time>;
const where = (local: boolean) => (local ? <span class="muted" title="The source cannot be written: this is kept on the machine of the daemon"> on this machine</span> : '');

const phases: Record<string, [mark: string, look: string]> = {
  begun: ['▶', 'muted'], done: ['✓', 'ok-text'], failed: ['✕', 'error-text'], unreadable: ['?', 'error-text'],
};

const entries: Column<JournalEntry>[] = [
  { id: 'time', head: 'time', cell: (e) => <span class="nowrap">{time(e.t_us)}</span>, key: (e) => e.t_us },
  { id: 'by', head: 'who', cell: (e) => <Name text={e.by} limit={30} />, key: (e) => e.by, narrow: true },
  { id: 'act', head: 'act', cell: (e) => <Name text={e.act} limit={30} />, key: (e) => e.act },
  {
    id: 'phase', head: 'phase', key: (e) => e.phase,
    cell: (e) => <span class="state"><span class={phases[e.phase]?.[1] ?? ''} aria-hidden="true">{phases[e.phase]?.[0] ?? '•'}</span> {safeName(e.phase)}</span>,
  },
  {
    id: 'text', head: 'what',
    cell: (e) => (
      <>
        <span class="entry-text">{safeName(e.text)}</span>{where(e.local)}
        {e.keys.length > 0 && <details class="entry-keys"><summary>{plural(e.keys.length, 'object')}</summary><ul class="mono">{e.keys.map((key) => <li key={key}>{safeName(key)}</li>)}</ul></details>}
      </>
    ),
  },
  { id: 'plan', head: 'plan', cell: (e) => (e.plan === null ? unknown : <span class="mono" title={safeName(e.plan)}>{safeName(e.plan.slice(0, 12))}</span>), narrow: true },
];

function journalTable(journal: readonly JournalEntry[]): Twin {
  const names = ['time_us', 'who', 'act', 'phase', 'text', 'plan', 'keys', 'local'];
  return {
    columns: names.map((name) => ({ name })),
    rows: journal.map((e) => [e.t_us, e.by, e.act, e.phase, e.text, e.plan, e.keys.join(' '), String(e.local)]),
  };
}

const stepLink = (runId: string, epoch: number | null, step: number) =>
  <Link to={runPage(runId, 'steps', epoch === null ? String(step) : `${epoch}:${step}`)}>{step}</Link>;

function refColumns(runId: string, removable: boolean): Column<Ref>[] {
  return [
    { id: 'word', head: 'name', cell: (r) => <span class="tag"><Name text={r.word} limit={40} /></span>, key: (r) => r.word },
    {
      id: 'step', head: 'step', number: true, key: (r) => r.step,
      cell: (r) => (r.step === null ? unknown : r.here ? stepLink(runId, r.epoch, r.step) : <span title="The version that it means is not in the run any more">{r.step}, gone</span>),
    },
    {
      id: 'why', head: 'why',
      cell: (r) => (r.problem ? <span class="error-text" title={safeName(r.problem.text)}>✕ {r.problem.code}</span> : <>{safeName(r.why ?? '')}{where(r.local)}</>),
    },
    { id: 'by', head: 'who', cell: (r) => <Name text={r.by} limit={24} />, key: (r) => r.by, narrow: true },
    { id: 'time', head: 'since', cell: (r) => <span class="nowrap">{time(r.t_us)}</span>, key: (r) => r.t_us, narrow: true },
    ...(removable ? [{
      id: 'remove', head: <span class="visually-hidden">remove</span>,
      cell: (r: Ref) => canDo(removalOf(r)) && <button type="button" class="small" aria-label={`Remove ${safeName(r.word)}…`} onClick={() => openAct(removalOf(r), runId, { name: nameOf(r) })}>Remove…</button>,
    }] : []),
  ];
}

function noteColumns(runId: string): Column<Annotation>[] {
  return [
    { id: 'step', head: 'step', number: true, cell: (n) => stepLink(runId, null, n.step), key: (n) => n.step },
    { id: 'text', head: 'note', cell: (n) => <><span class="entry-text">{safeName(n.text)}</span>{where(n.local)}</> },
    { id: 'by', head: 'who', cell: (n) => <Name text={n.by} limit={24} />, key: (n) => n.by, narrow: true },
    { id: 'time', head: 'when', cell: (n) => <span class="nowrap">{time(n.t_us)}</span>, key: (n) => n.t_us },
  ];
}

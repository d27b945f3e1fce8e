import { canDo, openUndo } from '../../actions';
import type { AnnotatedReport, BranchReport, Diff, DiscardReport, MaterializeReport, PublishReport, RollBackReport, Task, VerifyReport } from '../../api/types';
import { Card } from '../../components/Card';
import { CliLine } from '../../components/CliLine';
import { Link, runPage } from '../../components/Link';
import { Name } from '../../components/Name';
import { Reads, Rewritten } from '../../components/Reads';
import { VerifyShield } from '../../components/StateIcon';
import { Settings } from '../../components/Settings';
import { ErrorBanner, Loaded, ProblemText, WorstCode } from '../../components/states';
import { Table } from '../../components/Table';
import { backendText, bytes, clock, count, duration, exact, fullTime, percent, rate, safeName, unknown } from '../../format';
import { useResource } from '../../state/resource';
import { now, tasks } from '../../state/store';
import { navigate } from '../../router';
import { viewQuery } from '../../state/cursor';
import { AcceptRewritten } from './AcceptRewritten';
import { meanRate, over, remaining, took } from './progress';
import { TaskActs, TaskProgress, TaskStateText } from './TaskRow';

/** One task: phase, progress, acts, result. The result comes with the request, progress with the events. */
export function OneTask({ id }: { id: string }) {
  const live = tasks.value?.find((task) => task.id === id);
  const loaded = useResource<Task>(`tasks/${encodeURIComponent(id)}?state=${live?.state ?? ''}`);
  return (
    <>
      {!loaded.data && <h1 class="visually-hidden">Task</h1>}
      <Loaded from={loaded}>
        {(data) => <TaskFacts task={live ? { ...live, result: live.result ?? data.result } : data} />}
      </Loaded>
    </>
  );
}

function TaskFacts({ task }: { task: Task }) {
  const { problem, result } = task;
  return (
    <div class="one-task">
      <header class="task-head">
        <h1><Name text={task.title} limit={120} /></h1>
        <TaskStateText task={task} />
        <span class="spring" />
        <TaskActs task={task} />
      </header>
      {problem && <ErrorBanner what={`✕ ${safeName(problem.text)}`} why={safeName([problem.where, problem.remedy].filter(Boolean).join(' · '))} code={problem.code} />}
      {task.not_kept && <ErrorBanner what={`▲ ${safeName(task.not_kept.text)}`} why={safeName([task.not_kept.where, task.not_kept.remedy].filter(Boolean).join(' · '))} code={task.not_kept.code} />}
      <AcceptRewritten key={task.id} task={task} started={(id) => navigate(`tasks/${encodeURIComponent(id)}`, viewQuery.value)} />
      {!over(task) && (
        <Card title={safeName(task.phase) || 'waiting'} note={remaining(task)}>
          <div class="card-body">
            <TaskProgress task={task} />
            <p aria-live="polite" class="visually-hidden">{task.total > 0 ? `${Math.floor((task.done / task.total) * 10) * 10} percent` : task.phase}</p>
            <p class="muted lead">You can close this tab, the task runs on.</p>
          </div>
        </Card>
      )}
      <Card title="Facts">
        <dl class="facts card-body">
          {!over(task) && <><dt>Done</dt><dd>{task.total > 0 ? `${percent(task.done / task.total)}, ${bytes(task.done)} of ${bytes(task.total)}` : bytes(task.done)}</dd></>}
          {!over(task) && <><dt>Rate</dt><dd>{task.rate > 0 ? rate(task.rate) : unknown}</dd></>}
          {meanRate(task) !== undefined && <><dt>Mean rate</dt><dd>{rate(meanRate(task)!)}, {bytes(task.done)} in all</dd></>}
          <dt>Elapsed</dt><dd>{duration(task.elapsed_s)}</dd>
          {task.backend !== undefined && <><dt>Engine</dt><dd>{backendText(task.backend)}{task.device_bytes !== undefined && `, ${deviceShare(task.device_bytes, task.batch_bytes)}`}</dd></>}
          <dt>Started</dt><dd title={fullTime(task.started_us)}>{clock(task.started_us, now.value)} by {safeName(task.by)}</dd>
          <dt>Run</dt><dd><Link to={runPage(task.run)} keep={false}><Name text={task.run} /></Link></dd>
        </dl>
        {task.backend_notices && <div class="card-body">{task.backend_notices.map((notice, i) => <ProblemText key={i} problem={notice} />)}</div>}
      </Card>
      {result && task.kind === 'verify' && <Verified report={result as VerifyReport} run={task.run} />}
      {result && task.kind === 'materialize' && <Materialized report={result as MaterializeReport} />}
      {result && task.kind === 'diff' && <Compared diff={result as Diff} run={task.run} />}
      {result && (task.kind === 'rollback' || task.kind === 'undo') && <RolledBack report={result as RollBackReport} task={task} />}
      {result && task.kind === 'branch' && <Branched report={result as BranchReport} run={task.run} />}
      {result && task.kind === 'publish' && <Published report={result as PublishReport} run={task.run} />}
      {result && task.kind === 'discard' && <DiscardedLeftovers report={result as DiscardReport} />}
      {result && 'text' in result && <Card title="Result"><p class="card-body">{safeName((result as AnnotatedReport).text)}</p></Card>}
      <CliLine command={task.cli} />
    </div>
  );
}

const deviceShare = (done: number, all: number | undefined) => `${bytes(done)}${all === undefined ? '' : ` of ${bytes(all)} in batches`} on the device`;

function RolledBack({ report, task }: { report: RollBackReport; task: Task }) {
  return (
    <Card
      title="Result" note={report.was_there ? 'nothing was written' : ''}
      tools={task.undo !== null && !report.was_there && canDo('undo') && <button type="button" class="small" onClick={() => openUndo(task.run)}>Undo…</button>}
    >
      <dl class="facts card-body">
        <dt>Step</dt><dd><Link to={runPage(task.run, 'steps', String(report.step))} keep={false}>{report.step}</Link> restores <Link to={runPage(task.run, 'steps', String(report.to))} keep={false}>{report.to}</Link></dd>
        <dt>Newest before</dt><dd>{report.from}</dd>
        <dt>Elements changed</dt><dd>{exact(report.changed_elems)}</dd>
        {report.keys.map((key) => <><dt>Written</dt><dd class="mono">{safeName(key)}</dd></>)}
      </dl>
    </Card>
  );
}

function Branched({ report, run }: { report: BranchReport; run: string }) {
  return (
    <Card title="Result" note={report.was_there ? 'nothing was written' : ''}>
      <dl class="facts card-body">
        <dt>New run</dt><dd class="mono">{safeName(report.into)}</dd>
        <dt>Begins with</dt><dd>the state of step <Link to={runPage(run, 'steps', String(report.from))} keep={false}>{report.from}</Link></dd>
        {report.keys.map((key) => <><dt>Written</dt><dd class="mono">{safeName(key)}</dd></>)}
      </dl>
    </Card>
  );
}

function Published({ report, run }: { report: PublishReport; run: string }) {
  return (
    <Card title="Result" note={report.steps_in_all === 0 ? 'nothing changed, so nothing was written' : ''}>
      <dl class="facts card-body">
        {report.steps.map((step) => (
          <><dt>Published</dt><dd>step <Link to={runPage(run, 'steps', String(step.step))} keep={false}>{step.step}</Link>, {step.kind}{'wire_bytes' in step && `, ${bytes(step.wire_bytes)}`}</dd></>
        ))}
        {report.notices.map((notice) => <><dt>Notice</dt><dd>{safeName(notice)}</dd></>)}
      </dl>
    </Card>
  );
}

function DiscardedLeftovers({ report }: { report: DiscardReport }) {
  return (
    <Card title="Result" note={report.leftovers.length === 0 ? 'there was nothing to discard' : ''}>
      <dl class="facts card-body">
        {report.leftovers.map(({ path, bytes: size, planned, problem }) => (
          <><dt>{problem === null ? 'Removed' : 'Stays'}</dt><dd><span class="mono">{safeName(path)}</span>{planned && `, ${bytes(size)}`}{problem !== null && <ProblemText problem={problem} />}</dd></>
        ))}
      </dl>
    </Card>
  );
}

function Verified({ report, run }: { report: VerifyReport; run: string }) {
  return (
    <Card title="Result" note={<VerifyShield verified={report} word />} tools={<span>{duration(report.seconds)}</span>}>
      {report.problems.length > 0 && <div class="card-body">{report.problems.map((problem, i) => <ProblemText key={i} problem={problem} />)}</div>}
      <Rewritten keys={report.rewritten} what="accepted" />
      {report.on_base_alone && <p class="card-body">{report.on_base_alone}</p>}
      {report.store_digests && <p class="card-body">{report.store_digests.text}</p>}
      <Table
        label="Verified steps" rows={report.steps} id={(row) => `${row.epoch}:${row.step}`} {...(report.steps.length > 20 ? { height: 420 } : {})}
        columns={[
          { id: 'step', head: 'step', number: true, cell: (r) => <Link to={runPage(run, 'steps', `${r.epoch}:${r.step}`)} keep={false}>{r.step}</Link>, key: (r) => r.step },
          { id: 'result', head: 'result', cell: (r) => <VerifyShield verified={{ ...r, level: report.level }} word />, key: (r) => r.result },
          { id: 'evidence', head: 'what vouches for it', cell: (r) => (r.coverage === null ? unknown : r.coverage.text) },
          { id: 'differs', head: 'differs from anchor', number: true, cell: (r) => count(r.anchor_differs_elems), key: (r) => r.anchor_differs_elems },
          { id: 'root', head: 'root', cell: (r) => <span class="mono">{r.root === null ? unknown : <Name text={r.root} limit={20} />}</span>, narrow: true },
          { id: 'problem', head: 'problem', cell: (r) => <WorstCode problems={r.problems} />, narrow: true },
        ]}
      />
    </Card>
  );
}

function Materialized({ report }: { report: MaterializeReport }) {
  return (
    <Card title="Result" note={report.notices.some((notice) => notice.code === 'DS-UNPROVEN') ? 'across a missing number: unproven' : ''}>
      <Reads of={report} />
      <dl class="facts card-body">
        {report.chosen && <><dt>Step</dt><dd>{report.chosen}</dd></>}
        <dt>Folder, on the daemon's machine</dt><dd class="mono">{safeName(report.path)}</dd>
        <dt>Written</dt><dd>{bytes(report.bytes)}, {exact(report.tensors)} tensors</dd>
        {report.resumed_bytes > 0 && <><dt>Was there already</dt><dd>{bytes(report.resumed_bytes)}</dd></>}
        <dt>What vouches for it</dt><dd>{report.coverage.text}</dd>
        {report.trainer_files.length > 0 && <><dt>For training</dt><dd>{report.trainer_files.map((name) => safeName(name)).join(', ')}</dd></>}
        {report.missing.length > 0 && <><dt>Not in the source</dt><dd>{report.missing.join(', ')}: training begins with new ones</dd></>}
        {report.left_out.length > 0 && <><dt>Not copied, the trainer's own</dt><dd>{report.left_out.map((name) => safeName(name)).join(', ')}</dd></>}
        {(report.state !== null || report.lossy) && <><dt>State</dt><dd>{[report.state, report.lossy && 'rounded'].filter(Boolean).join(', ')}</dd></>}
        {report.states_differ_elems > 0 && <><dt>Served and trained state differ in</dt><dd>{exact(report.states_differ_elems)} elements</dd></>}
        <dt>Root</dt><dd class="mono">{report.root === null ? unknown : safeName(report.root)}</dd>
        <dt>Took</dt><dd>{took(report.bytes - report.resumed_bytes, report.seconds)}</dd>
      </dl>
    </Card>
  );
}

const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

function Compared({ diff, run }: { diff: Diff; run: string }) {
  const work = `${bytes(diff.bytes_compared)} compared in ${took(diff.bytes_compared, diff.seconds)}`;
  return (
    <Card title="Result" tools={<Link to={runPage(run, 'diff')}>Open diff</Link>}>
      <Reads of={diff} />
      <p class="card-body">
        {diff.equal
          ? `Both steps are bit-identical (${work}).`
          : diff.nothing_compared !== null ? `${capital(diff.nothing_compared)}.`
          : `${exact(diff.elements_different)} of ${count(diff.elements_total)} elements differ, in ${exact(diff.tensors_different)} of ${exact(diff.tensors_total)} tensors (${work}).`}
      </p>
      {diff.form_differences.map(({ text }) => <p key={text} class="card-body warn-text">⚠ {safeName(text)}</p>)}
      {diff.adapters !== null && <p class="card-body warn-text">⚠ {safeName(diff.adapters)}</p>}
      <Settings diff={diff} />
    </Card>
  );
}

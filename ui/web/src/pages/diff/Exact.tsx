import { useEffect, useState } from 'preact/hooks';
import { ApiError, get } from '../../api/client';
import type { Diff, Task } from '../../api/types';
import { pageParameter, setPageParameters } from '../../canvas/address';
import { CliLine } from '../../components/CliLine';
import { ProblemText, RequestError, Skeleton } from '../../components/states';
import { Trouble } from '../../components/Trouble';
import { bytes, duration, rate, safeName } from '../../format';
import { useBegin } from '../../state/begin';
import { usePlan } from '../../state/plan';
import { mayAct, tasks } from '../../state/store';
import { AcceptRewritten } from '../tasks/AcceptRewritten';
import { DiffResult } from './DiffResult';
import type { Pair } from './pair';

/** The exact comparison: its plan, then its task, then what it found. */
export function Exact(pair: Pair) {
  const id = pageParameter('task');
  return id === null ? <Offer {...pair} /> : <Running pair={pair} id={id} />;
}

const failed = (error: unknown): ApiError => {
  if (error instanceof ApiError) return error;
  throw error;
};

/** What the comparison would read, and the button that starts it. */
function Offer({ runId, epoch, a, b }: Pair) {
  const { plan, error, again, started } = usePlan(runId, { kind: 'diff', args: { a: `${epoch}:${a}`, b: `${epoch}:${b}` } });
  const { taskId, refusal, busy, begin, forget } = useBegin(started);
  const planAgain = () => {
    forget();
    again();
  };
  useEffect(() => {
    if (taskId !== null) setPageParameters({ task: taskId });
  }, [taskId]);
  if (error) return <RequestError error={error} retry={planAgain} />;
  if (refusal) return <RequestError error={refusal} retry={planAgain} />;
  if (plan?.problem) return <Trouble of={plan.problem} again={planAgain} />;
  if (plan?.state !== 'ready') return <Skeleton rows={4} />;
  return (
    <div class="offer">
      <p>
        Both steps are rebuilt and compared bit by bit. This reads <strong>{bytes(plan.read_bytes)}</strong> and writes nothing.
      </p>
      {plan.warnings.map((text) => <p key={text}>⚑ {safeName(text)}</p>)}
      <p>
        <button type="button" class="primary" disabled={busy || !mayAct.value} onClick={() => void begin(plan)}>Compare {a} and {b}</button>
        {!mayAct.value && <span class="muted"> The daemon takes no acts from here; the command does the same in a terminal.</span>}
      </p>
      <CliLine command={plan.cli} />
    </div>
  );
}

/** The task, from the stream where it is known there, else asked for once. */
function Running({ pair, id }: { pair: Pair; id: string }) {
  const [loaded, setLoaded] = useState<Task | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  const live = tasks.value?.find((task) => task.id === id);
  const state = live?.state;
  useEffect(() => {
    const abort = new AbortController();
    get<Task>(`tasks/${encodeURIComponent(id)}`, abort.signal).then(setLoaded, (reason) => abort.signal.aborted || setError(failed(reason)));
    return () => abort.abort();
  }, [id, state]);
  const again = (): void => setPageParameters({ task: null });
  if (error) return <RequestError error={error} retry={again} />;
  const task = live?.result || loaded === null ? (live ?? loaded) : { ...loaded, ...live, result: loaded.result };
  if (!task) return <Skeleton rows={4} />;
  if (task.state === 'done' && task.result) return <DiffResult pair={pair} diff={task.result as Diff} again={again} />;
  if (task.problem) {
    return (
      <div class="offer">
        <ProblemText problem={task.problem} />
        <AcceptRewritten key={task.id} task={task} started={(next) => setPageParameters({ task: next })} />
        <p><button type="button" onClick={again}>Back to the plan</button></p>
      </div>
    );
  }
  return (
    <div class="offer" role="status">
      <p>{task.state === 'running' ? task.phase : task.state}, {duration(task.elapsed_s)}</p>
      <progress aria-label="Compared" max={task.total > 0 ? task.total : undefined} value={task.total > 0 ? task.done : undefined} />
      <p class="muted">
        {bytes(task.done)}{task.total > 0 && ` of ${bytes(task.total)}`}, {rate(task.rate)}
        {task.eta_s !== null && `, ${duration(task.eta_s)} left`}. You can close this tab; the task goes on.
      </p>
      {(task.state === 'canceled' || task.state === 'failed') && <p><button type="button" onClick={again}>Back to the plan</button></p>}
    </div>
  );
}

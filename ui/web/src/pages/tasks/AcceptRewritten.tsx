import { useEffect, useState } from 'preact/hooks';
import { ApiError, get } from '../../api/client';
import type { PlanRequest, Task } from '../../api/types';
import { PlanFacts } from '../../components/PlanFacts';
import { RequestError, Skeleton } from '../../components/states';
import { Trouble } from '../../components/Trouble';
import { safeName } from '../../format';
import { useBegin } from '../../state/begin';
import { usePlan } from '../../state/plan';
import { mayAct } from '../../state/store';

/** The same act with rewritten objects: offered where they were in the way, in two steps. */
export function AcceptRewritten({ task, started }: { task: Task; started: (id: string) => void }) {
  const [wanted, setWanted] = useState<PlanRequest | null>(null);
  const [unknown, setUnknown] = useState<ApiError | null>(null);
  const { plan, error, again, started: kept } = usePlan(task.run, wanted);
  const { taskId, refusal, busy, begin, forget } = useBegin(kept);
  const planAgain = () => {
    forget();
    again();
  };
  useEffect(() => {
    if (taskId !== null) started(taskId);
  }, [taskId]);
  if (task.accept_rewritten === null || task.run === '' || !mayAct.value) return null;
  const look = () => {
    setUnknown(null);
    get<PlanRequest>(`tasks/${encodeURIComponent(task.id)}/request`).then(
      ({ kind, args }) => setWanted({ kind, args: { ...args, accept_rewritten: true } } as PlanRequest),
      (reason: unknown) => {
        if (!(reason instanceof ApiError)) throw reason;
        setUnknown(reason);
      },
    );
  };
  return (
    <section class="card card-body accept" aria-label="Rewritten objects">
      <p>Objects were rewritten since they were first read. If that was on purpose, this can be done with what is there now.</p>
      {unknown && <RequestError error={unknown} retry={look} />}
      {error && <RequestError error={error} retry={planAgain} />}
      {refusal && <RequestError error={refusal} retry={planAgain} />}
      {wanted === null ? (
        <p><button type="button" onClick={look}>{safeName(task.accept_rewritten)}…</button></p>
      ) : (
        <>
          {plan?.problem && <Trouble of={plan.problem} again={planAgain} />}
          {plan ? plan.state !== 'failed' && <PlanFacts plan={plan} /> : !error && <Skeleton rows={4} />}
          <p class="accept-acts">
            <button type="button" onClick={() => setWanted(null)}>Cancel</button>
            <button type="button" class="primary" disabled={plan?.state !== 'ready' || busy} onClick={() => plan && void begin(plan)}>
              {safeName(task.accept_rewritten)}
            </button>
          </p>
        </>
      )}
    </section>
  );
}

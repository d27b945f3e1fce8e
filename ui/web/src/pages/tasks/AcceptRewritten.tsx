import { useState } from 'preact/hooks';
import { ApiError, get, makePlan, runPlan } from '../../api/client';
import type { Plan, PlanRequest, Task } from '../../api/types';
import { PlanFacts } from '../../components/PlanFacts';
import { RequestError } from '../../components/states';
import { safeName } from '../../format';
import { mayAct } from '../../state/store';

/** The same act with rewritten objects: offered where they were in the way, in two steps. */
export function AcceptRewritten({ task, started }: { task: Task; started: (task: Task) => void }) {
  const [plan, setPlan] = useState<Plan | null>(null);
  const [error, setError] = useState<ApiError | null>(null);
  if (task.accept_rewritten === null || task.run === '' || !mayAct.value) return null;
  const trying = (work: () => Promise<void>) => {
    setError(null);
    work().catch((reason: unknown) => {
      if (!(reason instanceof ApiError)) throw reason;
      setError(reason);
    });
  };
  const look = () => trying(async () => {
    const { kind, args } = await get<PlanRequest>(`tasks/${encodeURIComponent(task.id)}/request`);
    setPlan(await makePlan(task.run, { kind, args: { ...args, accept_rewritten: true } } as PlanRequest));
  });
  return (
    <section class="card card-body accept" aria-label="Rewritten objects">
      <p>Objects were rewritten since they were first read. If that was on purpose, this can be done with what is there now.</p>
      {error && <RequestError error={error} retry={look} />}
      {plan === null ? (
        <p><button type="button" onClick={look}>{safeName(task.accept_rewritten)}…</button></p>
      ) : (
        <>
          <PlanFacts plan={plan} />
          <p class="accept-acts">
            <button type="button" onClick={() => setPlan(null)}>Cancel</button>
            <button type="button" class="primary" onClick={() => trying(async () => started(await runPlan(plan)))}>
              {safeName(task.accept_rewritten)}
            </button>
          </p>
        </>
      )}
    </section>
  );
}

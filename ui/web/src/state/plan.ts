import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, dropPlan, makePlan, planNow } from '../api/client';
import type { Plan, PlanRequest } from '../api/types';

const firstLookMs = 200;
const lastLookMs = 2000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Makes a plan and hands it to `take` at each look, until it is made or `signal` is aborted. Throws ApiError. */
export async function followPlan(run: string, wanted: PlanRequest, take: (plan: Plan) => void, signal: AbortSignal): Promise<void> {
  let plan = await makePlan(run, wanted);
  if (signal.aborted) return forget(plan.id); // nobody waits for it any more
  take(plan);
  for (let ms = firstLookMs; plan.state === 'planning'; ms = Math.min(lastLookMs, ms * 1.5)) {
    await pause(ms);
    if (signal.aborted) return;
    plan = await planNow(plan.id, signal);
    if (signal.aborted) return;
    take(plan);
  }
}

/** It may be forgotten already; then nothing is left to do. */
export function forget(id: string): void {
  dropPlan(id).catch(() => undefined);
}

export interface UsedPlan {
  plan: Plan | null;
  error: ApiError | null;
  again: () => void; // makes another one
  started: () => void; // a task is being made of it: it is not to be forgotten
}

/** The plan of what is wanted (null: not yet); it is forgotten with its sheet, and when something else is wanted. */
export function usePlan(run: string, wanted: PlanRequest | null, delayMs = 0): UsedPlan {
  const [state, setState] = useState<{ plan: Plan | null; error: ApiError | null }>({ plan: null, error: null });
  const [count, setCount] = useState(0);
  const kept = useRef<string | null>(null);
  const text = JSON.stringify(wanted);

  useEffect(() => {
    setState({ plan: null, error: null });
    const request = JSON.parse(text) as PlanRequest | null;
    if (request === null) return;
    const abort = new AbortController();
    let id: string | null = null;
    const take = (plan: Plan) => {
      id = plan.id;
      setState({ plan, error: null });
    };
    const timer = setTimeout(() => {
      followPlan(run, request, take, abort.signal).catch((error: unknown) => {
        if (!abort.signal.aborted && error instanceof ApiError) setState(({ plan }) => ({ plan, error }));
      });
    }, delayMs);
    return () => {
      clearTimeout(timer);
      abort.abort();
      if (id !== null && id !== kept.current) forget(id);
    };
  }, [run, text, count]);

  return {
    ...state,
    again: () => setCount((old) => old + 1),
    started: () => (kept.current = state.plan?.id ?? null),
  };
}

import { useState } from 'preact/hooks';
import { ApiError, runPlan } from '../api/client';
import type { Plan, Task } from '../api/types';
import { takeStarted, useTask } from './task';

export interface Begun {
  task: Task | null; // null: not begun, or not heard of yet
  taskId: string | null; // null: not begun
  refusal: ApiError | null; // why the server did not begin it
  busy: boolean; // the server was asked to
  begin: (plan: Plan) => Promise<void>;
  forget: () => void; // for another plan
}

/** Carries a plan out for a sheet. `started`: as usePlan() gives it. */
export function useBegin(started: () => void): Begun {
  const [taskId, setTaskId] = useState<string | null>(null);
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const begin = async (plan: Plan) => {
    setBusy(true);
    setRefusal(null);
    started();
    try {
      const begun = await runPlan(plan);
      takeStarted(begun);
      setTaskId(begun.id);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setRefusal(problem);
    }
    setBusy(false);
  };
  const forget = () => {
    setTaskId(null);
    setRefusal(null);
  };
  return { task: useTask(taskId), taskId, refusal, busy, begin, forget };
}

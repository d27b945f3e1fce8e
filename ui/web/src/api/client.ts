import { signal } from '@preact/signals';
import type { Plan, PlanRequest, ProblemDetails, Task } from './types';

/** An answer that is no success: what, why and what to do, as the daemon says. */
export class ApiError extends Error {
  constructor(readonly problem: ProblemDetails) {
    super(problem.detail || problem.title);
  }
}

export type Session = 'unknown' | 'signed-in' | 'signed-out';
export const session = signal<Session>('unknown');

export function apiUrl(path: string): string {
  return new URL(`api/v1/${path}`, document.baseURI).href;
}

/** The address of one run's resource: runPath('wordle', 'steps', '0:12'). */
export function runPath(run: string, ...parts: string[]): string {
  return ['runs', run, ...parts].map(encodeURIComponent).join('/').replaceAll('%3A', ':');
}

function noContact(): ApiError {
  return new ApiError({
    type: 'about:blank', title: 'No contact to the daemon', status: 0, detail: 'The daemon does not answer.',
    code: 'DS-NO-CONTACT', hint: 'Is "deltascope serve" still running? The page goes on by itself once it answers.',
  });
}

async function problemOf(answer: Response): Promise<ApiError> {
  const fallback = {
    type: 'about:blank', title: `HTTP ${answer.status}`, status: answer.status,
    detail: answer.statusText, code: `HTTP-${answer.status}`, hint: '',
  };
  const body = (await answer.json().catch(() => ({}))) as Partial<ProblemDetails>;
  return new ApiError({ ...fallback, ...body });
}

/** Where answers come from: the daemon; a bundle brings its own. */
export const transport = {
  ask: (path: string, init: RequestInit): Promise<Response> => fetch(apiUrl(path), { credentials: 'same-origin', ...init }),
};

/** One request; throws ApiError. Caching by ETag is the browser's business. */
export async function request(path: string, init: RequestInit = {}): Promise<Response> {
  let answer: Response;
  try {
    answer = await transport.ask(path, init);
  } catch (error) {
    if (init.signal?.aborted) throw error;
    throw noContact();
  }
  if (answer.status === 401) session.value = 'signed-out';
  if (!answer.ok) throw await problemOf(answer);
  return answer;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const answer = await request(path, signal ? { signal } : {});
  return (await answer.json()) as T;
}

export async function post<T>(path: string, body: unknown = {}): Promise<T> {
  const answer = await request(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify(body),
  });
  return (answer.status === 204 ? null : await answer.json()) as T;
}

/** A plan says what an act would do; nothing happens before runPlan. */
export const makePlan = (run: string, wanted: PlanRequest) => post<Plan>(runPath(run, 'plans'), wanted);
export const planNow = (id: string, signal: AbortSignal) => get<Plan>(`plans/${encodeURIComponent(id)}`, signal);
/** Forgets a plan, and what is being read for it. */
export const dropPlan = (id: string) => post(`plans/${encodeURIComponent(id)}/drop`);
export const runPlan = (plan: Plan) => post<Task>(`plans/${encodeURIComponent(plan.id)}/run`, { hash: plan.hash });

/** Signs in with the code that the daemon printed, or with a token. */
export async function signIn(code: string): Promise<void> {
  await post('session', { code });
  session.value = 'signed-in';
}

export async function signOut(): Promise<void> {
  await request('session', { method: 'DELETE' });
  session.value = 'signed-out';
}

/** Takes the one-time code out of the address (#k=…), so that it is in no history and no bookmark. */
export function takeCode(): string | null {
  const code = /^#k=([\w.~-]+)$/.exec(window.location.hash)?.[1] ?? null;
  if (code !== null) history.replaceState(null, '', window.location.pathname + window.location.search);
  return code;
}

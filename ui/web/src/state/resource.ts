import { useEffect, useRef, useState } from 'preact/hooks';
import { ApiError, get, session } from '../api/client';
import type { StreamEvent } from '../api/events';
import type { Gap, Topic } from '../api/types';
import { generation, listen } from './store';

/** Data of a page. What was loaded last stays while it is loaded again, and when nobody answers; a refusal replaces it. */
export interface Resource<T> {
  data: T | null;
  error: ApiError | null;
  loading: boolean;
  retry: () => void;
}

const refreshMs = 1000; // at most so often because of events

/** Does the event concern this run? Events without a run concern all. */
export function concerns(event: StreamEvent, run: string | undefined): boolean {
  if (run === undefined) return true;
  const data = event.data as { run?: string; id?: string };
  return event.topic === 'run' ? data.id === run : data.run === undefined || data.run === run;
}

/** Is it an event of one of the steps from A to B? A null: of one up to B, as any of them may be what B is compared with. */
export function between(event: StreamEvent, run: string, epoch: number | null, a: number | null, b: number | null): boolean {
  if (event.topic !== 'step' || event.data.run !== run || event.data.step.epoch !== epoch || b === null) return false;
  const { step } = event.data;
  const last = step.kind === 'gap' ? (step as Gap).last_step : step.step;
  return step.step <= Math.max(a ?? b, b) && last >= Math.min(a ?? 0, b);
}

/** Whether such an event has come since `key` is shown. */
export function useHeard(about: (event: StreamEvent) => boolean, key: string): boolean {
  const [heard, setHeard] = useState<string | null>(null);
  useEffect(() => listen((event) => about(event) && setHeard(key)), [key]);
  return heard === key;
}

type State<T> = Omit<Resource<T>, 'retry'>;

/** A refusal ends what was answered before; where nobody answers, or nobody who knows us, that stays. */
export function failed<T>(old: State<T>, error: ApiError): State<T> {
  const { status } = error.problem;
  const refused = status >= 400 && status < 500 && ![401, 408, 429].includes(status);
  return { data: refused ? null : old.data, error, loading: false };
}

/**
 * Loads a path below api/v1 (null: nothing yet) and again after events of `topics` that `about` takes: those of a run,
 * or what it says of an event. A request that was overtaken is canceled.
 */
export function useResource<T>(
  path: string | null, topics: readonly Topic[] = [], about?: string | ((event: StreamEvent) => boolean),
  read: (path: string, signal: AbortSignal) => Promise<T> = get<T>,
): Resource<T> {
  const [state, setState] = useState<State<T>>({ data: null, error: null, loading: path !== null });
  const [again, setAgain] = useState(0);
  const signedIn = session.value === 'signed-in';

  useEffect(() => {
    if (path === null || !signedIn) return;
    const abort = new AbortController();
    setState((old) => ({ ...old, loading: true }));
    read(path, abort.signal).then(
      (data) => setState({ data, error: null, loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted) return;
        if (!(error instanceof ApiError)) throw error;
        setState((old) => failed(old, error));
      },
    );
    return () => abort.abort();
  }, [path, again, generation.value, signedIn]);

  const wanted = topics.join();
  const concerned = useRef(about);
  concerned.current = about;
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((event) => {
      const meant = concerned.current;
      const mine = typeof meant === 'function' ? meant(event) : concerns(event, meant);
      if (!wanted.split(',').includes(event.topic) || !mine || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        setAgain((count) => count + 1);
      }, refreshMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [wanted, typeof about === 'string' ? about : '']);

  return { ...state, retry: () => setAgain((count) => count + 1) };
}

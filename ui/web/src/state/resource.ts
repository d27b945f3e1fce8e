import { useEffect, useState } from 'preact/hooks';
import { ApiError, get, session } from '../api/client';
import type { StreamEvent } from '../api/events';
import type { Topic } from '../api/types';
import { generation, listen } from './store';

/** Data of a page. What was loaded last stays while it is loaded again, and when that fails. */
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

/**
 * Loads a path below api/v1 (null: nothing yet) and again after events of `topics` of the run. A request that was
 * overtaken is canceled.
 */
export function useResource<T>(path: string | null, topics: readonly Topic[] = [], run?: string): Resource<T> {
  const [state, setState] = useState<{ path: string | null; data: T | null; error: ApiError | null; loading: boolean }>(
    { path, data: null, error: null, loading: path !== null },
  );
  const [again, setAgain] = useState(0);
  const signedIn = session.value === 'signed-in';

  useEffect(() => {
    if (path === null || !signedIn) return;
    const abort = new AbortController();
    setState((old) => ({ ...old, path, loading: true }));
    get<T>(path, abort.signal).then(
      (data) => setState({ path, data, error: null, loading: false }),
      (error: unknown) => {
        if (abort.signal.aborted || !(error instanceof ApiError)) return;
        setState((old) => ({ ...old, error, loading: false }));
      },
    );
    return () => abort.abort();
  }, [path, again, generation.value, signedIn]);

  const wanted = topics.join();
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const stop = listen((event) => {
      if (!wanted.split(',').includes(event.topic) || !concerns(event, run) || timer !== undefined) return;
      timer = setTimeout(() => {
        timer = undefined;
        setAgain((count) => count + 1);
      }, refreshMs);
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [wanted, run]);

  return { data: state.data, error: state.error, loading: state.loading, retry: () => setAgain((count) => count + 1) };
}

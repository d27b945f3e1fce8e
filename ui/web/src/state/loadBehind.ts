import { get } from '../api/client';
import type { StreamEvent } from '../api/events';

type Listen = (listener: (event: StreamEvent) => void) => () => void;

/**
 * The answer to a request, with the events that came while it was under way: it may be older than they are. `after`: the
 * value behind an event. Throws ApiError.
 */
export async function loadBehind<T>(path: string, abort: AbortSignal, listen: Listen, after: (value: T, event: StreamEvent) => T): Promise<T> {
  const meanwhile: StreamEvent[] = [];
  const stop = listen((event) => meanwhile.push(event));
  try {
    return meanwhile.reduce(after, await get<T>(path, abort));
  } finally {
    stop();
  }
}

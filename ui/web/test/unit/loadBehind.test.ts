import { afterEach, expect, it } from 'vitest';
import { transport } from '../../src/api/client';
import type { StreamEvent } from '../../src/api/events';
import type { Task } from '../../src/api/types';
import { applyToDetail, tasksAfter } from '../../src/state/apply';
import { loadBehind } from '../../src/state/loadBehind';
import { runDetail, task } from './fixtures';

const ask = transport.ask;
afterEach(() => void (transport.ask = ask));

/** Loads `answer`; `events` come while it is under way. */
function load<T>(answer: T, events: StreamEvent[], after: (value: T, event: StreamEvent) => T) {
  const listeners = new Set<(event: StreamEvent) => void>();
  transport.ask = async () => {
    for (const event of events) for (const listener of listeners) listener(event);
    return new Response(JSON.stringify(answer));
  };
  const listen = (listener: (event: StreamEvent) => void) => {
    listeners.add(listener);
    return () => listeners.delete(listener);
  };
  return { loaded: loadBehind('x', new AbortController().signal, listen, after), listeners };
}

it('an answer that is older than an event does not take its place', async () => {
  const events: StreamEvent[] = [{ topic: 'task', data: task({ state: 'running' }) }, { topic: 'task', data: task({ state: 'done' }) }];
  const { loaded, listeners } = load<Task[]>([task({ state: 'running' })], events, tasksAfter);
  expect((await loaded).map(({ state }) => state)).toEqual(['done']);
  expect(listeners.size).toBe(0);
});
it('what an answer holds already is not shown twice', async () => {
  const item = { t_us: 7, kind: 'note' as const, step: null, text: 'x' };
  const feed: StreamEvent = { topic: 'feed', data: { run: 'wordle', item } };
  expect((await load(runDetail({ feed: [item] }), [feed], applyToDetail).loaded).feed).toEqual([item]);
  expect((await load(runDetail({ feed: [] }), [feed], applyToDetail).loaded).feed).toEqual([item]);
});
it('a failure is thrown, and nobody listens any more', async () => {
  const { loaded, listeners } = load<Task[]>([], [], tasksAfter);
  transport.ask = ask;
  await loaded;
  transport.ask = () => Promise.resolve(new Response('{}', { status: 500 }));
  await expect(loadBehind('x', new AbortController().signal, (listener) => (listeners.add(listener), () => listeners.delete(listener)), (value) => value)).rejects.toThrow();
  expect(listeners.size).toBe(0);
});

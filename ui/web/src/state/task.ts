import type { Task } from '../api/types';
import { useResource } from './resource';
import { receive, tasks } from './store';

export const isOver = (task: Task) => task.state === 'done' || task.state === 'failed' || task.state === 'canceled';

/** A task as it is now; its result comes with a request of its own. */
export function useTask(id: string | null): Task | null {
  const live = tasks.value?.find((task) => task.id === id) ?? null;
  const { data } = useResource<Task>(id === null ? null : `tasks/${encodeURIComponent(id)}?state=${live?.state ?? ''}`);
  const loaded = id !== null && data?.id === id ? data : null; // a resource keeps what it had
  if (live === null) return loaded;
  return { ...live, result: live.result ?? (loaded?.state === live.state ? loaded.result : null) };
}

/** Adds a task that was just started, unless an event has brought a newer state of it before the answer came. */
export function takeStarted(task: Task): void {
  if (!tasks.value?.some(({ id }) => id === task.id)) receive({ topic: 'task', data: task });
}

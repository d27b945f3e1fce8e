import { effect, untracked } from '@preact/signals';
import { openUndo } from '../actions';
import type { Task } from '../api/types';
import { toast } from '../components/Toast';
import { safeName } from '../format';
import { isOver } from '../state/task';
import { tasks } from '../state/store';

/** Says how a task ended, once it has, and offers to undo it. */
export function announceEnd(id: string): void {
  let said = false;
  const stop = effect(() => {
    const task = tasks.value?.find((known) => known.id === id);
    if (said || !task || !isOver(task)) return;
    said = true;
    untracked(() => say(task));
    queueMicrotask(() => stop()); // an effect cannot end itself while it runs for the first time
  });
}

function say(task: Task): void {
  if (task.state !== 'done') toast(`✕ ${safeName(task.title)}: ${safeName(task.problem?.text ?? task.state)}`);
  else toast(`✓ ${safeName(task.title)}`, task.undo === null ? undefined : { text: 'Undo', act: () => openUndo(task.run) });
}

import { effect } from '@preact/signals';
import { openUndo } from '../actions';
import type { Task } from '../api/types';
import { toast } from '../components/Toast';
import { safeName } from '../format';
import { isOver } from '../state/task';
import { tasks } from '../state/store';

const find = (id: string): Task | undefined => tasks.value?.find((task) => task.id === id);

/** Says how a task ended, once it has, and offers to undo it. */
export function announceEnd(id: string): void {
  const stop = effect(() => {
    const task = find(id);
    if (!task || !isOver(task)) return;
    if (task.state !== 'done') toast(`✕ ${safeName(task.title)}: ${safeName(task.problem?.text ?? task.state)}`);
    else toast(`✓ ${safeName(task.title)}`, task.undo === null ? undefined : { text: 'Undo', act: () => openUndo(task.run) });
    queueMicrotask(() => stop()); // an effect cannot end itself at its first run
  });
}

import { canDo, openDiscard } from '../../actions';
import { ApiError, post } from '../../api/client';
import type { Task, TaskState } from '../../api/types';
import { Icon, type IconName } from '../../components/Icon';
import { Link } from '../../components/Link';
import { toast } from '../../components/Toast';
import { safeName, shorten } from '../../format';
import { receive } from '../../state/store';
import { mayAct } from '../../state/store';
import { over, progressTexts } from './progress';

const marks: Record<TaskState, [mark: string, word: string]> = {
  queued: ['○', 'queued'],
  running: ['▶', 'running'],
  paused: ['‖', 'paused'],
  canceling: ['◌', 'canceling'],
  canceled: ['–', 'canceled'],
  failed: ['✕', 'failed'],
  done: ['✓', 'done'],
};

export function TaskStateText({ task }: { task: Task }) {
  const [mark, word] = marks[task.state];
  const look = task.state === 'failed' ? 'error-text' : task.state === 'done' ? 'ok-text' : '';
  return <span class={`state ${look}`}><span aria-hidden="true">{mark}</span> {word}</span>;
}

type Act = 'pause' | 'resume' | 'cancel';

async function act(task: Task, name: Act): Promise<void> {
  try {
    receive({ topic: 'task', data: await post<Task>(`tasks/${encodeURIComponent(task.id)}/${name}`) });
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    toast(`✕ ${error.problem.detail}`);
  }
}

/** The acts that fit the state of the task. */
export function TaskActs({ task }: { task: Task }) {
  if (!mayAct.value) return null;
  const button = (name: Act, text: string) => (
    <button type="button" aria-label={`${text} ${task.title}`} onClick={() => void act(task, name)}>{text}</button>
  );
  const stopped = task.interrupted || (task.state === 'canceled' && task.resumable);
  const left = stopped && task.kind === 'materialize' ? task.destination : null;
  return (
    <span class="task-acts">
      {task.state === 'running' && button('pause', 'Pause')}
      {task.state === 'paused' && button('resume', 'Resume')}
      {(task.state === 'failed' || task.state === 'canceled') && task.resumable && button('resume', 'Resume')}
      {left !== null && canDo('discard') && (
        <button type="button" aria-label={`Delete what is left of ${task.title}`} onClick={() => openDiscard(task.run, left)}>Delete partial…</button>
      )}
      {!over(task) && task.state !== 'canceling' && button('cancel', 'Cancel')}
    </span>
  );
}

export function TaskProgress({ task }: { task: Task }) {
  if (over(task)) return null;
  return task.total > 0
    ? <progress max={task.total} value={Math.min(task.done, task.total)} aria-label={`Progress of ${task.title}`} />
    : <progress aria-label={`Progress of ${task.title}`} />;
}

const icons: Record<string, IconName> = { verify: 'shield', diff: 'diff', materialize: 'download', rollback: 'undo', undo: 'undo', branch: 'branch' };

export function TaskRow({ task }: { task: Task }) {
  return (
    <li class="card task-row">
      <Icon name={icons[task.kind] ?? 'book'} />
      <Link to={`tasks/${encodeURIComponent(task.id)}`} class="task-title">{shorten(safeName(task.title))}</Link>
      <TaskStateText task={task} />
      <span class="muted">{safeName(over(task) ? '' : task.phase)}</span>
      <TaskProgress task={task} />
      <span class="task-numbers">{task.problem ? <span class="error-text">{task.problem.code}</span> : progressTexts(task).join('  ·  ')}</span>
      <TaskActs task={task} />
    </li>
  );
}

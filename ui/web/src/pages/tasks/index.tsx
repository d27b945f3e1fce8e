import { EmptyState, Skeleton } from '../../components/states';
import { failure, tasks } from '../../state/store';
import { OneTask } from './OneTask';
import { TaskRow } from './TaskRow';
import './tasks.css';

/** What the daemon works on, or one task of it. */
export default function Tasks({ taskId }: { taskId?: string }) {
  if (taskId !== undefined) return <OneTask id={taskId} />;
  const list = tasks.value;
  if (!list) return failure.value ? null : <Skeleton rows={6} />;
  return (
    <>
      <h1>Tasks</h1>
      <p class="muted lead">Tasks run in the daemon. You can close this tab, they run on.</p>
      {list.length === 0 ? (
        <EmptyState title="No task has run">
          <p>Verify or materialize a step from its page; the plan is shown before anything happens.</p>
        </EmptyState>
      ) : (
        <ul class="task-list">{list.map((task) => <TaskRow key={task.id} task={task} />)}</ul>
      )}
    </>
  );
}

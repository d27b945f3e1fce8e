import { useEffect, useRef, useState } from 'preact/hooks';
import { openUndo, sheet } from '../../actions';
import type { Plan, RollBackReport, Task } from '../../api/types';
import { CliLine } from '../../components/CliLine';
import { Dialog } from '../../components/Dialog';
import { Icon } from '../../components/Icon';
import { Name } from '../../components/Name';
import { Trouble, troubleOf } from '../../components/Trouble';
import { safeName } from '../../format';
import { useBegin } from '../../state/begin';
import { usePlan } from '../../state/plan';
import { capabilities, detail, mayAct } from '../../state/store';
import { isOver } from '../../state/task';
import { whyReadOnly } from '../TopBar';
import { announceEnd } from '../undoOffer';
import { amount, confirms, partsOf, type Part } from './model';
import { Outcome } from './Outcome';
import { Changes, Doubts, Facts, Touches } from './PlanParts';
import './rollback.css';

interface Props {
  kind: 'rollback' | 'undo';
  run: string;
  step: string | null; // "EPOCH:STEP"; null: of an undo
}

/** Shows what a roll back would do, does it, and says who has loaded what came of it. */
export function RollBackSheet({ kind, run, step }: Props) {
  const { plan, error, again, started } = usePlan(run, step === null ? { kind, args: {} } : { kind, args: { step } });
  const [typed, setTyped] = useState('');
  const { task, taskId, refusal, busy, begin, forget } = useBegin(started);
  const report = task?.state === 'done' ? (task.result as RollBackReport | null) : null;
  const failed = error !== null || plan?.state === 'failed' || refusal !== null;
  const undoing = kind === 'undo';
  const number = step === null ? null : step.slice(step.indexOf(':') + 1);
  const name = detail.value?.id === run ? detail.value.name : run;

  const leave = () => {
    sheet.value = null;
    if (taskId !== null) announceEnd(taskId);
  };
  const planAgain = () => {
    forget();
    again();
  };
  const ready = plan?.state === 'ready' && taskId === null;
  const word = undoing ? 'Undo now' : 'Roll back now';
  const over = task !== null && isOver(task);

  return (
    <Dialog
      class="wizard" title={plan ? safeName(plan.title) : undoing ? 'Undo the newest roll back' : `Roll back to step ${number}`} onClose={leave}
      note={undoing ? 'The state from before is published again as a new step.' : `The state of step ${number} is published again as a new step. Newer steps stay where they are.`}
      footer={
        taskId === null ? (
          <>
            {ready ? <Confirm plan={plan} typed={typed} setTyped={setTyped} /> : <span class="muted">{failed ? 'Nothing was written.' : undoing ? 'An undo can be undone, too.' : 'It can be undone.'}</span>}
            <button type="button" onClick={leave}>Cancel</button>
            <button
              type="button" class="primary" disabled={!ready || busy || !mayAct.value || !confirms(typed, plan.confirm)}
              onClick={() => plan && void begin(plan)}
            >
              <Icon name="undo" /> {word}
            </button>
          </>
        ) : (
          <>
            <span class="muted">{over ? 'It is in the journal of the run.' : 'You can close this, the task runs on.'}</span>
            {task?.state === 'done' && task.undo !== null && report?.was_there !== true && <button type="button" onClick={() => openUndo(run)}><Icon name="undo" /> Undo…</button>}
            <button type="button" class={over ? 'primary' : ''} onClick={leave}>Close</button>
          </>
        )
      }
    >
      <Rail parts={partsOf(kind, number === null ? name : `step ${number} of ${name}`, plan, failed, task)} />
      <div class="wizard-content">
        {!mayAct.value && <p role="status"><Icon name="lock" /> {whyReadOnly(capabilities.value?.read_only ?? true)}</p>}
        {error && <Trouble of={troubleOf(error)} again={planAgain} />}
        {plan?.problem && <Trouble of={plan.problem} again={planAgain} />}
        {refusal && <Trouble of={troubleOf(refusal)} again={planAgain} />}
        {!failed && plan?.state !== 'ready' && <Planning plan={plan} />}
        {ready && <Look plan={plan} />}
        {taskId !== null && <Progress task={task} again={planAgain} />}
        {report && <Outcome run={run} report={report} onLeave={leave} />}
        {plan && !report && plan.state !== 'failed' && <CliLine command={plan.cli} />}
      </div>
    </Dialog>
  );
}

const marks: Record<Part['state'], string> = { over: '✓', now: '', ahead: '', failed: '✕' };
const stateWords: Record<Part['state'], string> = { over: 'done', now: 'now', ahead: 'later', failed: 'failed' };

function Rail({ parts }: { parts: Part[] }) {
  return (
    <ol class="rail" aria-label="Where this stands">
      {parts.map(({ name, text, state }, i) => (
        <li key={name} class={state} aria-current={state === 'now' ? 'step' : undefined}>
          <span class="rail-mark" aria-hidden="true">{marks[state] || i + 1}</span>
          <span>
            <span class="rail-name">{name}</span><span class="visually-hidden">, {stateWords[state]}</span>
            {text !== '' && <span class="muted rail-text">{safeName(text)}</span>}
          </span>
        </li>
      ))}
    </ol>
  );
}

function Bar({ done, total, label }: { done: number; total: number; label: string }) {
  return total > 0 ? <progress max={total} value={Math.min(done, total)} aria-label={label} /> : <progress aria-label={label} />;
}

/** Both states are read before anything can be said of what changes. */
function Planning({ plan }: { plan: Plan | null }) {
  return (
    <section aria-label="Progress of the plan" class="wizard-progress">
      <p>Both states are read and compared first. Nothing is written.</p>
      <Bar done={plan?.done ?? 0} total={plan?.total ?? 0} label="Progress of the plan" />
      <p class="muted">{[safeName(plan?.phase ?? ''), amount(plan?.done ?? 0, plan?.total ?? 0)].filter(Boolean).join(' · ') || 'waiting'}</p>
    </section>
  );
}

function Look({ plan }: { plan: Plan }) {
  return (
    <>
      <Facts plan={plan} />
      <Doubts plan={plan} />
      <Changes plan={plan} />
      {plan.act && <Touches act={plan.act} />}
    </>
  );
}

/** The word that has to be typed, always in sight. */
function Confirm({ plan, typed, setTyped }: { plan: Plan; typed: string; setTyped: (text: string) => void }) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => field.current?.focus(), []);
  if (plan.confirm === null) return <span />;
  return (
    <span class="confirm">
      <label for="confirm">Type <strong><Name text={plan.confirm} limit={60} /></strong> to confirm</label>
      <input ref={field} id="confirm" type="text" autocomplete="off" spellcheck={false} value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
      {confirms(typed, plan.confirm) && <span class="ok-text" role="status">✓ matches</span>}
    </span>
  );
}

function Progress({ task, again }: { task: Task | null; again: () => void }) {
  if (task === null || !isOver(task)) {
    return (
      <section aria-label="Progress" class="wizard-progress">
        <Bar done={task?.done ?? 0} total={task?.total ?? 0} label="Progress" />
        <p class="muted" aria-live="polite">{[safeName(task?.phase || task?.state || 'starting'), amount(task?.done ?? 0, task?.total ?? 0)].filter(Boolean).join(' · ')}</p>
      </section>
    );
  }
  if (task.problem) return <Trouble of={task.problem} again={again} />;
  return task.state === 'canceled' ? <p>The task was canceled. The journal of the run says whether something was written.</p> : null;
}

import { useEffect, useState } from 'preact/hooks';
import { sheet } from '../actions';
import type { ActField, ActInfo, ActValue, AnnotatedReport, DiscardReport, Task } from '../api/types';
import { Dialog } from '../components/Dialog';
import { Name } from '../components/Name';
import { PlanFacts } from '../components/PlanFacts';
import { Trouble, troubleOf } from '../components/Trouble';
import { toast } from '../components/Toast';
import { safeName } from '../format';
import { useBegin } from '../state/begin';
import { usePlan } from '../state/plan';
import { acts, mayAct } from '../state/store';
import { argsOf, isComplete, type Filled } from './fields';

interface Props {
  kind: string;
  run: string;
  args: Record<string, ActValue>; // filled in before
}

/** The sheet of any act, made from the fields that the daemon says it has. */
export function ActSheet({ kind, run, args }: Props) {
  const act = acts.value?.find((known) => known.kind === kind);
  return act ? <Form act={act} run={run} args={args} /> : null;
}

function Form({ act, run, args }: { act: ActInfo; run: string; args: Record<string, ActValue> }) {
  const [filled, setFilled] = useState<Filled>(() => Object.fromEntries(act.fields.map(({ name, standard }) => [name, String(args[name] ?? standard)])));
  const complete = isComplete(act.fields, filled);
  const { plan, error, started } = usePlan(run, complete ? { kind: act.kind, args: argsOf(act.fields, filled) } : null, 300);
  const { task, refusal, busy, begin } = useBegin(started);
  const close = () => (sheet.value = null);

  useEffect(() => {
    if (task?.state !== 'done' || task.result === null) return;
    close();
    toast(endText(task));
  }, [task?.state, task?.result]);

  const start = async () => {
    if (plan?.state === 'ready' && !busy) await begin(plan);
  };
  const input = (field: ActField) => (
    <Field
      key={field.name} field={field} value={filled[field.name] ?? ''} first={field.name === firstOpen?.name}
      set={(value) => setFilled({ ...filled, [field.name]: value })}
    />
  );
  const { shown, more } = partsOf(act.fields, args);
  const firstOpen = act.fields.find(({ name }) => args[name] === undefined);
  const working = busy || (task !== null && task.problem === null);
  return (
    <Dialog
      title={safeName(act.title)} note={<Name text={run} />} onClose={close}
      footer={<>
        <span class="muted">{working ? safeName(task?.phase || 'working') : ''}</span>
        <button type="button" onClick={close}>Cancel</button>
        <button type="submit" form="act" class="primary" disabled={plan?.state !== 'ready' || working || !mayAct.value}>{safeName(act.title)}</button>
      </>}
    >
      <form id="act" class="act-form" onSubmit={(event) => {
        event.preventDefault();
        void start();
      }}>
        {shown.map(input)}
        {more.length > 0 && <details><summary>More choices</summary><div class="act-form">{more.map(input)}</div></details>}
      </form>
      {error && <Trouble of={troubleOf(error)} />}
      {refusal && <Trouble of={troubleOf(refusal)} />}
      {plan?.problem && <Trouble of={plan.problem} />}
      {task?.problem && <Trouble of={task.problem} />}
      {plan && plan.state !== 'failed' && <PlanFacts plan={plan} />}
    </Dialog>
  );
}

/** Fields that are shown at once, and those that would push the plan out of sight. */
function partsOf(fields: ActField[], args: Record<string, ActValue>): { shown: ActField[]; more: ActField[] } {
  const isMore = ({ name, required }: ActField) => !required && args[name] === undefined;
  const more = fields.filter(isMore);
  return more.length > 3 ? { shown: fields.filter((field) => !isMore(field)), more } : { shown: fields, more: [] };
}

/** What came of an act, in one line; a leftover that stays is no success. */
function endText({ kind, result, title }: Task): string {
  const stays = kind === 'discard' ? (result as DiscardReport).leftovers.flatMap(({ path, problem }) => (problem ? [`${path}: ${problem.text}`] : [])) : [];
  if (stays.length > 0) return `▲ ${safeName(stays.join('; '))}`;
  return `✓ ${safeName((result as AnnotatedReport).text || title)}`;
}

/** One argument of an act. */
function Field({ field, value, set, first }: { field: ActField; value: string; set: (value: string) => void; first: boolean }) {
  const id = `field-${field.name}`;
  const common = { id, 'aria-describedby': `${id}-help`, autofocus: first };
  const input = field.type === 'flag' ? (
    <input {...common} type="checkbox" checked={value === 'true'} onChange={(event) => set(String(event.currentTarget.checked))} />
  ) : field.type === 'choice' ? (
    <select {...common} value={value} onChange={(event) => set(event.currentTarget.value)}>
      {field.choices?.map((choice) => <option key={choice} value={choice}>{safeName(choice)}</option>)}
    </select>
  ) : (
    <input
      {...common} type={field.type === 'whole' ? 'number' : 'text'} min={0} max={field.most} required={field.required} autocomplete="off" value={value}
      onInput={(event) => set(event.currentTarget.value)}
    />
  );
  if (field.type === 'flag') {
    return (
      <div class="field">
        <label class="check">{input} {safeName(field.label)}</label>
        <p id={`${id}-help`} class="muted field-help">{safeName(field.help)}</p>
      </div>
    );
  }
  return (
    <div class="field">
      <label for={id}>{safeName(field.label)}{!field.required && ' (optional)'}</label>
      {input}
      <p id={`${id}-help`} class="muted field-help">{safeName(field.help)}</p>
    </div>
  );
}

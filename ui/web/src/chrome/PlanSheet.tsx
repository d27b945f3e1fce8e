import { useState } from 'preact/hooks';
import { sheet } from '../actions';
import { ApiError, runPlan } from '../api/client';
import type { PlanRequest } from '../api/types';
import { Dialog } from '../components/Dialog';
import { Icon } from '../components/Icon';
import { Name } from '../components/Name';
import { PlanFacts } from '../components/PlanFacts';
import { Skeleton } from '../components/states';
import { Trouble, troubleOf } from '../components/Trouble';
import { bytes, safeName } from '../format';
import { navigate } from '../router';
import { viewQuery } from '../state/cursor';
import { usePlan } from '../state/plan';
import { capabilities, mayAct } from '../state/store';
import { whyReadOnly } from './TopBar';

interface Props {
  kind: 'verify' | 'materialize';
  run: string;
  step: string; // "EPOCH:STEP"
}

const levels = ['0 listed', '1 header', '2 payload', '3 replay', '4 cross-anchor'];

/** What an act would do, and the button that does it. The plan is made again when an option changes. */
export function PlanSheet({ kind, run, step }: Props) {
  const [level, setLevel] = useState(3);
  const [to, setTo] = useState('');
  const [forTraining, setForTraining] = useState(false);
  const [refusal, setRefusal] = useState<ApiError | null>(null);
  const [busy, setBusy] = useState(false);
  const close = () => (sheet.value = null);
  const number = step.slice(step.indexOf(':') + 1);

  const wanted: PlanRequest = kind === 'verify'
    ? { kind, args: { range: step, level } }
    : { kind, args: { step, ...(to.trim() === '' ? {} : { to: to.trim() }), for_training: forTraining } };
  const { plan, error, started } = usePlan(run, wanted, 300);
  const start = async () => {
    if (plan?.state !== 'ready') return;
    setBusy(true);
    setRefusal(null);
    started();
    try {
      const task = await runPlan(plan);
      close();
      navigate(`tasks/${encodeURIComponent(task.id)}`, viewQuery.value);
    } catch (problem) {
      if (!(problem instanceof ApiError)) throw problem;
      setRefusal(problem);
      setBusy(false);
    }
  };
  const tooSmall = plan !== null && plan.free_bytes !== null && plan.free_bytes < plan.write_bytes;
  const word = kind === 'verify' ? 'Verify' : 'Materialize';
  return (
    <Dialog
      title={`${word} step ${number}`} note={<Name text={run} />} onClose={close}
      footer={<>
        <span class="muted">The source is only read. You can close this tab, the task runs on.</span>
        <button type="button" onClick={close}>Cancel</button>
        <button type="button" class="primary" disabled={plan?.state !== 'ready' || busy || tooSmall || !mayAct.value} onClick={() => void start()}>
          <Icon name={kind === 'verify' ? 'shield' : 'download'} /> {word}
        </button>
      </>}
    >
      {!mayAct.value && <p role="status"><Icon name="lock" /> {whyReadOnly(capabilities.value?.read_only ?? true)}</p>}
      {kind === 'verify' ? (
        <div class="field">
          <label for="level">Level</label>
          <select id="level" autofocus value={level} onChange={(event) => setLevel(Number(event.currentTarget.value))}>
            {levels.map((name, i) => <option key={name} value={i}>{name}</option>)}
          </select>
        </div>
      ) : (
        <><div class="field">
          <label for="to">Folder, below the one that the daemon writes to</label>
          <input id="to" type="text" autofocus value={to} placeholder={baseName(plan?.destination ?? '')} onInput={(event) => setTo(event.currentTarget.value)} />
          {plan?.free_bytes != null && (
            <p class={tooSmall ? 'error-text' : 'muted'}>
              <strong class={tooSmall ? '' : 'ok-text'}>{tooSmall ? '✕' : '✓'} {bytes(plan.free_bytes)} free</strong> needs {bytes(plan.write_bytes)}
            </p>
          )}
        </div>
        <label class="check">
          <input type="checkbox" checked={forTraining} onChange={(event) => setForTraining(event.currentTarget.checked)} />
          For training: also the optimizer, scheduler and random state of the step
        </label></>
      )}
      {error && <Trouble of={troubleOf(error)} />}
      {refusal && <Trouble of={troubleOf(refusal)} />}
      {plan?.problem && <Trouble of={plan.problem} />}
      {plan ? plan.state !== 'failed' && <PlanFacts plan={plan} /> : !error && <Skeleton rows={4} />}
    </Dialog>
  );
}

const baseName = (path: string) => safeName(path.slice(path.lastIndexOf('/') + 1));

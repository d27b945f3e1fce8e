import { canDo, openPlan, openRollBack } from '../../actions';
import type { RunDetail } from '../../api/types';
import { Link, runPage } from '../../components/Link';
import { ProblemText } from '../../components/states';
import { safeName } from '../../format';
import { setB } from '../../state/cursor';
import { mayAct } from '../../state/store';

const marks = { broken: '✕ ', doubtful: '! ', no_contact: '! ', unchecked: '', sound: '' } as const;

/** The first tile: what can be relied on, and what can be done about what cannot. The words are the server's. */
export function HealthTile({ run }: { run: RunDetail }) {
  const { state, headline, proven, restorable, remedy, step, restore, problem } = run.health;
  if (state === null) return null;
  const wrong = marks[state] !== '';
  const { latest_epoch: epoch, newest } = run.kpi;
  return (
    <section class={`health ${state}`} aria-label="Health" role={wrong ? 'alert' : undefined}>
      <div class="health-text">
        <p class="health-headline">{marks[state]}{safeName(headline)}</p>
        <p>{safeName(restorable)}</p>
        {remedy !== '' && <p class="muted">{safeName(remedy)}</p>}
        {problem && (
          <details>
            <summary>Details</summary>
            <p class="muted">{safeName(proven)}</p>
            <ProblemText problem={problem.remedy === remedy ? { ...problem, remedy: '' } : problem} />
          </details>
        )}
      </div>
      {step !== null && (
        <div class="health-acts">
          <Link class="button" to={runPage(run.id, 'steps', `${epoch ?? 0}:${step}`)}>Go to step</Link>
          {mayAct.value && <button type="button" onClick={() => openPlan('verify', run.id, epoch ?? 0, step)}>Verify again</button>}
          {restore !== null && restore !== newest && (
            <button type="button" class="primary" onClick={() => setB(restore)}>Go to {restore}, the last sound step</button>
          )}
          {restore !== null && restore !== newest && state === 'doubtful' && canDo('rollback') && (
            <button type="button" onClick={() => openRollBack(run.id, epoch ?? 0, restore)}>Roll back to {restore}…</button>
          )}
        </div>
      )}
    </section>
  );
}

import { openPlan } from '../../actions';
import type { RunDetail } from '../../api/types';
import { Link, runPage } from '../../components/Link';
import { ErrorBanner } from '../../components/states';
import { safeName } from '../../format';
import { setB } from '../../state/cursor';
import { mayAct } from '../../state/store';
import { damageOf } from './damage';

/** Says what is wrong with the newest steps, why, and what to do. Older problems stand in the list of alerts. */
export function DamageBanner({ run }: { run: RunDetail }) {
  const { newest, latest, latest_epoch: epoch } = run.kpi;
  const problem = damageOf(run) ?? (run.state === 'error' ? run.error : null);
  if (!problem) return null;
  const what = problem.step === null ? safeName(problem.text) : (
    <><span class="error-text">✕ Step {problem.step} is damaged.</span> {safeName(problem.text)}</>
  );
  return (
    <ErrorBanner what={what} why={safeName([problem.where, problem.remedy].filter(Boolean).join('. '))} code={problem.code}>
      {problem.step !== null && <Link class="button" to={runPage(run.id, 'steps', String(problem.step))}>Details</Link>}
      {mayAct.value && problem.step !== null && (
        <button type="button" onClick={() => openPlan('verify', run.id, epoch ?? 0, problem.step ?? 0)}>Verify again</button>
      )}
      {latest !== null && latest !== newest && (
        <button type="button" class="primary" onClick={() => setB(latest)}>Go to {latest}, the last sound step</button>
      )}
    </ErrorBanner>
  );
}

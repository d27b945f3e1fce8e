import { openPlan } from '../../actions';
import type { Problem, RunDetail } from '../../api/types';
import { Link, runPage } from '../../components/Link';
import { ErrorBanner } from '../../components/states';
import { safeName } from '../../format';
import { setB } from '../../state/cursor';
import { mayAct } from '../../state/store';

/** What is wrong with the newest step; a step that is still being published is not damaged. */
export function damageOf(run: RunDetail): Problem | null {
  return run.problems.find(({ step }) => step !== null && step === run.kpi.newest) ?? null;
}

/** Says what is wrong with the newest step, why, and what to do. Older problems stand in the list of alerts. */
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

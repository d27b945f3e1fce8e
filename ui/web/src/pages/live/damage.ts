import type { Problem, RunDetail } from '../../api/types';

/**
 * The first thing wrong after the last sound step: what comes after it stands on it. A step that is still being
 * published is not damaged.
 */
export function damageOf(run: Pick<RunDetail, 'problems' | 'kpi'>): Problem | null {
  const { latest, newest } = run.kpi;
  if (newest === null || latest === newest) return null;
  const later = run.problems.filter(({ step }) => step !== null && step <= newest && step > (latest ?? -1));
  return later.reduce<Problem | null>((first, next) => ((next.step ?? 0) < (first?.step ?? Infinity) ? next : first), null);
}

import type { LineageRow } from '../../api/types';
import { passed } from '../../components/StateIcon';
import { exact } from '../../format';

/** What is known of the versions of a chain by what was checked; what is overwritten is not spoken of. */
export function checkedText(chain: readonly LineageRow[]): string {
  const rows = chain.filter((row) => row.surviving && row.kind !== 'gap');
  const usable = rows.filter((row) => row.restorable);
  const sound = usable.filter(({ problem, verified }) => (problem === null || problem.notice) && (verified === null || passed(verified.result)));
  const checked = sound.filter(({ verified }) => verified !== null);
  const parts: [count: number, what: string][] = [
    [rows.length - usable.length, 'cannot be rebuilt'], [usable.length - sound.length, 'in doubt'], [sound.length - checked.length, 'not checked'],
  ];
  const found = parts.filter(([count]) => count > 0).map(([count, what]) => `${exact(count)} ${what}`);
  if (found.length > 0) return found.join(', ');
  return rows.length === 0 ? '' : `all level ${Math.min(...checked.map(({ verified }) => verified!.level))} or deeper`;
}

import { runPath } from '../../api/client';
import type { Series } from '../../api/types';
import { Kpi } from '../../components/Kpi';
import { exact, unknown } from '../../format';
import { between, useResource } from '../../state/resource';
import type { Pair } from './pair';

/** How many versions lie behind the older of two steps up to the newer one; their numbers may be far apart. */
export function Between({ runId, epoch, a, b }: Pair) {
  const [from, to] = [Math.min(a, b), Math.max(a, b)];
  const { data } = useResource<Series>(
    `${runPath(runId, 'series')}?names=changed_frac&epoch=${epoch}&from=${from + 1}&to=${to}&px=1`, ['step'],
    (event) => between(event, runId, epoch, from, to),
  );
  return <Kpi label="Between them" value={versionsText(from === to ? 0 : (data?.points ?? null))} context={`${from} to ${to}`} />;
}

export const versionsText = (versions: number | null) =>
  (versions === null ? { value: unknown, unit: '' } : { value: exact(versions), unit: versions === 1 ? 'version' : 'versions' });

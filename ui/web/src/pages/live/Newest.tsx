import { runPath } from '../../api/client';
import type { StepPage } from '../../api/types';
import { Link, runPage } from '../../components/Link';
import { StateIcon } from '../../components/StateIcon';
import { Loaded } from '../../components/states';
import { age, bytes, secondsSince } from '../../format';
import { epoch } from '../../state/cursor';
import { useResource } from '../../state/resource';
import { now } from '../../state/store';

/** The last few versions, for the phone. */
export function Newest({ runId, last }: { runId: string; last: number }) {
  const path = `${runPath(runId, 'steps')}?epoch=${epoch.value}&from=${Math.max(0, last - 9)}`;
  const loaded = useResource<StepPage>(path, ['step'], runId);
  return (
    <section class="card" aria-label="Newest versions">
      <Loaded from={loaded}>
        {({ steps }) => (
          <ol class="newest">
            {[...steps].reverse().slice(0, 6).map((row) => (
              <li key={`${row.epoch}:${row.step}`}>
                <span aria-hidden="true">{row.kind === 'anchor' ? '◆' : row.kind === 'gap' ? '○' : '●'}</span>
                <Link to={runPage(runId, 'steps', `${row.epoch}:${row.step}`)}>{row.step}</Link>
                <span class="muted">{row.kind.replace('_', ' ')}</span>
                {'wire_bytes' in row && <span>{bytes(row.wire_bytes)}</span>}
                <span class="muted newest-age">
                  {row.state === 'complete' && 'published_at' in row ? age(secondsSince(row.published_at, now.value)) : <StateIcon state={row.state} />}
                </span>
              </li>
            ))}
          </ol>
        )}
      </Loaded>
    </section>
  );
}

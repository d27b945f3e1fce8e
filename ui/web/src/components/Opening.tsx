import type { RunSummary } from '../api/types';
import { safeName } from '../format';
import { EmptyState } from './states';

/** In place of all views of a run that is read for the first time. */
export function Opening({ run }: { run: RunSummary }) {
  return (
    <EmptyState page title="The run is being opened">
      <p><bdi>{safeName(run.source)}</bdi></p>
      {run.opening && <p class="mono">{safeName(run.opening)}</p>}
      <p>Nothing is said of any step before this has ended.</p>
    </EmptyState>
  );
}

import type { RunSummary } from '../api/types';
import { now } from '../state/store';
import { secondsSince } from '../format';

export type RunState = 'live' | 'stalled' | 'finished' | 'opening' | 'error';

const finishedS = 86_400; // silent for so long, a run is over
const quietIntervals = 3; // silent for so many usual intervals, and a minute, it has stalled

/** What the run is doing, from how long ago it published. */
export function runState(run: Pick<RunSummary, 'state' | 'kpi'>, nowMs: number): RunState {
  if (run.state !== 'live') return run.state;
  const quiet = secondsSince(run.kpi.latest_at_us, nowMs);
  if (quiet === null) return 'live';
  if (quiet > finishedS) return 'finished';
  return quiet > Math.max(60, quietIntervals * (run.kpi.interval_s ?? 0)) ? 'stalled' : 'live';
}

const looks: Record<RunState, [look: string, word: string]> = {
  live: ['live', 'LIVE'],
  stalled: ['', 'QUIET'],
  finished: ['', 'FINISHED'],
  opening: ['', 'OPENING'],
  error: ['bad', 'ERROR'],
};

export function RunPill({ run }: { run: RunSummary }) {
  const [look, word] = looks[runState(run, now.value)];
  return (
    <span class={`pill ${look}`}>
      {look === 'live' && <span class="dot" aria-hidden="true" />}
      {look === 'bad' && <span aria-hidden="true">✕</span>}
      {word}
    </span>
  );
}

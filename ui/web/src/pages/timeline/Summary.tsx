import type { Timeline } from '../../api/types';
import { Name } from '../../components/Name';
import { duration, milliseconds, percent, plural } from '../../format';

/** Pauses of the range in one line. */
export function Summary({ data, go }: { data: Timeline; go: (step: number) => void }) {
  const { paused_ms, wall_ms, pauses, p50_ms, p95_ms, worst } = data.summary;
  const steps = new Set(data.bars.map((bar) => bar.step));
  if (pauses === 0) return <p class="sync-summary muted">No pause was reported in this range.</p>;
  return (
    <p class="sync-summary">
      <span class="phase-pause">Paused, all replicas</span>
      <span>
        <strong>{duration(paused_ms / 1000)}</strong>{' '}
        <span class="muted">{percent(wall_ms > 0 ? paused_ms / wall_ms : null)} of {duration(wall_ms / 1000)}</span>
      </span>
      <span><span class="muted">p50</span> <strong>{milliseconds(p50_ms)}</strong></span>
      <span><span class="muted">p95</span> <strong>{milliseconds(p95_ms)}</strong></span>
      {worst && (
        <span>
          <span class="muted">Worst</span> <strong>{milliseconds(worst.ms)}</strong>{' '}
          <button type="button" class="link" onClick={() => go(worst.step)}><Name text={worst.actor} />, step {worst.step}</button>
        </span>
      )}
      <span class="muted summary-end">
        {steps.size > 0 && `Range ${Math.min(...steps)} – ${Math.max(...steps)}, ${plural(steps.size, 'step')}`}
      </span>
    </p>
  );
}

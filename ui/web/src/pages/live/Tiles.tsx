import type { RunDetail } from '../../api/types';
import { Kpi } from '../../components/Kpi';
import { age, bytes, bytesQ, duration, durationQ, fullTime, milliseconds, percent, percentQ, safeName, secondsSince, times, unknown } from '../../format';
import { now } from '../../state/store';
import { usual } from './usual';

const plain = (value: number | null) => ({ value: value === null ? unknown : String(value), unit: '' });

/** The numbers of the page Live. */
export function Tiles({ run }: { run: RunDetail }) {
  const { kpi } = run;
  const { state, restore } = run.health;
  const damaged = state === 'broken' && kpi.newest !== null && (restore ?? -1) < kpi.newest;
  const changed = usual(kpi.changed_frac, kpi.changed_frac_median);
  const behind = (kpi.worst_lag ?? 0) > 0;
  return (
    <dl class="kpis">
      <Kpi
        label={damaged ? <>Newest step <span class="error-text">✕ broken</span></> : 'Latest step'}
        bad={damaged} value={plain(damaged ? kpi.newest : kpi.latest)} title={fullTime(kpi.latest_at_us)}
        context={damaged ? (
          <>last sound step <strong>{restore ?? unknown}</strong></>
        ) : (
          <><strong>{age(secondsSince(kpi.latest_at_us, now.value))}</strong> ago, every <strong>{duration(kpi.interval_s)}</strong></>
        )}
      />
      <Kpi
        label="Changed" value={percentQ(kpi.changed_frac)} title="Elements that the latest delta changes, of all; the median is over the last 50 deltas"
        context={<>{changed.word !== '' && <strong>{changed.mark} {changed.word}</strong>} {percent(kpi.changed_frac_median)}</>}
      />
      <Kpi
        label="Delta size" value={bytesQ(kpi.delta_bytes)} title={`Full version: ${bytes(kpi.full_bytes)}`}
        context={<><strong>{times(kpi.ratio)}</strong> smaller than full</>}
      />
      <Kpi
        label={<><span class="pause-mark" />Paused</>} value={durationQ(kpi.pause_ms === null ? null : kpi.pause_ms / 1000)}
        title={`Time without tokens at the latest sync; median ${milliseconds(kpi.pause_p50_ms)}, last 50 steps`}
        context={<><strong>{percent(kpi.paused_frac)}</strong> of wall, p95 {milliseconds(kpi.pause_p95_ms)}</>}
      />
      <Kpi
        label="Replicas in sync, they say" title="What replicas report; nobody has looked into their memory" value={kpi.replicas === 0 ? plain(null) : { value: String(kpi.replicas_in_sync), unit: `of ${kpi.replicas}` }}
        context={kpi.replicas === 0 ? 'none says that it runs' : behind
          ? <>worst <strong>{safeName(kpi.worst_replica ?? '')}, lag {kpi.worst_lag}</strong> <span aria-hidden="true">⚑</span></>
          : kpi.replicas_in_sync === kpi.replicas ? 'none says it is behind' : 'not all are heard'}
      />
    </dl>
  );
}

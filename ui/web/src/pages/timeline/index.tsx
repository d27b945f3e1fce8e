import { useState } from 'preact/hooks';
import { apiUrl, runPath } from '../../api/client';
import type { Timeline } from '../../api/types';
import { pageParameter, setPageParameters } from '../../canvas/address';
import { PhaseLegend } from '../../canvas/PhaseLegend';
import { barsOf } from '../../canvas/phases';
import { EmptyState, Loaded, StaleBadge } from '../../components/states';
import { Tabs } from '../../components/Tabs';
import { rate, safeName } from '../../format';
import { epoch, setRange, setView, stepB, view } from '../../state/cursor';
import { useResource } from '../../state/resource';
import { detail } from '../../state/store';
import { BarsCanvas } from './BarsCanvas';
import { GanttCanvas } from './GanttCanvas';
import { Summary } from './Summary';
import { SyncDetails } from './SyncDetails';
import './timeline.css';

type Mode = 'steps' | 'clock' | 'both';

const MODES: { id: Mode; text: string }[] = [
  { id: 'steps', text: 'Per step' }, { id: 'clock', text: 'Wall clock' }, { id: 'both', text: 'Both' },
];
const STEPS = 40; // without a range

/** How long weight syncs take, phase by phase, and how long no tokens are produced. */
export default function TimelinePage({ runId = '' }: Record<string, string>) {
  const last = detail.value?.last_step ?? null;
  const range = view.value.range;
  const b = stepB.value;
  const end = Math.min(last ?? 0, Math.max((b ?? 0) + STEPS / 2, STEPS));
  const [from, to] = range ?? (view.value.b === null ? [Math.max(0, (last ?? 0) - STEPS + 1), last ?? 0] : [Math.max(0, end - STEPS + 1), end]);
  const query = `?epoch=${epoch.value}&from=${from}&to=${to}`;
  const timeline = useResource<Timeline>(last === null ? null : runPath(runId, 'timeline') + query, ['step', 'replica'], runId);
  const trace = apiUrl(runPath(runId, 'timeline.trace.json') + query);
  return (
    <Loaded from={timeline} rows={10}>
      {(data) => data.bars.length === 0 && data.spans.length === 0 ? (
        <EmptyState title="No sync times in this range">
          <p>Sync times come from spans or logs that trainer and replicas write beside the checkpoints.</p>
          {range && <button type="button" onClick={() => setRange(null)}>Show the newest steps</button>}
        </EmptyState>
      ) : <Views runId={runId} data={data} trace={trace} />}
    </Loaded>
  );
}

function Views({ runId, data, trace }: { runId: string; data: Timeline; trace: string }) {
  const wanted = pageParameter('mode');
  const mode: Mode = wanted === 'steps' || wanted === 'clock' ? wanted : 'both';
  const [actor, setActor] = useState<string | null>(null);
  const [ghost, setGhost] = useState(true);
  const bars = barsOf(data.bars, actor);
  const replicas = [...new Set(data.bars.map((bar) => bar.actor))];
  const step = stepB.value;
  const chosen = bars.find((bar) => bar.step === step) ?? bars.at(-1) ?? null;
  const select = (at: number): void => setView({ b: at, epoch: data.epoch });
  return (
    <div class="timeline">
      <div class="canvas-tools">
        <Tabs label="What is shown" options={MODES} chosen={mode} choose={(id) => setPageParameters({ mode: id === 'both' ? null : id })} />
        <label>
          Bars
          <select value={actor ?? ''} onChange={(event) => setActor(event.currentTarget.value || null)}>
            <option value="">slowest replica</option>
            {replicas.filter((id) => id !== '').map((id) => <option key={id} value={id}>{safeName(id)}</option>)}
          </select>
        </label>
        {data.ghost && (
          <label>
            <input type="checkbox" checked={ghost} onChange={(event) => setGhost(event.currentTarget.checked)} />
            Ghost: full sync at {rate(data.ghost.bytes_per_s)}
          </label>
        )}
        {view.value.range && <button type="button" onClick={() => setRange(null)}>Reset the range</button>}
        <PhaseLegend />
        <StaleBadge />
      </div>
      <div class="timeline-parts">
        <div class="timeline-main">
          {mode !== 'clock' && (
            <BarsCanvas
              runId={runId} bars={bars} selected={chosen?.step ?? null} ghostMs={ghost ? (data.ghost?.ms ?? null) : null}
              select={select} setRange={setRange}
            />
          )}
          <Summary data={data} go={select} />
          {mode !== 'steps' && <GanttCanvas runId={runId} data={data} step={chosen?.step ?? null} select={select} />}
        </div>
        {chosen && <SyncDetails bar={chosen} data={data} trace={trace} />}
      </div>
    </div>
  );
}

import { useMemo } from 'preact/hooks';
import { runPath } from '../api/client';
import type { Timeline } from '../api/types';
import { Card } from '../components/Card';
import { runPage } from '../components/Link';
import { EmptyState, Loaded } from '../components/states';
import { milliseconds, safeName } from '../format';
import { navigate } from '../router';
import { setView, view, viewQuery } from '../state/cursor';
import { useResource } from '../state/resource';
import { detail } from '../state/store';
import { fit } from './axis';
import { paintBars } from './barPainter';
import { barsTable } from './barTable';
import { CanvasFrame } from './CanvasFrame';
import { PhaseLegend } from './PhaseLegend';
import { barsOf } from './phases';
import { useSurface, type Surface } from './surface';

const STEPS = 150; // without a range

interface Props {
  runId: string;
  epoch: number;
}

/** Sync time of the last steps, slowest replica, for the page Live. A click opens the timeline at that step. */
export default function SyncBars({ runId, epoch }: Props) {
  const last = detail.value?.last_step ?? null;
  const [from, to] = view.value.range ?? [Math.max(0, (last ?? 0) - STEPS + 1), last];
  const path = last === null ? null : `${runPath(runId, 'timeline')}?epoch=${epoch}&from=${from}${to === null ? '' : `&to=${to}`}`;
  const timeline = useResource<Timeline>(path, ['step', 'replica'], runId);
  return (
    <Card title="Sync total" note="s, slowest replica" tools={<PhaseLegend without={['other']} />}>
      <Loaded from={timeline} rows={4}>
        {(data) => data.bars.length === 0 ? (
          <EmptyState title="No sync times yet">
            <p>They come from spans that trainer and replicas write beside the checkpoints.</p>
          </EmptyState>
        ) : <Bars runId={runId} timeline={data} />}
      </Loaded>
    </Card>
  );
}

function Bars({ runId, timeline }: { runId: string; timeline: Timeline }) {
  const bars = useMemo(() => barsOf(timeline.bars, null), [timeline]);
  const selected = bars.findIndex((bar) => bar.step === view.value.b);
  const plot = (width: number, height: number) => ({ x: 36, y: 12, width: Math.max(1, width - 44), height: Math.max(1, height - 40) });
  const axisOf = (width: number) => fit({ first: 0, cell: 1, size: width, count: bars.length });
  const paint = ({ pen, width, height, colors }: Surface): void => {
    const box = plot(width, height);
    const axis = axisOf(box.width);
    paintBars(pen, box, { bars, axis, selected, ghostMs: null, labels: false }, colors);
  };
  const surface = useSurface(paint);
  const open = (at: number): void => {
    const bar = bars[at];
    if (bar === undefined) return;
    setView({ b: bar.step, epoch: bar.epoch });
    navigate(runPage(runId, 'timeline'), viewQuery.value);
  };
  const bar = bars[selected] ?? bars.at(-1)!;
  return (
    <CanvasFrame
      compact class="mini-bars" name={`Sync total, ${bars.length} steps`} title={`${safeName(runId)}, sync total in seconds, slowest replica`}
      file={`${runId}-sync`} surface={surface} paint={paint} twin={() => barsTable(bars)}
      says={`step ${bar.step}, ${milliseconds(bar.total_ms)} in all, ${milliseconds(bar.pause_ms)} paused`}
      onKeyDown={(event) => {
        const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
        const at = selected < 0 ? bars.length - 1 : selected;
        if (by !== undefined) setView({ b: bars[Math.min(bars.length - 1, Math.max(0, at + by))]!.step });
        else if (event.key === 'Enter') open(at);
        else return;
        event.preventDefault();
      }}
      events={{
        onClick: (event: MouseEvent) => {
          const canvas = surface.ref.current!;
          const box = plot(canvas.clientWidth, canvas.clientHeight);
          const x = event.clientX - canvas.getBoundingClientRect().left - box.x;
          open(Math.floor(x / axisOf(box.width).cell));
        },
      }}
    />
  );
}

import { useEffect, useMemo, useRef } from 'preact/hooks';
import type { Timeline } from '../../api/types';
import { clamp, pan, show, zoom, type Axis } from '../../canvas/axis';
import { CanvasFrame } from '../../canvas/CanvasFrame';
import { ganttHeight, ganttPlot, laneHeight, lanesOf, paintGantt } from '../../canvas/ganttPainter';
import { useGestures } from '../../canvas/gestures';
import { useSurface, type Surface } from '../../canvas/surface';
import { duration, safeName } from '../../format';

interface Props {
  runId: string;
  data: Timeline;
  step: number | null;
  select: (step: number) => void;
}

/** Most spans that one answer holds. */
const LIMIT = 5000;

/** What each actor did when, around the chosen step. Dragging pans. */
export function GanttCanvas({ runId, data, step, select }: Props) {
  const lanes = useMemo(() => lanesOf(data), [data]);
  const times = useMemo(() => extent(data), [data]);
  const view = useRef<Axis>({ first: 0, cell: 0, size: 0, count: 1 });
  const drag = useRef<{ x: number; moved: boolean } | null>(null);

  /** Shows the step with some time around it. */
  const showStep = (): void => {
    const own = data.spans.filter((span) => span.step === step);
    if (own.length === 0) return;
    const [from, to] = [Math.min(...own.map((span) => span.t0_us)), Math.max(...own.map((span) => span.t1_us))];
    const around = (to - from) / 2;
    view.current = show(view.current, (from - around - times.start) / 1000, (to + around - times.start) / 1000);
  };

  const paint = ({ pen, width, height, colors }: Surface): void => {
    const box = ganttPlot(width, height);
    const fresh = view.current.size === 0;
    view.current = clamp({ ...view.current, size: box.width, count: times.ms, cell: fresh ? box.width / times.ms : view.current.cell });
    if (fresh) showStep();
    paintGantt(pen, box, { lanes, visible: data.visible, axis: view.current, start: times.start, step }, colors);
  };
  const surface = useSurface(paint);
  useEffect(() => {
    if (view.current.size > 0) showStep();
    surface.invalidate();
  }, [step]);

  const left = ganttPlot(0, 0).x;
  const move = (change: (axis: Axis) => Axis): void => {
    view.current = change(view.current);
    surface.invalidate();
  };
  useGestures(surface.ref, {
    wheel: (event, x) => {
      if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) move((axis) => pan(axis, -event.deltaX));
      else move((axis) => zoom(axis, x - left, 1.0015 ** -event.deltaY));
      return true;
    },
    fingers: (dx, _dy, factor, x) => move((axis) => pan(zoom(axis, x - left, factor), dx)),
  });

  const spanAt = (event: MouseEvent) => {
    const box = surface.ref.current!.getBoundingClientRect();
    const plot = ganttPlot(box.width, box.height);
    const us = times.start + (view.current.first + (event.clientX - box.left - plot.x) / view.current.cell) * 1000;
    const lane = lanes[Math.floor((event.clientY - box.top - plot.y) / laneHeight(lanes.length))];
    return lane?.spans.find((span) => span.t0_us <= us && us <= span.t1_us);
  };

  const own = data.spans.filter((span) => span.step === step);
  return (
    <>
      <CanvasFrame
        class="gantt" name={`Wall clock, ${lanes.length - 1} actors`} title={`${safeName(runId)}, syncs by wall clock`}
        file={`${runId}-wall-clock`} surface={surface} paint={paint} twin={() => spansTable(data)}
        height={ganttHeight(lanes.length)}
        says={`step ${step ?? '–'}: ${own.map((span) => `${span.actor} ${span.phase} ${duration((span.t1_us - span.t0_us) / 1e6)}`).join(', ')}`}
        onKeyDown={(event) => {
          const half = view.current.size / 2;
          const keys: Record<string, () => void> = {
            ArrowLeft: () => move((axis) => pan(axis, half / 4)), ArrowRight: () => move((axis) => pan(axis, -half / 4)),
            w: () => move((axis) => zoom(axis, half, 1.4)), s: () => move((axis) => zoom(axis, half, 1 / 1.4)), f: showStep,
          };
          const act = keys[event.key];
          if (act === undefined || event.ctrlKey) return;
          event.preventDefault();
          act();
          surface.invalidate();
        }}
        events={{
          onPointerDown: (event: PointerEvent) => {
            if (event.pointerType === 'touch') return;
            drag.current = { x: event.clientX, moved: false };
            surface.ref.current!.setPointerCapture(event.pointerId);
          },
          onPointerMove: (event: PointerEvent) => {
            const now = drag.current;
            if (now === null) return;
            const by = event.clientX - now.x;
            if (!now.moved && Math.abs(by) < 4) return;
            drag.current = { x: event.clientX, moved: true };
            move((axis) => pan(axis, by));
          },
          onPointerUp: (event: PointerEvent) => {
            const now = drag.current;
            drag.current = null;
            const span = now?.moved === true ? undefined : spanAt(event);
            if (span) select(span.step);
          },
          onPointerCancel: () => void (drag.current = null),
        }}
      />
      {data.spans.length >= LIMIT && <p class="muted">Only the first {LIMIT.toLocaleString('en-US')} spans are here; choose a smaller range to see all.</p>}
    </>
  );
}

/** Start of all spans in µs and their length in ms. */
function extent({ spans, visible }: Timeline): { start: number; ms: number } {
  let start = Infinity;
  let end = -Infinity;
  for (const span of spans) {
    start = Math.min(start, span.t0_us);
    end = Math.max(end, span.t1_us);
  }
  for (const { t_us } of visible) {
    start = Math.min(start, t_us);
    end = Math.max(end, t_us);
  }
  return end > start ? { start, ms: Math.ceil((end - start) / 1000) } : { start: 0, ms: 1 };
}

const spansTable = (data: Timeline) => ({
  columns: [
    { name: 'actor' }, { name: 'phase' }, { name: 'step', number: true }, { name: 'start, UTC' }, { name: 'length, ms', number: true },
    { name: 'bytes', number: true },
  ],
  rows: data.spans.map((span) => [
    span.actor, span.phase, span.step, new Date(span.t0_us / 1000).toISOString(), (span.t1_us - span.t0_us) / 1000, span.bytes,
  ]),
});

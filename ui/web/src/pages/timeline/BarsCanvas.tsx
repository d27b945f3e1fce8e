import { useRef } from 'preact/hooks';
import type { Bar } from '../../api/types';
import { cellAt, clamp, fit, pan, reveal, zoom, type Axis } from '../../canvas/axis';
import { paintBars } from '../../canvas/barPainter';
import { barsTable } from '../../canvas/barTable';
import { CanvasFrame } from '../../canvas/CanvasFrame';
import { useGestures } from '../../canvas/gestures';
import { useSurface, type Surface } from '../../canvas/surface';
import { milliseconds, safeName } from '../../format';

interface Props {
  runId: string;
  bars: Bar[];
  selected: number | null; // step
  ghostMs: number | null;
  select: (step: number) => void;
  setRange: (range: [number, number]) => void;
}

const BOX = { left: 44, top: 32, right: 12, bottom: 28 };

/** One bar per step. Dragging selects a range of steps. */
export function BarsCanvas({ runId, bars, selected, ghostMs, select, setRange }: Props) {
  const view = useRef<Axis>({ first: 0, cell: 1, size: 0, count: 0 });
  const drag = useRef<{ from: number; to: number } | null>(null);
  const at = bars.findIndex((bar) => bar.step === selected);

  const paint = ({ pen, width, height, colors }: Surface): void => {
    const size = Math.max(1, width - BOX.left - BOX.right);
    if (view.current.size !== size || view.current.count !== bars.length) {
      view.current = fit({ ...view.current, size, count: bars.length });
    }
    const box = { x: BOX.left, y: BOX.top, width: size, height: Math.max(1, height - BOX.top - BOX.bottom) };
    const scene = { bars, axis: view.current, selected: at, ghostMs, labels: true };
    paintBars(pen, box, scene, colors);
    if (drag.current === null) return;
    const [left, right] = [drag.current.from, drag.current.to].sort((a, b) => a - b) as [number, number];
    pen.strokeStyle = colors.accent;
    pen.lineWidth = 1.5;
    pen.strokeRect(left, box.y, right - left, box.height);
  };
  const surface = useSurface(paint);
  const place = (event: MouseEvent): number => event.clientX - surface.ref.current!.getBoundingClientRect().left;
  const barAt = (x: number): Bar | undefined => bars[cellAt(view.current, x - BOX.left)];

  useGestures(surface.ref, {
    wheel: (event, x) => {
      view.current = Math.abs(event.deltaX) > Math.abs(event.deltaY)
        ? pan(view.current, -event.deltaX)
        : zoom(view.current, x - BOX.left, 1.0015 ** -event.deltaY);
      surface.invalidate();
      return true;
    },
    fingers: (dx, _dy, factor, x) => {
      view.current = pan(zoom(view.current, x - BOX.left, factor), dx);
      surface.invalidate();
    },
  });

  const go = (to: number): void => {
    const index = Math.min(bars.length - 1, Math.max(0, to));
    view.current = reveal(clamp(view.current), index);
    select(bars[index]!.step);
  };
  const onPointerUp = (event: PointerEvent): void => {
    const now = drag.current;
    drag.current = null;
    surface.invalidate();
    if (now === null) return;
    const ends = [barAt(now.from), barAt(place(event))];
    if (Math.abs(now.to - now.from) > 8 && ends[0] && ends[1]) {
      setRange([Math.min(ends[0].step, ends[1].step), Math.max(ends[0].step, ends[1].step)]);
    } else if (ends[1]) {
      select(ends[1].step);
    }
  };

  const bar = bars[at];
  return (
    <CanvasFrame
      class="sync-bars" name={`Sync time of ${bars.length} steps`} title={`${safeName(runId)}, sync time per step in seconds`}
      file={`${runId}-sync-bars`} surface={surface} paint={paint} twin={() => barsTable(bars)}
      says={bar === undefined ? 'No step chosen' : `step ${bar.step}, ${bar.actor}, ${milliseconds(bar.total_ms)} in all, ${milliseconds(bar.pause_ms)} paused`}
      onKeyDown={(event) => {
        const keys: Record<string, () => void> = {
          ArrowLeft: () => go(at - 1), ArrowRight: () => go(at + 1), Home: () => go(0), End: () => go(bars.length - 1),
          f: () => void (view.current = fit(view.current)),
          w: () => void (view.current = zoom(view.current, view.current.size / 2, 1.4)),
          s: () => void (view.current = zoom(view.current, view.current.size / 2, 1 / 1.4)),
        };
        const act = keys[event.key];
        if (act === undefined || bars.length === 0 || event.ctrlKey) return;
        event.preventDefault();
        act();
        surface.invalidate();
      }}
      events={{
        onPointerDown: (event: PointerEvent) => {
          if (event.button !== 0 || event.pointerType === 'touch') return;
          drag.current = { from: place(event), to: place(event) };
          surface.ref.current!.setPointerCapture(event.pointerId);
        },
        onPointerMove: (event: PointerEvent) => {
          if (drag.current === null) return;
          drag.current.to = place(event);
          surface.invalidate();
        },
        onPointerUp,
        onPointerCancel: () => void (drag.current = null),
        onClick: (event: MouseEvent) => {
          const touched = (event as PointerEvent).pointerType === 'touch' ? barAt(place(event)) : undefined;
          if (touched) select(touched.step);
        },
      }}
    />
  );
}

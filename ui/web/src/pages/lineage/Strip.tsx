import { useRef } from 'preact/hooks';
import type { LineageRow } from '../../api/types';
import { paintStrip, stripRow } from '../../canvas/stripPainter';
import { useSurface } from '../../canvas/surface';

interface Props {
  rows: LineageRow[];
  from: number; // rows in view
  to: number;
  go: (row: number) => void;
}

/** The whole run at once; dragging moves the list below. */
export function Strip({ rows, from, to, go }: Props) {
  const dragging = useRef(false);
  const surface = useSurface(({ pen, width, colors }) => {
    if (rows.length > 0) paintStrip(pen, width, { rows, from, to }, colors);
  });
  const move = (event: PointerEvent): void => {
    const canvas = surface.ref.current!;
    if (rows.length > 0) go(stripRow(rows.length, canvas.clientWidth, event.clientX - canvas.getBoundingClientRect().left));
  };
  const steps: Record<string, number> = {
    ArrowRight: -1, ArrowLeft: 1, PageUp: 50, PageDown: -50, Home: rows.length, End: -rows.length,
  };
  return (
    <canvas
      ref={surface.ref} class="strip" tabIndex={0} role="slider" aria-label="Position in the run"
      aria-valuemin={0} aria-valuemax={Math.max(0, rows.length - 1)} aria-valuenow={rows.length - 1 - from}
      aria-valuetext={rows[from] === undefined ? '' : `step ${rows[from]!.step}`}
      onKeyDown={(event) => {
        const by = steps[event.key];
        if (by === undefined) return;
        event.preventDefault();
        go(Math.min(rows.length - 1, Math.max(0, Math.round((from + to) / 2) + by)));
      }}
      onPointerDown={(event) => {
        dragging.current = true;
        event.currentTarget.setPointerCapture(event.pointerId);
        move(event);
      }}
      onPointerMove={(event) => dragging.current && move(event)}
      onPointerUp={() => void (dragging.current = false)}
      onPointerCancel={() => void (dragging.current = false)}
    />
  );
}

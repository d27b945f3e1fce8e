// One loop for all canvases of the page: who is dirty is painted in the next animation frame, sharp on any screen.

import { useEffect, useRef } from 'preact/hooks';
import { palette, type Palette } from './palette';

/** What painters use of a canvas; SvgPen offers the same for exports. */
export type Pen = Pick<
  CanvasRenderingContext2D,
  | 'fillStyle' | 'strokeStyle' | 'lineWidth' | 'font' | 'textAlign' | 'textBaseline' | 'globalAlpha'
  | 'imageSmoothingEnabled' | 'save' | 'restore' | 'beginPath' | 'moveTo' | 'lineTo' | 'arc' | 'rect' | 'closePath'
  | 'fill' | 'stroke' | 'clip' | 'fillRect' | 'strokeRect' | 'fillText' | 'measureText' | 'setLineDash' | 'drawImage'
  | 'translate' | 'rotate'
>;

export interface Surface {
  pen: Pen;
  width: number;
  height: number;
  colors: Palette;
}

export type Painter = (surface: Surface) => void;

const dirty = new Set<() => void>();

function paintAll(): void {
  const due = [...dirty];
  dirty.clear();
  for (const paint of due) paint();
}

function schedule(paint: () => void): void {
  if (dirty.size === 0) requestAnimationFrame(paintAll);
  dirty.add(paint);
}

/** Gives a canvas that `paint` fills, and `invalidate` to have it painted again; also done after each render. */
export function useSurface(paint: Painter) {
  const ref = useRef<HTMLCanvasElement>(null);
  const painter = useRef(paint);
  painter.current = paint;
  const colors = palette();

  const job = useRef(() => {
    const canvas = ref.current;
    if (canvas === null) return;
    const scale = window.devicePixelRatio || 1;
    const width = canvas.clientWidth;
    const height = canvas.clientHeight;
    if (width === 0 || height === 0) return;
    if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
      canvas.width = Math.round(width * scale);
      canvas.height = Math.round(height * scale);
    }
    const context = canvas.getContext('2d')!;
    context.setTransform(scale, 0, 0, scale, 0, 0);
    context.clearRect(0, 0, width, height);
    painter.current({ pen: context, width, height, colors: palette() });
  }).current;

  useEffect(() => schedule(job));
  useEffect(() => {
    const observer = new ResizeObserver(() => schedule(job));
    observer.observe(ref.current!);
    return () => {
      observer.disconnect();
      dirty.delete(job);
    };
  }, []);

  return { ref, invalidate: () => schedule(job), colors };
}

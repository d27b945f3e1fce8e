// Wheel and two fingers: events that have to be kept from scrolling the page, which only plain listeners can do.

import type { RefObject } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface Gestures {
  wheel: (event: WheelEvent, x: number, y: number) => boolean; // true: it was used
  /** Two fingers moved by (dx, dy) and spread by `factor` around (x, y). */
  fingers: (dx: number, dy: number, factor: number, x: number, y: number) => void;
}

interface Pair {
  x: number;
  y: number;
  apart: number;
}

function pairOf(event: TouchEvent, box: DOMRect): Pair {
  const [one, two] = [event.touches[0]!, event.touches[1]!];
  return {
    x: (one.clientX + two.clientX) / 2 - box.left,
    y: (one.clientY + two.clientY) / 2 - box.top,
    apart: Math.hypot(one.clientX - two.clientX, one.clientY - two.clientY),
  };
}

export function useGestures(ref: RefObject<HTMLCanvasElement>, gestures: Gestures): void {
  const current = useRef(gestures);
  current.current = gestures;
  useEffect(() => {
    const canvas = ref.current!;
    let last: Pair | null = null;
    const onWheel = (event: WheelEvent): void => {
      const box = canvas.getBoundingClientRect();
      if (current.current.wheel(event, event.clientX - box.left, event.clientY - box.top)) event.preventDefault();
    };
    const onTouch = (event: TouchEvent): void => {
      if (event.touches.length !== 2) return void (last = null);
      event.preventDefault();
      const pair = pairOf(event, canvas.getBoundingClientRect());
      if (last !== null) {
        current.current.fingers(pair.x - last.x, pair.y - last.y, pair.apart / Math.max(1, last.apart), pair.x, pair.y);
      }
      last = pair;
    };
    canvas.addEventListener('wheel', onWheel, { passive: false });
    canvas.addEventListener('touchstart', onTouch, { passive: false });
    canvas.addEventListener('touchmove', onTouch, { passive: false });
    canvas.addEventListener('touchend', onTouch, { passive: false });
    return () => {
      canvas.removeEventListener('wheel', onWheel);
      canvas.removeEventListener('touchstart', onTouch);
      canvas.removeEventListener('touchmove', onTouch);
      canvas.removeEventListener('touchend', onTouch);
    };
  }, []);
}

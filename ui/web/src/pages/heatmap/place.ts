import { detail } from '../../state/store';
import { epoch, view } from '../../state/cursor';

/** "12,34" as `wanted` whole numbers; null if it is anything else. */
export function numbers(text: string | null, wanted: number): number[] | null {
  const parts = text?.split(',') ?? [];
  return parts.length === wanted && parts.every((part) => /^\d{1,15}$/.test(part)) ? parts.map(Number) : null;
}

/** Said where a step has no state before it. */
export const notCompared = 'not compared: nothing stands in front of it';

/** The epoch on screen; null while it is not known which one is the newest. */
export const epochNow = (): number | null => (view.value.epoch !== null || detail.value !== null ? epoch.value : null);

import { runPath } from '../../api/client';
import type { TensorRow, TensorTable } from '../../api/types';
import { epoch, view } from '../../state/cursor';
import { useResource } from '../../state/resource';
import { detail } from '../../state/store';

/** "12,34" as `wanted` whole numbers; null if it is anything else. */
export function numbers(text: string | null, wanted: number): number[] | null {
  const parts = text?.split(',') ?? [];
  return parts.length === wanted && parts.every((part) => /^\d{1,15}$/.test(part)) ? parts.map(Number) : null;
}

/** Said where a step is the first state, or the state before it cannot be told: notices say why. */
export const notCompared = 'not compared with a state in front of it';

/** The epoch on screen; null while it is not known which one is the newest. */
export const epochNow = (): number | null => (view.value.epoch !== null || detail.value !== null ? epoch.value : null);

/** A row of the heatmap; null: it is not known yet. */
export function useTensor(runId: string, epochOf: number | null, id: number): TensorRow | null {
  const { data } = useResource<TensorTable>(epochOf === null ? null : `${runPath(runId, 'tensors')}?epoch=${epochOf}`);
  return data?.tensors.find((row) => row.id === id) ?? null;
}

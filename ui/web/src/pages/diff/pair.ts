import { runPath } from '../../api/client';
import type { TensorTable } from '../../api/types';
import { runPage } from '../../components/Link';
import { navigate } from '../../router';
import { setView, writeView, view } from '../../state/cursor';
import { useResource } from '../../state/resource';

/** Two steps of one run. */
export interface Pair {
  runId: string;
  epoch: number;
  a: number;
  b: number;
}

/** Opens the blocks of a tensor, B against A; does nothing for a tensor that is not in the heatmap. */
export function useOpenBlocks({ runId, epoch, b }: Pair): (name: string) => void {
  const table = useResource<TensorTable>(`${runPath(runId, 'tensors')}?epoch=${epoch}`);
  return (name) => {
    const tensor = table.data?.tensors.find((entry) => entry.name === name);
    if (tensor === undefined) return;
    setView({ b, epoch });
    navigate(runPage(runId, 'heat'), writeView(view.value, `tensor=${tensor.id}&versus=a`));
  };
}

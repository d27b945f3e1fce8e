// Loads the heatmap of one epoch and keeps it current.

import { useEffect, useMemo, useState } from 'preact/hooks';
import { request, runPath } from '../api/client';
import type { HeatIndex, Step, TensorTable } from '../api/types';
import { useResource, type Resource } from '../state/resource';
import { listen } from '../state/store';
import { fromBase64 } from './codes';
import { HeatModel } from './heatModel';
import { parseTile, TileStore, type TileData, type TileKey } from './tiles';

export interface Heat {
  model: HeatModel | null;
  tensors: Resource<TensorTable>;
  index: Resource<HeatIndex>;
  tileError: unknown; // why the last tile did not come
  version: number; // grows with tiles and columns
}

async function loadTile(run: string, epoch: number, rev: number, key: TileKey): Promise<TileData> {
  const parts = [key.agg, key.ly, key.lx, key.ty, key.tx].map(String);
  const answer = await request(`${runPath(run, 'heat', ...parts)}?epoch=${epoch}&rev=${rev}`);
  return parseTile(await answer.arrayBuffer(), answer.headers.get('X-Unknown') === 'mask');
}

/** `epoch` null: not known yet. `onNewest` is called after a new column came. */
export function useHeat(run: string, epoch: number | null, onNewest: (model: HeatModel) => void): Heat {
  const query = epoch === null ? null : `?epoch=${epoch}`;
  const tensors = useResource<TensorTable>(query === null ? null : runPath(run, 'tensors') + query);
  const index = useResource<HeatIndex>(query === null ? null : runPath(run, 'heat') + query);
  const [tileError, setTileError] = useState<unknown>(null);
  const [version, setVersion] = useState(0);

  const model = useMemo(() => {
    const table = tensors.data;
    const heat = index.data;
    if (table === null || heat === null || table.epoch !== epoch || heat.epoch !== epoch) return null;
    const state = { rev: heat.rev };
    const store = new TileStore(table.tensors.length, heat.columns.length, (key) => loadTile(run, heat.epoch, state.rev, key), (error) => {
      setTileError(error);
      setVersion((count) => count + 1);
    });
    return { heat: new HeatModel(table.tensors, heat, store, table.known_columns), state };
  }, [tensors.data, index.data, epoch]);

  useEffect(() => () => model?.heat.store.close(), [model]);
  useEffect(() => {
    if (model === null) return;
    return listen((event) => {
      if (event.topic === 'step' && event.data.run === run && event.data.step.epoch === epoch && event.data.step.kind !== 'gap') {
        model.heat.describe(event.data.step as Step);
        setVersion((count) => count + 1);
      }
      if (event.topic !== 'heat' || event.data.run !== run || event.data.epoch !== epoch) return;
      const { column, step, codes_b64, unknown, rev } = event.data;
      model.state.rev = rev;
      model.heat.store.append(column, fromBase64(codes_b64), unknown);
      const entry = { step, kind: 'delta', state: 'complete', known: !unknown, pause_ms: null, verified: null, damaged: false } as const;
      if (model.heat.append(column, entry)) onNewest(model.heat);
      setVersion((count) => count + 1);
    });
  }, [model, run, epoch]);

  return { model: model?.heat ?? null, tensors, index, tileError, version };
}

// Loads the heatmap of one epoch and keeps it current.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { request, runPath } from '../api/client';
import type { HeatIndex, Step, TensorTable } from '../api/types';
import { useResource, type Resource } from '../state/resource';
import { listen } from '../state/store';
import { fromBase64 } from './codes';
import { HeatModel } from './heatModel';
import { parseTile, TileStore, type TileData, type TileKey } from './tiles';

export interface Heat {
  model: HeatModel | null;
  rev: number; // grows with what the server knows
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

/**
 * `epoch` null: not known yet. `onNewest` is called after a new column came. Events say which columns are new or others,
 * not which are gone: where they do not fit the columns that are known, the index is asked for again.
 */
export function useHeat(run: string, epoch: number | null, onNewest: (model: HeatModel) => void): Heat {
  const query = epoch === null ? null : `?epoch=${epoch}`;
  const tensors = useResource<TensorTable>(query === null ? null : runPath(run, 'tensors') + query, ['heat'], run);
  const index = useResource<HeatIndex>(query === null ? null : runPath(run, 'heat') + query);
  const [tileError, setTileError] = useState<unknown>(null);
  const [version, setVersion] = useState(0);
  const missed = useRef(0); // revision of the last event that did not fit
  const last = useRef<{ run: string; epoch: number; model: HeatModel } | null>(null);

  const table = tensors.data?.epoch === epoch ? tensors.data : null;
  const heat = index.data?.epoch === epoch && index.data.rows === table?.tensors.length ? index.data : null;
  const model = useMemo(() => {
    if (table === null || heat === null) return null;
    const state = { rev: heat.rev };
    const store = new TileStore(heat.rows, heat.columns.length, (key) => loadTile(run, heat.epoch, state.rev, key), (error) => {
      setTileError(error);
      setVersion((count) => count + 1);
    });
    const made = new HeatModel(table, heat, store);
    const old = last.current?.run === run && last.current.epoch === heat.epoch ? last.current.model : null;
    if (old !== null) made.showAs(old);
    if (old !== null && (old.columns.at(-1)?.step ?? -1) < (made.columns.at(-1)?.step ?? -1)) onNewest(made);
    last.current = { run, epoch: heat.epoch, model: made };
    return { heat: made, state };
  }, [heat, table === null]);

  useEffect(() => () => model?.heat.store.close(), [model]);
  useEffect(() => {
    if (model === null || table === null) return;
    model.heat.count(table);
    setVersion((count) => count + 1);
  }, [model, table]);
  useEffect(() => {
    if (model === null) return;
    let fits = true;
    const askAgain = (rev: number): void => {
      missed.current = Math.max(missed.current, rev);
      if (fits) index.retry();
      fits = false;
    };
    const behind = model.state.rev < missed.current;
    missed.current = 0;
    if (behind) askAgain(0);
    return listen((event) => {
      if (event.topic === 'step' && event.data.run === run && event.data.step.epoch === epoch) {
        if (model.heat.hasLost(event.data.step)) askAgain(0);
        if (event.data.step.kind !== 'gap') model.heat.describe(event.data.step as Step);
        setVersion((count) => count + 1);
      }
      if (event.topic !== 'heat' || event.data.run !== run || event.data.epoch !== epoch) return;
      const { column, step, codes_b64, unknown, rev } = event.data;
      if (rev < model.state.rev) return;
      if (!fits || !model.heat.fits(column, step)) return askAgain(rev);
      model.state.rev = rev;
      model.heat.store.append(column, fromBase64(codes_b64), unknown);
      const entry = { step, kind: 'delta', state: 'complete', known: !unknown, pause_ms: null, verified: null, damaged: false } as const;
      if (model.heat.append(column, entry)) onNewest(model.heat);
      setVersion((count) => count + 1);
    });
  }, [model, run, epoch]);

  return { model: model?.heat ?? null, rev: model?.state.rev ?? 0, tensors, index, tileError, version };
}

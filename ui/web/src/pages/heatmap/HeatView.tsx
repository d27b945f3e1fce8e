import { useEffect, useMemo, useState } from 'preact/hooks';
import { ApiError } from '../../api/client';
import { setPageParameters } from '../../canvas/address';
import { HeatCanvas } from '../../canvas/HeatCanvas';
import type { Spot } from '../../canvas/heatModel';
import { useHeat } from '../../canvas/heatSource';
import type { RowSort } from '../../canvas/rows';
import { scale } from '../../canvas/scale';
import { tensorFilter } from '../../canvas/tensorFilter';
import { EmptyState, RequestError, Skeleton, StaleBadge } from '../../components/states';
import { follow, newest, setA, setB, setRange, setView, stepA, stepB, view } from '../../state/cursor';
import { alerts, detail } from '../../state/store';
import { flagsOf } from '../journal/names';
import { CellLine } from './CellLine';
import { HeatTools } from './HeatTools';
import { epochNow } from './place';
import { cellsTable, rowsTable } from './tables';

/** Which tensors changed at which step. */
export function HeatView({ runId }: { runId: string }) {
  const epoch = epochNow();
  const [sort, setSort] = useState<RowSort>('model');
  const [filter, setFilter] = useState('');
  const [hover, setHover] = useState<Spot | null>(null);
  const [, setMoves] = useState(0);
  const heat = useHeat(runId, epoch, (changed) => follow.peek() && changed.showNewest());
  const { model } = heat;
  const steps = model?.columns.length ?? 0;
  const filterError = useMemo(() => tensorFilter(filter, steps).error, [filter, steps]);

  const range = view.value.range;
  useEffect(() => {
    if (model !== null && range !== null) model.showSteps(range[0], range[1]);
  }, [model, range?.[0], range?.[1]]);

  const failed = heat.tensors.error ?? heat.index.error ?? (heat.tileError instanceof ApiError ? heat.tileError : null);
  const retry = (): void => {
    model?.store.retry();
    if (heat.tensors.error) heat.tensors.retry();
    else heat.index.retry();
  };
  const error = failed && <RequestError error={failed} retry={retry} />;
  if (model === null) return <div class="heat-page">{error ?? <Skeleton rows={12} />}</div>;
  if (model.tensors.length === 0 || model.columns.length === 0) {
    return (
      <EmptyState title="No changes per tensor yet">
        <p>The heatmap fills as soon as the deltas of this run have been read. Nothing has to be switched on.</p>
      </EmptyState>
    );
  }
  model.setOptions({ sort, filter: filterError === null ? filter : '' });

  const marks = {
    b: model.columnOf(stepB.value), a: model.columnOf(stepA.value),
    flags: flagsOf(detail.value?.id === runId ? detail.value.refs : [], epoch ?? newest.value?.epoch ?? 0),
    alerts: new Set(alerts.value?.alerts.filter((a) => a.run === runId && a.step !== null).map((a) => a.step!)),
  };
  const toggleFollow = (): void => setB(follow.value ? stepB.value : null);
  const matches = model.rows.length === 0;
  return (
    <div class="heat-page">
      {error}
      <HeatCanvas
        model={model} marks={marks} title={`${runId}, changed share per tensor and step, epoch ${epoch}, log scale`}
        file={`${runId}-heatmap`} toggleFollow={toggleFollow}
        setA={setA} setB={(step) => setView({ b: step, epoch })} setRange={(from, to) => setRange([from, to])}
        onSpot={(spot, how) => (how === 'hover' ? setHover(spot) : setMoves((count) => count + 1))}
        open={(tensor, step) => {
          setView({ b: step, epoch });
          setPageParameters({ tensor: tensor.id });
        }}
        twin={() => rowsTable(model, marks.b, scale.value.agg)} csv={() => cellsTable(model, scale.value.agg)}
        tools={
          <HeatTools
            sort={sort} setSort={setSort} filter={filter} setFilter={setFilter} filterError={filterError}
            follow={follow.value} toggleFollow={toggleFollow}
          />
        }
      />
      {matches && <p class="muted">No tensor matches the filter.</p>}
      <CellLine runId={runId} epoch={epoch!} rev={heat.rev} model={model} spot={hover ?? model.cursor} />
      <StaleBadge />
    </div>
  );
}

import { useEffect, useState } from 'preact/hooks';
import { get, runPath } from '../../api/client';
import type { HeatCell } from '../../api/types';
import { codeText } from '../../canvas/heatFrame';
import type { HeatModel, Spot } from '../../canvas/heatModel';
import { scale } from '../../canvas/scale';
import { Name } from '../../components/Name';
import { exact, percent, shape } from '../../format';

const RESTING = 120; // ms before the exact count is asked for

interface Props {
  runId: string;
  epoch: number;
  rev: number;
  model: HeatModel;
  spot: Spot | null;
}

/** One line about a cell: from its code at once, exact once the server has answered. */
export function CellLine({ runId, epoch, rev, model, spot }: Props) {
  const tensor = spot === null ? null : model.tensorAt(spot);
  const answer = useCell(runId, epoch, rev, tensor?.id ?? null, spot?.column ?? null);
  if (spot === null || model.rows[spot.row] === undefined) {
    return <p class="cell-line muted">Click a cell or use the arrow keys; Enter opens the blocks of a tensor, 1 and 2 set A and B.</p>;
  }
  const step = model.columns[spot.column]!.step;
  const cell = answer?.step === step ? answer : null; // the server may know of other columns by now
  return (
    <p class="cell-line">
      <strong><Name text={tensor?.name ?? model.rows[spot.row]!.label} /></strong>
      <span>step {step}</span>
      <span>
        <strong>{cell ? percent(cell.changed === null ? null : cell.changed / cell.total) : codeText(model.code(spot, scale.value.agg))}</strong>
        {tensor === null && ' at most in one tensor'}
        {cell && cell.changed !== null && <span class="muted"> {exact(cell.changed)} of {exact(cell.total)}</span>}
      </span>
      {tensor && <span class="muted">{tensor.dtype}, {shape(tensor.shape)}</span>}
      <span class="muted cell-end">Enter opens blocks, 1 and 2 set A and B</span>
    </p>
  );
}

function useCell(runId: string, epoch: number, rev: number, row: number | null, column: number | null): HeatCell | null {
  const [cell, setCell] = useState<{ key: string; cell: HeatCell } | null>(null);
  const key = `${rev}/${row}/${column}`;
  useEffect(() => {
    if (row === null || column === null) return;
    const abort = new AbortController();
    const path = `${runPath(runId, 'heat', 'cell')}?epoch=${epoch}&row=${row}&column=${column}`;
    const timer = setTimeout(() => {
      get<HeatCell>(path, abort.signal).then((answer) => setCell({ key, cell: answer }), () => undefined);
    }, RESTING);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [runId, epoch, key]);
  return cell?.key === key ? cell.cell : null;
}

// The heatmap as tables: a row per tensor to read, a row per cell to export.

import { SHARES } from '../../canvas/codes';
import type { Twin } from '../../canvas/export';
import type { HeatModel } from '../../canvas/heatModel';
import { meanShare } from '../../canvas/tensorFilter';
import type { Agg } from '../../canvas/tiles';
import { shape } from '../../format';

const share = (code: number | null): number | null => (code === null ? null : Number(SHARES[code]!.toPrecision(3)));

/** The tensors of the rows in view order; groups stand for all their tensors. */
function tensorRows(model: HeatModel): number[] {
  return model.rows.flatMap((row) =>
    row.kind === 'head' ? [] : Array.from({ length: row.count }, (_, i) => row.first + i),
  );
}

/** Asks for the tiles of a column that are not here; nobody else does while the table stands in place of the picture. */
function want({ store }: HeatModel, tensors: readonly number[], column: number, agg: Agg): void {
  store.begin();
  for (const at of tensors) store.find(agg, 0, 0, at, column >> 8);
  store.end();
}

export function rowsTable(model: HeatModel, column: number, agg: Agg): Twin {
  const step = model.columns[column]?.step;
  const tensors = tensorRows(model);
  if (column >= 0) want(model, tensors, column, agg);
  return {
    columns: [
      { name: 'tensor' }, { name: 'dtype' }, { name: 'shape' }, { name: 'elements', number: true },
      { name: `changed share at ${step ?? 'B'}`, number: true, share: true }, { name: 'mean share per step', number: true, share: true },
      { name: 'last changed', number: true },
    ],
    rows: tensors.map((at) => {
      const tensor = model.tensors[at]!;
      const code = column < 0 ? null : model.store.code(agg, at, column);
      const mean = meanShare(tensor, model.known);
      const shown = mean === null ? null : Number(mean.toPrecision(3));
      return [tensor.name, tensor.dtype, shape(tensor.shape), tensor.elements, share(code), shown, tensor.last_changed];
    }),
  };
}

/** All cells of the columns in view whose tiles are here. */
export function cellsTable(model: HeatModel, agg: Agg): Twin {
  const { first, size, cell } = model.axis;
  const from = Math.floor(first);
  const columns = model.columns.slice(from, Math.ceil(first + size / cell));
  return {
    columns: [{ name: 'tensor' }, { name: 'step', number: true }, { name: 'changed_frac', number: true }],
    rows: tensorRows(model).flatMap((at) =>
      columns.map((column, i) => [model.tensors[at]!.name, column.step, share(model.store.code(agg, at, from + i))]),
    ),
  };
}

// Keys of the heatmap while it has the focus.

import { zoom } from './axis';
import type { HeatModel } from './heatModel';
import type { Agg } from './tiles';

const ZOOM = 1.4;
const ARROWS: Record<string, [dx: number, dy: 1 | -1 | 0]> = {
  ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1],
};

/** Acts that are no business of the model. */
export interface HeatActs {
  setA: (step: number) => void;
  setB: (step: number) => void;
  open: () => void; // the tensor of the cursor
  toggleFollow: () => void;
}

/** True: the key was ours. */
export function heatKey(event: KeyboardEvent, model: HeatModel, agg: Agg, acts: HeatActs): boolean {
  if (event.altKey || event.metaKey) return false;
  const arrow = ARROWS[event.key];
  if (arrow !== undefined) {
    const [dx, dy] = arrow;
    if (event.ctrlKey) model.moveToOther(dx, dy, agg);
    else if (dy === 0) model.moveColumn(dx);
    else model.moveRow(dy);
    return true;
  }
  if (event.ctrlKey) return false;
  const middle = model.axis.size / 2;
  const step = model.cursor === null ? null : model.columns[model.cursor.column]!.step;
  const row = model.cursor?.row ?? -1;
  const keys: Record<string, () => void> = {
    Home: () => model.moveColumn(-model.columns.length),
    End: () => model.moveColumn(model.columns.length),
    PageUp: () => model.scrollBy(-model.height * 0.9),
    PageDown: () => model.scrollBy(model.height * 0.9),
    Enter: () => (model.rows[row]?.kind === 'head' ? model.toggle(row, false) : acts.open()),
    '+': () => model.toggle(row, true),
    '-': () => model.toggle(row, false),
    '1': () => step !== null && acts.setA(step),
    '2': () => step !== null && acts.setB(step),
    w: () => void (model.axis = zoom(model.axis, middle, ZOOM)),
    s: () => void (model.axis = zoom(model.axis, middle, 1 / ZOOM)),
    a: () => model.panBy(middle / 2),
    d: () => model.panBy(-middle / 2),
    q: () => model.setScale(model.scale / ZOOM, model.height / 2),
    e: () => model.setScale(model.scale * ZOOM, model.height / 2),
    f: () => {
      model.fitSteps();
      model.fitRows();
    },
    Escape: () => void (model.cursor = null),
    ' ': acts.toggleFollow,
  };
  const act = keys[event.key.length === 1 ? event.key.toLowerCase() : event.key];
  act?.();
  return act !== undefined;
}

import { useMemo } from 'preact/hooks';
import { runPage } from '../components/Link';
import { EmptyState, RequestError, Skeleton } from '../components/states';
import { percent, safeName } from '../format';
import { navigate } from '../router';
import { setView, stepB, viewQuery } from '../state/cursor';
import { tickStep } from './axis';
import { CanvasFrame } from './CanvasFrame';
import { CellPicture } from './cells';
import { colorAt, heatTable, parseColor } from './colors';
import type { Twin } from './export';
import type { HeatModel } from './heatModel';
import { useHeat } from './heatSource';
import { palette } from './palette';
import { cut, diamond, font, hatch, text } from './pen';
import { scale } from './scale';
import { shareText } from './codes';
import { useSurface, type Surface } from './surface';

const STEPS = 300;
const BOX = { left: 74, right: 88, top: 20, bottom: 22 };

interface Props {
  runId: string;
  epoch: number;
}

/** Layers by the last steps, for the page Live: the element-weighted mean of each layer. A click opens the heatmap. */
export default function MiniHeatmap({ runId, epoch }: Props) {
  const { model, tensors, index, version } = useHeat(runId, epoch, () => undefined);
  const error = tensors.error ?? index.error;
  if (model === null) {
    return error ? <RequestError error={error} retry={tensors.error ? tensors.retry : index.retry} /> : <Skeleton rows={6} />;
  }
  if (model.tensors.length === 0 || model.columns.length === 0) {
    return <EmptyState title="No changes per tensor yet"><p>They appear once the first deltas have been read.</p></EmptyState>;
  }
  return <Mini runId={runId} model={model} version={version} />;
}

interface Layer {
  label: string;
  first: number;
  count: number;
}

/** Groups of the tensors in model order; tensors outside of layers stand alone. */
function layersOf(model: HeatModel): Layer[] {
  return model.rows.filter((row) => row.depth === 0).map(({ label, first, count }) => ({ label, first, count }));
}

/** Mean share of a layer over the steps that are known. */
function meanOf({ changedBefore, elementsBefore, known }: HeatModel, { first, count }: Layer): number {
  const elements = (elementsBefore[first + count]! - elementsBefore[first]!) * known;
  return elements === 0 ? 0 : (changedBefore[first + count]! - changedBefore[first]!) / elements;
}

function Mini({ runId, model }: { runId: string; model: HeatModel; version: number }) {
  const { map, window: shown } = scale.value;
  const { zero } = palette();
  const table = useMemo(() => heatTable(map, shown, parseColor(zero)), [map, shown, zero]);
  const picture = useMemo(() => new CellPicture(), []);
  const layers = useMemo(() => layersOf(model), [model]);
  const from = Math.max(0, model.columns.length - STEPS);
  const count = model.columns.length - from;
  const means = useMemo(() => layers.map((layer) => meanOf(model, layer)), [layers, model]);

  const paint = ({ pen, width, height, colors }: Surface): void => {
    const box = { x: BOX.left, y: BOX.top, width: Math.max(1, width - BOX.left - BOX.right), height: height - BOX.top - BOX.bottom };
    pen.strokeStyle = colors.other;
    pen.globalAlpha = 0.4;
    pen.lineWidth = 1;
    hatch(pen, box.x, box.y, box.width, box.height, 6);
    pen.globalAlpha = 1;
    model.store.begin();
    picture.begin(0, from, from + count, layers.length);
    const cells = { store: model.store, agg: 'mean' as const, table, elementsBefore: model.elementsBefore };
    layers.forEach((layer, y) => picture.line(y, cells, layer.first, layer.count));
    picture.end(layers.length);
    model.store.end();
    pen.imageSmoothingEnabled = false;
    pen.drawImage(picture.canvas, 0, 0, count, layers.length, box.x, box.y, box.width, box.height);

    const each = { x: box.width / count, y: box.height / layers.length };
    pen.font = font(colors, 11, 500);
    pen.fillStyle = colors.muted;
    const every = Math.max(1, Math.ceil(14 / each.y), Math.ceil(layers.length / 5));
    for (let at = 0; at < layers.length; at += every) {
      text(pen, cut(pen, safeName(layers[at]!.label), BOX.left - 10), box.x - 8, box.y + (at + 0.5) * each.y, 'right');
    }
    const most = Math.max(...means, 1e-9);
    pen.fillStyle = colors.other;
    means.forEach((mean, at) => pen.fillRect(box.x + box.width + 10, box.y + at * each.y, (mean / most) * 70, Math.max(1, each.y - 1)));

    const step = tickStep(each.x, 100);
    for (let at = 0; at < count; at += 1) {
      const column = model.columns[from + at]!;
      const x = box.x + (at + 0.5) * each.x;
      pen.fillStyle = colors.muted;
      if (column.kind === 'anchor' && each.x > 0.8) diamond(pen, x, box.y + box.height + 5, 2.5);
      if (column.step % step === 0) text(pen, String(column.step), Math.max(x, box.x + 14), box.y + box.height + 15, 'center');
    }
    paintKey(pen, box.x + box.width);

    function paintKey(surface: Surface['pen'], right: number): void {
      const left = right - 200;
      for (let i = 0; i < 130; i += 1) {
        surface.fillStyle = colorAt(map, i / 129);
        surface.fillRect(left + i, 4, 1.5, 8);
      }
      surface.fillStyle = colors.muted;
      text(surface, shareText(shown.lo), left - 6, 8, 'right');
      text(surface, shareText(shown.hi), left + 136, 8);
    }
  };
  const surface = useSurface(paint);
  const open = (): void => navigate(runPage(runId, 'heat'), viewQuery.value);

  const b = model.columnOf(stepB.value);
  const hottest = means.indexOf(Math.max(...means));
  return (
    <CanvasFrame
      compact class="mini-heat" name={`Heatmap, ${layers.length} layers by ${count} steps`} file={`${runId}-layers`}
      title={`${safeName(runId)}, changed share per layer and step, element-weighted mean, log scale`}
      says={`most changed: ${layers[hottest]?.label ?? ''}, ${percent(means[hottest])} per step${b < 0 ? '' : `; at step ${stepB.value}`}`}
      surface={surface} paint={paint} twin={() => layerTable(layers, means)}
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return;
        event.preventDefault();
        open();
      }}
      events={{
        onClick: (event: MouseEvent) => {
          const canvas = surface.ref.current!;
          const x = event.clientX - canvas.getBoundingClientRect().left - BOX.left;
          const column = model.columns[from + Math.floor((x / (canvas.clientWidth - BOX.left - BOX.right)) * count)];
          if (x >= 0 && column) setView({ b: column.step });
          open();
        },
      }}
    />
  );
}

function layerTable(layers: Layer[], means: number[]): Twin {
  return {
    columns: [{ name: 'layer' }, { name: 'tensors', number: true }, { name: 'mean share per step', number: true }],
    rows: layers.map((layer, i) => [layer.label, layer.count, Number(means[i]!.toPrecision(3))]),
  };
}

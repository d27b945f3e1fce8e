import type { ComponentChildren } from 'preact';
import { useMemo, useRef } from 'preact/hooks';
import type { TensorRow } from '../api/types';
import { zoom } from './axis';
import { CanvasFrame } from './CanvasFrame';
import { CellPicture } from './cells';
import { heatTable, parseColor } from './colors';
import type { Twin } from './export';
import { useGestures } from './gestures';
import { paintFlags } from './heatFlags';
import { codeText, paintGutter, paintLanes, paintLegend, paintOverview, paintSteps, paintTree, type Marks } from './heatFrame';
import { heatKey } from './heatKeys';
import { heatLayout, inside, type HeatLayout } from './heatLayout';
import type { HeatModel, Spot } from './heatModel';
import { paintCells, paintColumn, paintCrosshair, paintCursor } from './heatPainter';
import { palette } from './palette';
import { rowAt } from './rows';
import { scale, scaleLocked } from './scale';
import { useSurface, type Surface } from './surface';

interface Props {
  model: HeatModel;
  marks: Marks;
  title: string;
  file: string;
  tools?: ComponentChildren;
  twin: () => Twin;
  csv: () => Twin;
  onSpot: (spot: Spot | null, how: 'hover' | 'cursor') => void;
  setA: (step: number) => void;
  setB: (step: number) => void;
  setRange: (from: number, to: number) => void;
  toggleFollow: () => void;
  open: (tensor: TensorRow, step: number) => void;
}

type Drag = { kind: 'pan' | 'overview' | 'range' | 'legend'; x: number; y: number; moved: boolean; from: number };

const WHEEL = 1.0015; // per unit of the wheel

/** Rows by steps. The model is changed in place and painted again; only the cursor makes components render. */
export function HeatCanvas(props: Props) {
  const { model, marks } = props;
  const { map, window: shown, agg } = scale.value;
  const { zero } = palette();
  const table = useMemo(() => heatTable(map, shown, parseColor(zero)), [map, shown, zero]);
  const picture = useMemo(() => new CellPicture(), []);
  const hover = useRef<{ x: number; y: number } | null>(null);
  const drag = useRef<Drag | null>(null);

  const paint = ({ pen, width, height, colors }: Surface): void => {
    const at = heatLayout(width, height);
    model.resize(at.plot.width, at.plot.height);
    model.store.begin();
    paintOverview(pen, at.overview, model, table, colors);
    paintCells(pen, at.plot, model, { store: model.store, agg, table, elementsBefore: model.elementsBefore }, picture, colors);
    paintTree(pen, at.tree, model, colors);
    paintLanes(pen, at.lanes, model, marks, colors);
    paintSteps(pen, at.steps, model, marks, colors);
    if (at.gutter !== null) paintGutter(pen, at.gutter, model, colors);
    paintLegend(pen, at.legend, map, shown, colors);
    paintColumn(pen, at.plot, model, marks.a, colors, true);
    paintColumn(pen, at.plot, model, marks.b, colors, false);
    paintFlags(pen, at.plot, model, marks.flags, colors);
    paintCursor(pen, at.plot, model, colors);
    if (hover.current !== null) paintCrosshair(pen, at.plot, hover.current, colors);
    model.store.end();
  };

  const surface = useSurface(paint);
  const place = (event: MouseEvent): { x: number; y: number; at: HeatLayout } => {
    const canvas = surface.ref.current!;
    const box = canvas.getBoundingClientRect();
    return { x: event.clientX - box.left, y: event.clientY - box.top, at: heatLayout(canvas.clientWidth, canvas.clientHeight) };
  };
  const spotAt = (at: HeatLayout, x: number, y: number): Spot | null => {
    const column = Math.floor(model.axis.first + (x - at.plot.x) / model.axis.cell);
    return inside(at.plot, x, y) && column < model.columns.length ? model.spotAt(column, y - at.plot.y) : null;
  };
  const moved = (): void => {
    props.onSpot(model.cursor, 'cursor');
    surface.invalidate();
  };
  const openCursor = (): void => {
    const tensor = model.cursor === null ? null : model.tensorAt(model.cursor);
    if (tensor !== null) props.open(tensor, model.columns[model.cursor!.column]!.step);
  };

  useGestures(surface.ref, {
    wheel: (event, x, y) => {
      const at = layoutOf(surface.ref.current!);
      if (inside(at.tree, x, y)) model.scrollBy(event.deltaY);
      else if (!inside(at.plot, x, y)) return false;
      else if (Math.abs(event.deltaX) > Math.abs(event.deltaY) && !event.shiftKey) model.panBy(-event.deltaX);
      else {
        const factor = WHEEL ** -(event.deltaY || event.deltaX);
        if (!event.shiftKey) model.axis = zoom(model.axis, x - at.plot.x, factor);
        if (event.shiftKey || event.ctrlKey) model.setScale(model.scale * factor, y - at.plot.y);
      }
      surface.invalidate();
      return true;
    },
    fingers: (dx, dy, factor, x) => {
      const at = layoutOf(surface.ref.current!);
      model.axis = zoom(model.axis, x - at.plot.x, factor);
      model.panBy(dx);
      model.scrollBy(-dy);
      surface.invalidate();
    },
  });

  const moveOverview = (at: HeatLayout, x: number): void => {
    const cell = ((x - at.overview.x) / at.overview.width) * model.axis.count;
    model.panBy((model.axis.first - cell) * model.axis.cell + model.axis.size / 2);
  };
  const moveLegend = (at: HeatLayout, y: number): void => {
    const part = 1 - (y - at.legend.y) / at.legend.height;
    const value = Math.min(1, Math.max(1e-6, shown.lo * (shown.hi / shown.lo) ** part));
    const end = part > 0.5 ? { lo: shown.lo, hi: Math.max(value, shown.lo * 3) } : { hi: shown.hi, lo: Math.min(value, shown.hi / 3) };
    scale.value = { ...scale.value, window: end };
  };

  const onPointerDown = (event: PointerEvent): void => {
    if (event.button > 1 || event.pointerType === 'touch') return;
    const { x, y, at } = place(event);
    const kind = inside(at.overview, x, y) ? 'overview'
      : inside(at.legend, x, y) && !scaleLocked.value ? 'legend'
      : !inside(at.plot, x, y) ? null : event.shiftKey ? 'range' : 'pan';
    if (kind === null) return;
    drag.current = { kind, x, y, moved: false, from: spotAt(at, x, y)?.column ?? -1 };
    surface.ref.current!.setPointerCapture(event.pointerId);
    if (kind === 'overview') moveOverview(at, x);
    surface.invalidate();
  };
  const onPointerMove = (event: PointerEvent): void => {
    const { x, y, at } = place(event);
    const now = drag.current;
    if (now === null) {
      hover.current = { x, y };
      props.onSpot(spotAt(at, x, y), 'hover');
    } else {
      now.moved ||= Math.abs(x - now.x) + Math.abs(y - now.y) > 3;
      if (now.kind === 'overview') moveOverview(at, x);
      else if (now.kind === 'legend') moveLegend(at, y);
      else if (now.kind === 'pan' && now.moved) {
        model.panBy(x - now.x);
        model.scrollBy(now.y - y);
        drag.current = { ...now, x, y };
      }
    }
    surface.invalidate();
  };
  const onPointerUp = (event: PointerEvent): void => {
    const now = drag.current;
    const { x, y, at } = place(event);
    const spot = spotAt(at, x, y);
    drag.current = null;
    if (now?.kind === 'range' && now.moved && spot !== null && now.from >= 0) {
      const ends = [now.from, spot.column].sort((a, b) => a - b);
      props.setRange(model.columns[ends[0]!]!.step, model.columns[ends[1]!]!.step);
    } else if (inside(at.tree, x, y)) {
      model.toggle(rowAt(model.tops, y - at.tree.y + model.scroll));
      moved();
    } else if (spot !== null && now?.moved !== true) {
      model.place(spot);
      const step = model.columns[spot.column]!.step;
      if (event.shiftKey) props.setA(step);
      else props.setB(step);
      moved();
    }
  };

  const spot = model.cursor;
  const row = spot === null ? undefined : model.rows[spot.row];
  const says = spot === null || row === undefined ? 'No cell chosen; the arrow keys move the cursor'
    : `${model.tensorAt(spot)?.name ?? row.label}, step ${model.columns[spot.column]!.step}, ${codeText(model.code(spot, agg))} changed`;

  return (
    <CanvasFrame
      class="heat" name={`Heatmap, ${model.tensors.length} tensors by ${model.columns.length} steps`} title={props.title}
      file={props.file} says={says} surface={surface} paint={paint} twin={props.twin} csv={props.csv} tools={props.tools}
      onKeyDown={(event) => {
        const acts = { setA: props.setA, setB: props.setB, open: openCursor, toggleFollow: props.toggleFollow };
        if (!heatKey(event, model, agg, acts)) return;
        event.preventDefault();
        event.stopPropagation();
        moved();
      }}
      events={{
        onPointerDown, onPointerMove, onPointerUp, onDblClick: openCursor,
        onPointerLeave: () => {
          hover.current = null;
          props.onSpot(null, 'hover');
          surface.invalidate();
        },
      }}
    />
  );
}

const layoutOf = (canvas: HTMLCanvasElement): HeatLayout => heatLayout(canvas.clientWidth, canvas.clientHeight);

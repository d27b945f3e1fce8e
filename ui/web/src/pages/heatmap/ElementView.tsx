import { useMemo, useState } from 'preact/hooks';
import { runPath } from '../../api/client';
import type { BlockHeader, ElementWindow } from '../../api/types';
import { pageParameter, setPageParameters } from '../../canvas/address';
import { ElementCanvas } from '../../canvas/ElementCanvas';
import { elementsOf, toTsv, type Element } from '../../canvas/elements';
import { useRoom } from '../../canvas/room';
import { Icon } from '../../components/Icon';
import { Reads } from '../../components/Reads';
import { copyText, Loaded } from '../../components/states';
import { Table, type Column } from '../../components/Table';
import { toast } from '../../components/Toast';
import { exact, plural, unknown } from '../../format';
import { stepA, stepB } from '../../state/cursor';
import { between, useResource, type Resource } from '../../state/resource';
import { epochNow, notCompared, useTensor } from './place';
import { Trail } from './Trail';
import { value } from './values';

const SIDE = 64; // elements per side of the window

const COLUMNS: Column<Element>[] = [
  { id: 'index', head: 'index', cell: (e) => exact(e.index), key: (e) => e.index, number: true, narrow: true },
  { id: 'row', head: 'row', cell: (e) => e.row, key: (e) => e.row, number: true },
  { id: 'col', head: 'column', cell: (e) => e.col, key: (e) => e.col, number: true },
  { id: 'old-bits', head: 'old bits', cell: (e) => <code>{e.oldBits ?? unknown}</code>, narrow: true },
  { id: 'new-bits', head: 'new bits', cell: (e) => <code>{e.newBits}</code>, narrow: true },
  { id: 'old', head: 'old value', cell: (e) => value(e.oldValue), key: (e) => e.oldValue, number: true },
  { id: 'new', head: 'new value', cell: (e) => value(e.newValue), key: (e) => e.newValue, number: true },
  { id: 'delta', head: 'Δ', cell: (e) => (e.changed || e.oldBits === null ? value(e.delta) : ''), key: (e) => e.delta && Math.abs(e.delta), number: true },
  { id: 'ulps', head: 'ULP', cell: (e) => (e.changed || e.oldBits === null ? (e.ulps ?? unknown) : ''), key: (e) => e.ulps, number: true },
];

interface Props {
  runId: string;
  tensor: number;
  row: number;
  column: number;
}

/** Old and new bits of the elements of a window. */
export function ElementView({ runId, tensor, row, column }: Props) {
  const epoch = epochNow();
  const step = stepB.value;
  const a = pageParameter('versus') === 'a' ? stepA.value : null;
  const [onlyChanged, setOnlyChanged] = useState(false);
  const path = epoch === null || step === null ? null
    : `${runPath(runId, 'steps', `${epoch}:${step}`, 'tensors', String(tensor), 'elements')}` +
      `?row=${row}&col=${column}&rows=${SIDE}&cols=${SIDE}${a === null ? '' : `&a=${a}`}`;
  const window: Resource<ElementWindow> =
    useResource(path, ['step'], (event) => between(event, runId, epoch, a ?? window.data?.a ?? null, step));
  const known = useTensor(runId, epoch, tensor);
  const size = known === null ? null : matrixOf(known.shape);

  return (
    <div class="heat-page" onKeyDown={(event) => event.key === 'Backspace' && !isField(event.target) && setPageParameters({ at: null })}>
      <Trail tensor={window.data?.tensor ?? known?.name ?? null} elements={`rows from ${exact(row)}, columns from ${exact(column)}`} />
      <Loaded from={window} rows={12}>
        {(data) => <Elements data={data} size={size} onlyChanged={onlyChanged} setOnlyChanged={setOnlyChanged} />}
      </Loaded>
    </div>
  );
}

const isField = (target: EventTarget | null): boolean => target instanceof HTMLInputElement;

/** A tensor as a matrix: all dimensions but the last are rows. */
function matrixOf(shape: number[]): Pick<BlockHeader, 'rows' | 'cols'> {
  return { rows: shape.slice(0, -1).reduce((product, n) => product * n, 1), cols: shape.at(-1) ?? 1 };
}

interface ElementsProps {
  data: ElementWindow;
  size: { rows: number; cols: number } | null;
  onlyChanged: boolean;
  setOnlyChanged: (on: boolean) => void;
}

function Elements({ data, size, onlyChanged, setOnlyChanged }: ElementsProps) {
  const elements = useMemo(() => elementsOf(data, size?.cols ?? data.cols), [data, size?.cols]);
  const room = useRoom(260);
  const changed = elements.filter((element) => element.changed);
  const shown = onlyChanged && data.a !== null ? changed : elements;
  const go = (rows: number, cols: number) => () =>
    setPageParameters({ at: `${Math.max(0, data.row + rows * SIDE)},${Math.max(0, data.col + cols * SIDE)}` });
  return (
    <>
      <div class="canvas-tools">
        <Move label="Rows above" icon="left" off={data.row === 0} act={go(-1, 0)} turned />
        <Move label="Rows below" icon="right" off={size !== null && data.row + data.rows >= size.rows} act={go(1, 0)} turned />
        <Move label="Columns to the left" icon="left" off={data.col === 0} act={go(0, -1)} />
        <Move label="Columns to the right" icon="right" off={size !== null && data.col + data.cols >= size.cols} act={go(0, 1)} />
        <span>
          {data.a === null ? `Step ${data.step}, ${notCompared}` : (
            <>
              Step {data.step} against {data.a}: <strong>{plural(changed.length, 'element')}</strong> of {exact(elements.length)} changed
            </>
          )}
        </span>
        <label>
          <input type="checkbox" checked={onlyChanged} disabled={data.a === null} onChange={(event) => setOnlyChanged(event.currentTarget.checked)} />
          only changed
        </label>
        <span class="canvas-end">
          <button
            type="button" class="small"
            onClick={() => void copyText(toTsv(shown)).then(() => toast(`${plural(shown.length, 'element')} copied`))}
          >
            Copy as TSV
          </button>
        </span>
      </div>
      <Reads of={data} />
      <div class="block-view">
        <Table
          label="Elements" columns={COLUMNS} rows={shown} id={(e) => e.index} height={room}
          selected={(e) => e.changed && !onlyChanged}
        />
        <ElementCanvas name={data.tensor} file={`${data.tensor}-elements`} elements={elements} columns={data.cols} />
      </div>
    </>
  );
}

interface MoveProps {
  label: string;
  icon: 'left' | 'right';
  off: boolean;
  act: () => void;
  turned?: boolean;
}

function Move({ label, icon, off, act, turned }: MoveProps) {
  return (
    <button type="button" class={`icon-button ${turned ? 'turned' : ''}`} aria-label={label} title={label} disabled={off} onClick={act}>
      <Icon name={icon} />
    </button>
  );
}

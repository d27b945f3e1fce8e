import { MAPS, type MapName } from '../../canvas/colors';
import type { RowSort } from '../../canvas/rows';
import { scale, scaleLocked, WINDOWS } from '../../canvas/scale';
import { Icon } from '../../components/Icon';
import { Tabs } from '../../components/Tabs';

const SORTS: { id: RowSort; text: string }[] = [
  { id: 'model', text: 'by layer, model order' },
  { id: 'total', text: 'by total change' },
  { id: 'last', text: 'by last change' },
  { id: 'name', text: 'by name' },
];

interface Props {
  sort: RowSort;
  setSort: (sort: RowSort) => void;
  filter: string;
  setFilter: (filter: string) => void;
  filterError: string | null;
  follow: boolean;
  toggleFollow: () => void;
}

/** What is shown and in which colors. */
export function HeatTools(props: Props) {
  const { map, window, agg } = scale.value;
  const known = WINDOWS.findIndex((entry) => entry.window.lo === window.lo && entry.window.hi === window.hi);
  return (
    <>
      <label>
        Scale
        <select
          value={String(known)}
          onChange={(event) => (scale.value = { ...scale.value, window: WINDOWS[Number(event.currentTarget.value)]!.window })}
        >
          {known < 0 && <option value="-1">own</option>}
          {WINDOWS.map(({ text }, i) => <option key={text} value={String(i)}>{text}</option>)}
        </select>
      </label>
      <button
        type="button" class="icon-button" aria-pressed={scaleLocked.value} aria-label="Lock the scale"
        title={scaleLocked.value ? 'The scale is locked; unlock it to drag the ends of the legend' : 'Drag the ends of the legend'}
        onClick={() => (scaleLocked.value = !scaleLocked.value)}
      >
        <Icon name={scaleLocked.value ? 'lock' : 'more'} />
      </button>
      <label>
        Map
        <select value={map} onChange={(event) => (scale.value = { ...scale.value, map: event.currentTarget.value as MapName })}>
          {MAPS.map((name) => <option key={name}>{name}</option>)}
        </select>
      </label>
      <label>
        Rows
        <select value={props.sort} onChange={(event) => props.setSort(event.currentTarget.value as RowSort)}>
          {SORTS.map(({ id, text }) => <option key={id} value={id}>{text}</option>)}
        </select>
      </label>
      <Tabs
        label="Where cells are merged" options={[{ id: 'max', text: 'max' }, { id: 'mean', text: 'mean' }]} chosen={agg}
        choose={(id) => (scale.value = { ...scale.value, agg: id })}
      />
      <button type="button" aria-pressed={props.follow} onClick={props.toggleFollow}>
        <Icon name={props.follow ? 'pause' : 'play'} /> {props.follow ? 'Following' : 'Follow'}
      </button>
      <input
        class={props.filterError ? 'filter invalid' : 'filter'} type="search" aria-label="Filter tensors"
        aria-invalid={props.filterError !== null} title={props.filterError ?? 'Words, /expression/, changed>1%, dtype:bf16'}
        placeholder="mlp, /attn.*v/, changed>1%" value={props.filter}
        onInput={(event) => props.setFilter(event.currentTarget.value)}
      />
    </>
  );
}

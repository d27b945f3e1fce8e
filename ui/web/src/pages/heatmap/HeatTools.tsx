import type { RowSort } from '../../canvas/rows';
import { scale } from '../../canvas/scale';
import { ScaleTools } from '../../canvas/ScaleTools';
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

/** Which rows are shown, how cells are merged, and in which colors. */
export function HeatTools(props: Props) {
  return (
    <>
      <ScaleTools />
      <label>
        Rows
        <select value={props.sort} onChange={(event) => props.setSort(event.currentTarget.value as RowSort)}>
          {SORTS.map(({ id, text }) => <option key={id} value={id}>{text}</option>)}
        </select>
      </label>
      <Tabs
        label="Where cells are merged" options={[{ id: 'max', text: 'max' }, { id: 'mean', text: 'mean' }]} chosen={scale.value.agg}
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

import { Icon } from '../components/Icon';
import { MAPS, type MapName } from './colors';
import { scale, scaleLocked, WINDOWS } from './scale';

/** Which shares get which colors, the same on all pages. */
export function ScaleTools() {
  const { map, window } = scale.value;
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
    </>
  );
}

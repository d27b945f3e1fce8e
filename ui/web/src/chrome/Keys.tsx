import { actions, sheet } from '../actions';
import { Dialog } from '../components/Dialog';
import { lettersOn, setLetters } from '../keys';

const others: [keys: string, text: string][] = [
  ['Ctrl+K', 'Search, also in text fields'],
  ['Escape', 'Close what is open'],
  ['← →', 'In a chart: read the values'],
  ['Enter', 'In a chart: set B; in a table: open the row'],
  ['+ − 0', 'In a chart: zoom in, zoom out, reset'],
  ['↑ ↓', 'In a table: move; with PageUp, PageDown, Home, End'],
];

/** All shortcuts, and the switch that turns single keys off. */
export function Keys() {
  const rows = [...actions.flatMap(({ shortcut, text }) => (shortcut ? [[shortcut, text] as const] : [])), ...others];
  return (
    <Dialog title="Shortcuts" onClose={() => (sheet.value = null)}>
      <label class="check">
        <input type="checkbox" checked={lettersOn.value} onChange={(event) => setLetters(event.currentTarget.checked)} />
        Single keys act
      </label>
      <dl class="keys">
        {rows.map(([keys, text]) => (
          <div key={keys + text}>
            <dt>{keys.split(' ').map((key) => <kbd key={key}>{key}</kbd>)}</dt>
            <dd>{text}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}

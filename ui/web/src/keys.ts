import { signal } from '@preact/signals';
import { type Action, actions, isEnabled, sheet } from './actions';

const storageKey = 'deltascope.keys';
const sequenceMs = 1000;

/** Whether single letters act; some people's input devices type them by accident. */
export const lettersOn = signal(true);

export function setLetters(on: boolean): void {
  lettersOn.value = on;
  try {
    localStorage.setItem(storageKey, on ? 'on' : 'off');
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

/** Finds the action of a key after the keys before it; `pending` if it begins a sequence. */
export function lookUp(before: string, key: string, list: readonly Action[]): { action: Action | null; pending: string } {
  const typed = before === '' ? key : `${before} ${key}`;
  const action = list.find(({ shortcut }) => shortcut === typed) ?? null;
  const begins = list.some(({ shortcut }) => shortcut?.startsWith(`${typed} `));
  if (action || begins || before === '') return { action, pending: begins ? typed : '' };
  return lookUp('', key, list);
}

function typing(target: EventTarget | null): boolean {
  return target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName));
}

export function startKeys(): void {
  try {
    lettersOn.value = localStorage.getItem(storageKey) !== 'off';
  } catch {
    // As above.
  }
  let pending = '';
  let typedAt = 0;
  document.addEventListener('keydown', (event) => {
    if (event.defaultPrevented || event.isComposing) return;
    if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === 'k') {
      event.preventDefault();
      sheet.value = { name: 'search' };
      return;
    }
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target) || sheet.value !== null || !lettersOn.value) return;
    if (event.key === 'Shift') return;
    const found = lookUp(event.timeStamp - typedAt < sequenceMs ? pending : '', event.key, actions);
    pending = found.pending;
    typedAt = event.timeStamp;
    if (!found.action || !isEnabled(found.action)) return;
    event.preventDefault();
    found.action.act();
  });
}

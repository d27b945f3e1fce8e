import { computed, effect, signal } from '@preact/signals';
import { type Theme, view } from './cursor';

const key = 'deltascope.theme';
const system = signal<'light' | 'dark'>('light');
const stored = signal<Theme>('system');

/** What the user chose, the address first. */
export const chosenTheme = computed<Theme>(() => view.value.theme ?? stored.value);

/** The theme on screen; painters of canvases read it, so that they paint again when it changes. */
export const theme = computed(() => (chosenTheme.value === 'system' ? system.value : chosenTheme.value));

export function chooseTheme(wanted: Theme): void {
  stored.value = wanted;
  if (view.peek().theme) view.value = { ...view.peek(), theme: null };
  try {
    localStorage.setItem(key, wanted);
  } catch {
    // Without storage the choice lasts as long as the page.
  }
}

export function startTheme(): void {
  try {
    const saved = localStorage.getItem(key);
    if (saved === 'light' || saved === 'dark') stored.value = saved;
  } catch {
    // As above.
  }
  const dark = window.matchMedia('(prefers-color-scheme: dark)');
  const read = () => (system.value = dark.matches ? 'dark' : 'light');
  dark.addEventListener('change', read);
  read();
  effect(() => void (document.documentElement.dataset.theme = theme.value));
}

/** The value of a color token, for canvases: color('accent'). Read `theme` first to be told of changes. */
export function color(token: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(`--${token}`).trim();
}

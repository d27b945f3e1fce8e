// Colors of the canvases, read from the tokens of the style sheet, again whenever the theme changes.

import { theme } from '../state/theme';

const TOKENS = {
  window: 'window', surface: 'surface', raised: 'raised', sunken: 'sunken', border: 'border', strong: 'border-strong',
  grid: 'grid', text: 'text', muted: 'muted', accent: 'accent', onAccent: 'on-accent', selection: 'selection',
  pause: 'pause', error: 'error', ok: 'ok', upload: 'phase-upload', fetch: 'phase-fetch', verify: 'phase-verify',
  diff: 'phase-diff', other: 'series-other', zero: 'zero', font: 'font', mono: 'mono',
};

export type Palette = Record<keyof typeof TOKENS, string> & { theme: 'light' | 'dark' };

let current: Palette | null = null;

/** The palette of the theme in force; reading it in a component subscribes to changes. */
export function palette(): Palette {
  const name = theme.value;
  if (current?.theme !== name) {
    const style = getComputedStyle(document.documentElement);
    const colors = Object.fromEntries(
      Object.entries(TOKENS).map(([key, token]) => [key, style.getPropertyValue(`--${token}`).trim()]),
    );
    current = { ...colors, theme: name } as Palette;
  }
  return current!;
}

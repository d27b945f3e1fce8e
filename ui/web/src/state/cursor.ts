import { computed, effect, signal } from '@preact/signals';
import { navigate, place } from '../router';

export type Theme = 'light' | 'dark' | 'system';

/** What the address says beside the page: every view is a permalink. */
export interface View {
  b: number | null; // the current step; null follows the newest
  a: number | null; // the step compared with
  epoch: number | null; // null: the newest
  range: [number, number] | null;
  x: 'step' | 'wall';
  smooth: number | null; // 0…0.999
  panels: string[] | null; // charts shown on the page Live; null: all
  embed: boolean; // without chrome
  tv: boolean; // larger type
  theme: Theme | null; // null: as stored in this browser
}

export const emptyView: View = {
  b: null, a: null, epoch: null, range: null, x: 'step', smooth: null, panels: null, embed: false, tv: false, theme: null,
};

/** A step number as it stands in an address; null: none. */
function number(text: string | null): number | null {
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Reads a query such as "?b=12&range=1-20"; what makes no sense is left out. */
export function parseView(query: string): View {
  const q = new URLSearchParams(query);
  const range = /^(\d{1,15})-(\d{1,15})$/.exec(q.get('range') ?? '');
  const smooth = q.has('smooth') ? Number(q.get('smooth')) : NaN;
  const theme = q.get('theme');
  return {
    b: number(q.get('b')),
    a: number(q.get('a')),
    epoch: number(q.get('epoch')),
    range: range && Number(range[1]) <= Number(range[2]) ? [Number(range[1]), Number(range[2])] : null,
    x: q.get('x') === 'wall' ? 'wall' : 'step',
    smooth: smooth >= 0 && smooth <= 0.999 ? smooth : null,
    panels: q.get('panels')?.split(',').filter((name) => name !== '') ?? null,
    embed: q.get('embed') === '1',
    tv: q.get('tv') === '1',
    theme: theme === 'light' || theme === 'dark' || theme === 'system' ? theme : null,
  };
}

const own = ['b', 'a', 'epoch', 'range', 'x', 'smooth', 'panels', 'embed', 'tv', 'theme'];

/** The query of a view; parameters of pages that are not ours (`prefix`, `mode`, …) are kept from `old`. */
export function writeView(view: View, old = ''): string {
  const q = new URLSearchParams(old);
  for (const name of own) q.delete(name);
  if (view.b !== null) q.set('b', String(view.b));
  if (view.a !== null) q.set('a', String(view.a));
  if (view.epoch !== null) q.set('epoch', String(view.epoch));
  if (view.range) q.set('range', view.range.join('-'));
  if (view.x !== 'step') q.set('x', view.x);
  if (view.smooth !== null) q.set('smooth', String(view.smooth));
  if (view.panels) q.set('panels', view.panels.join(','));
  if (view.embed) q.set('embed', '1');
  if (view.tv) q.set('tv', '1');
  if (view.theme) q.set('theme', view.theme);
  const text = q.toString().replaceAll('%2C', ',');
  return text === '' ? '' : `?${text}`;
}

export const view = signal<View>(emptyView);

/** Newest step of the open run, set by the store: what B is while it follows. */
export const newest = signal<{ epoch: number; step: number } | null>(null);

export const follow = computed(() => view.value.b === null);
/** The current step B; null while nothing is known. */
export const stepB = computed(() => view.value.b ?? newest.value?.step ?? null);
export const stepA = computed(() => view.value.a);
export const epoch = computed(() => view.value.epoch ?? newest.value?.epoch ?? 0);

/** Changes the view and the address with it, without a new entry in the history. */
export function setView(change: Partial<View>): void {
  view.value = { ...view.peek(), ...change };
}

export const setB = (step: number | null) => setView({ b: step });
export const setA = (step: number | null) => setView({ a: step });
export const setRange = (range: [number, number] | null) => setView({ range });

/** The query that links to other pages carry: the cursor goes along, the page's own parameters do not. */
export const viewQuery = computed(() => writeView(view.value));

/** Keeps the view and the address equal, in both directions. Addresses follow a little later, as zooming is fast. */
export function startCursor(): void {
  effect(() => {
    const parsed = parseView(place.value.query);
    if (writeView(parsed) !== writeView(view.peek())) view.value = parsed;
  });
  effect(() => {
    const wanted = view.value;
    const timer = setTimeout(() => {
      const { path, query } = place.peek();
      const text = writeView(wanted, query);
      if (text !== writeView(parseView(query), query)) navigate(path, text, 'replace');
    }, 150);
    return () => clearTimeout(timer);
  });
}

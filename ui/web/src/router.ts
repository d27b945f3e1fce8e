import { signal } from '@preact/signals';

/** Pages by name; each is the folder of the same name below pages/. `:run` and the like become properties of the page. */
const routes: [pattern: string, page: string][] = [
  ['', 'runs'],
  ['r/:runId', 'live'],
  ['r/:runId/heat', 'heatmap'],
  ['r/:runId/timeline', 'timeline'],
  ['r/:runId/lineage', 'lineage'],
  ['r/:runId/steps/:step', 'step'],
  ['r/:runId/diff', 'diff'],
  ['r/:runId/bucket', 'bucket'],
  ['r/:runId/journal', 'journal'],
  ['tasks', 'tasks'],
  ['tasks/:taskId', 'tasks'],
  ['alerts', 'alerts'],
  ['about', 'about'],
];

export interface Route {
  page: string;
  params: Record<string, string>;
}

/** The route of a path below the base, "r/wordle/heat"; null: there is no such page. */
export function match(path: string): Route | null {
  const parts = path.split('/').filter((part) => part !== '');
  for (const [pattern, page] of routes) {
    const wanted = pattern === '' ? [] : pattern.split('/');
    if (wanted.length !== parts.length) continue;
    const params: Record<string, string> = {};
    const fits = wanted.every((name, i) => {
      const part = parts[i] ?? '';
      if (!name.startsWith(':')) return name === part;
      params[name.slice(1)] = decode(part);
      return true;
    });
    if (fits) return { page, params };
  }
  return null;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export interface Place {
  path: string; // below the base, without a leading slash
  query: string; // with its question mark, or empty
}

/** Splits an address into what the router needs; the base is the page's <base href>. */
export function placeOf(address: string, base: string): Place {
  const url = new URL(address, base);
  const root = new URL(base).pathname;
  const path = url.pathname.startsWith(root) ? url.pathname.slice(root.length) : url.pathname.slice(1);
  return { path, query: url.search };
}

/** How places are written as addresses of the browser; a bundle brings its own way. */
export const addresses = {
  placeOf: (href: string): Place => placeOf(href, document.baseURI),
  hrefOf: (path: string, query: string): string => new URL(path + query, document.baseURI).href,
};

export const place = signal<Place>({ path: '', query: '' });

/** Goes to a path below the base; `query` is kept as given. */
export function navigate(path: string, query = '', how: 'push' | 'replace' = 'push'): void {
  const url = addresses.hrefOf(path, query);
  if (how === 'push') history.pushState(null, '', url);
  else history.replaceState(null, '', url);
  place.value = { path, query };
  if (how === 'push') window.scrollTo(0, 0);
}

/** Reads the address now and whenever the user goes back or forward; takes over clicks on links of this page. */
export function startRouter(): void {
  const read = () => (place.value = addresses.placeOf(window.location.href));
  read();
  window.addEventListener('popstate', read);
  document.addEventListener('click', (event) => {
    const link = (event.target as Element).closest?.('a[data-page]') as HTMLAnchorElement | null;
    if (!link || event.defaultPrevented || event.button !== 0) return;
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const to = addresses.placeOf(link.href);
    navigate(to.path, to.query);
  });
}

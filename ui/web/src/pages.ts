import type { ComponentType } from 'preact';

export type Page = ComponentType<Record<string, string>>;

const loaders = import.meta.glob<{ default: Page }>('./pages/*/index.tsx');

/** Loads the page of a route; each page is a chunk of its own. */
export async function loadPage(name: string): Promise<Page | null> {
  const loader = loaders[`./pages/${name}/index.tsx`];
  return loader ? (await loader()).default : null;
}

import type { ComponentChildren } from 'preact';
import { addresses } from '../router';
import { emptyView, viewQuery, type View, view, writeView } from '../state/cursor';

interface Props {
  to: string; // below the base
  set?: Partial<View>; // changes of the cursor
  keep?: boolean; // false: leave the cursor behind, for links to other runs
  query?: string; // parameters of the page itself, "prefix=a"
  class?: string;
  title?: string;
  label?: string; // for screen readers, where the content is no text
  current?: boolean;
  children: ComponentChildren;
}

/** A link to a page of ours; the cursor goes along. */
export function Link({ to, set, keep = true, query, label, current, children, ...rest }: Props) {
  const { embed, tv, theme } = view.value;
  const base = keep ? view.value : { ...emptyView, embed, tv, theme };
  const text = set || !keep ? writeView({ ...base, ...set }) : viewQuery.value;
  const search = query ? `${text === '' ? '?' : `${text}&`}${query}` : text;
  const href = addresses.hrefOf(to, search);
  return (
    <a data-page href={href} aria-label={label} aria-current={current ? 'page' : undefined} {...rest}>
      {children}
    </a>
  );
}

/** The address of a run's page: runPage('wordle', 'heat'). */
export function runPage(run: string, ...parts: string[]): string {
  return ['r', run, ...parts].map(encodeURIComponent).join('/');
}

import type { ComponentChildren } from 'preact';

interface Props {
  title: string;
  note?: ComponentChildren; // beside the title, muted
  tools?: ComponentChildren; // at the right end
  class?: string;
  children: ComponentChildren;
}

/** A titled part of a page. */
export function Card({ title, note, tools, children, ...rest }: Props) {
  return (
    <section class={`card ${rest.class ?? ''}`} aria-label={title}>
      <header class="card-head">
        <h2>{title}</h2>
        {note !== undefined && <span class="note">{note}</span>}
        {tools !== undefined && <span class="tools">{tools}</span>}
      </header>
      {children}
    </section>
  );
}

import type { ComponentChildren } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';

export interface MenuItem {
  text: string;
  act: () => void;
  checked?: boolean; // of a choice
  disabled?: boolean;
}

interface Props {
  label: string; // of the button, for screen readers
  items: MenuItem[];
  heading?: string; // above the list
  class?: string;
  children: ComponentChildren; // content of the button
}

/** A button with a list of acts. Arrows move, Enter acts, Escape closes. */
export function Menu({ label, items, heading, children, ...rest }: Props) {
  const [open, setOpen] = useState(false);
  const root = useRef<HTMLDivElement>(null);
  const list = useRef<HTMLDivElement>(null);

  useEffect(() => {
    if (!open) return;
    list.current?.querySelector<HTMLElement>('button:not(:disabled)')?.focus();
    const outside = (event: Event) => {
      if (!root.current?.contains(event.target as Node)) setOpen(false);
    };
    document.addEventListener('pointerdown', outside);
    return () => document.removeEventListener('pointerdown', outside);
  }, [open]);

  const close = () => {
    setOpen(false);
    root.current?.querySelector<HTMLElement>('button')?.focus();
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!open) return;
    const buttons = [...(list.current?.querySelectorAll<HTMLElement>('button:not(:disabled)') ?? [])];
    const at = buttons.indexOf(document.activeElement as HTMLElement);
    const go = (i: number) => buttons[(i + buttons.length) % buttons.length]?.focus();
    if (event.key === 'ArrowDown') go(at + 1);
    else if (event.key === 'ArrowUp') go(at - 1);
    else if (event.key === 'Home') go(0);
    else if (event.key === 'End') go(-1);
    else if (event.key === 'Escape') close();
    else if (event.key === 'Tab') return setOpen(false);
    else return;
    event.preventDefault();
    event.stopPropagation();
  };

  return (
    <div class="menu" ref={root} onKeyDown={onKeyDown}>
      <button
        type="button" class={rest.class ?? 'icon-button'} aria-label={label} aria-haspopup="menu" aria-expanded={open}
        onClick={() => setOpen(!open)}
      >
        {children}
      </button>
      {open && (
        <div class="menu-list" role="menu" aria-label={label} ref={list}>
          {heading !== undefined && <p class="menu-heading" role="presentation">{heading}</p>}
          {items.map((item) => (
            <button
              key={item.text} type="button" tabIndex={-1} disabled={item.disabled}
              role={item.checked === undefined ? 'menuitem' : 'menuitemradio'} aria-checked={item.checked}
              onClick={() => {
                close();
                item.act();
              }}
            >
              {item.text}
            </button>
          ))}
        </div>
      )}
    </div>
  );
}

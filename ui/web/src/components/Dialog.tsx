import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Icon } from './Icon';

interface Props {
  title: string;
  note?: ComponentChildren;
  onClose: () => void;
  class?: string;
  children: ComponentChildren;
  footer?: ComponentChildren;
}

/** A sheet over the page; Escape closes it and the focus returns to where it was. */
export function Dialog({ title, note, onClose, children, footer, ...rest }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  // Before the next key can arrive.
  useLayoutEffect(() => {
    const before = document.activeElement as HTMLElement | null;
    const shown = dialog.current;
    shown?.showModal();
    return () => {
      shown?.close(); // while it is open nothing behind it takes the focus
      before?.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog} class={`sheet ${rest.class ?? ''}`} aria-label={title}
      // The browser tells that a dialog was closed later than it delivers the next key.
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
      onClose={() => dialog.current && onClose()}
    >
      <header class="sheet-head">
        <div>
          <h2>{title}</h2>
          {note !== undefined && <p class="muted">{note}</p>}
        </div>
        <button type="button" class="icon-button" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </button>
      </header>
      <div class="sheet-body">{children}</div>
      {footer !== undefined && <footer class="sheet-foot">{footer}</footer>}
    </dialog>
  );
}

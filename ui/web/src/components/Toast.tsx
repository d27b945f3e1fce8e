import { signal } from '@preact/signals';

const shown = signal<{ id: number; text: string }[]>([]);
let last = 0;

/** Says something for a few seconds. */
export function toast(text: string): void {
  const id = ++last;
  shown.value = [...shown.value, { id, text }];
  setTimeout(() => (shown.value = shown.value.filter((entry) => entry.id !== id)), 4000);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, text }) => (
        <div key={id} class="toast">{text}</div>
      ))}
    </div>
  );
}

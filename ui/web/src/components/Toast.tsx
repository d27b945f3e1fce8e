import { signal } from '@preact/signals';
import { Icon } from './Icon';

interface Offer {
  text: string; // of its button
  act: () => void;
}

const shown = signal<{ id: number; text: string; offer?: Offer }[]>([]);
let last = 0;
const shortMs = 4000;
const offerMs = 30_000;

const hide = (id: number) => (shown.value = shown.value.filter((entry) => entry.id !== id));

/** Says something for a few seconds; longer, where it offers something to do. */
export function toast(text: string, offer?: Offer): void {
  const id = ++last;
  shown.value = [...shown.value, { id, text, ...(offer ? { offer } : {}) }];
  setTimeout(() => hide(id), offer ? offerMs : shortMs);
}

export function Toasts() {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {shown.value.map(({ id, text, offer }) => (
        <div key={id} class="toast">
          {text}
          {offer && (
            <>
              <button type="button" class="small" onClick={() => {
                hide(id);
                offer.act();
              }}>{offer.text}</button>
              <button type="button" class="icon-button" aria-label="Hide" onClick={() => hide(id)}><Icon name="close" size={14} /></button>
            </>
          )}
        </div>
      ))}
    </div>
  );
}

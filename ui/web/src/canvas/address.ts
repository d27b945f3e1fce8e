// Parameters of one page in the address, beside the cursor that all pages share.

import { navigate, place } from '../router';
import { view, writeView } from '../state/cursor';

/** The value of a parameter; null: it is not there. Reading it in a component subscribes. */
export const pageParameter = (name: string): string | null => new URLSearchParams(place.value.query).get(name);

/** Changes parameters of the page as a new entry in the history, with the cursor as it is now; null removes one. */
export function setPageParameters(change: Record<string, string | number | null>): void {
  const { path, query } = place.peek();
  const parameters = new URLSearchParams(writeView(view.peek(), query));
  for (const [name, value] of Object.entries(change)) {
    if (value === null) parameters.delete(name);
    else parameters.set(name, String(value));
  }
  const text = parameters.toString();
  navigate(path, text === '' ? '' : `?${text}`);
}

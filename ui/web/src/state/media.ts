import { signal } from '@preact/signals';

const query = window.matchMedia('(max-width: 720px)');

/** Whether the page is as narrow as on a phone. */
export const phone = signal(query.matches);
query.addEventListener('change', () => (phone.value = query.matches));

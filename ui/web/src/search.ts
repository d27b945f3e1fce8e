import type { TensorRow } from './api/types';
import { safeName } from './format';

/** Something that the search box finds. */
export interface Hit {
  kind: 'step' | 'page' | 'command' | 'run' | 'tensor';
  text: string;
  shortcut?: string;
  open: () => void;
}

/** How well `text` answers all words of `query`, in any order; null: not at all. */
export function score(query: string, text: string): number | null {
  let sum = 0;
  for (const word of query.toLowerCase().split(/\s+/)) {
    const points = scoreWord(word, text.toLowerCase());
    if (points === null) return null;
    sum += points;
  }
  return sum;
}

/** A word answers by its letters in order; in one piece, early and in a short text is best. */
function scoreWord(q: string, t: string): number | null {
  const whole = t.indexOf(q);
  if (whole >= 0) return 1000 - whole - t.length / 100;
  let at = -1;
  let gaps = 0;
  for (const letter of q) {
    const next = t.indexOf(letter, at + 1);
    if (next < 0) return null;
    gaps += next - at - 1;
    at = next;
  }
  return 500 - gaps - t.length / 100;
}

/** The best hits, best first. */
export function best(query: string, hits: readonly Hit[], limit: number): Hit[] {
  return hits
    .flatMap((hit) => {
      const points = score(query, hit.text);
      return points === null ? [] : [{ hit, points }];
    })
    .sort((x, y) => y.points - x.points)
    .slice(0, limit)
    .map(({ hit }) => hit);
}

/** "#12", "12" or "0:12" as a step; null: no step is meant. */
export function stepOf(query: string): { epoch: number | null; step: number } | null {
  const found = /^#?(?:(\d{1,6}):)?(\d{1,15})$/.exec(query.trim());
  if (!found) return null;
  return { epoch: found[1] === undefined ? null : Number(found[1]), step: Number(found[2]) };
}

/** Tensors as hits; 40,000 names are scored in a few milliseconds, but only once something was typed. */
export function tensorHits(tensors: readonly TensorRow[], open: (tensor: TensorRow) => void): Hit[] {
  return tensors.map((tensor) => ({ kind: 'tensor', text: safeName(tensor.name), open: () => open(tensor) }));
}

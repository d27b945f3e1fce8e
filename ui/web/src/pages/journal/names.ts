import type { JournalEntry, LineageRow, Ref } from '../../api/types';
import { safeName } from '../../format';

const pinStart = 'pin/';

/** A word as the acts on it take it: "good" of "pin/good". */
export const nameOf = ({ word, pin }: Ref): string => (pin && word.startsWith(pinStart) ? word.slice(pinStart.length) : word);

/** The kind of the act that removes a word. */
export const removalOf = ({ pin }: Ref): string => (pin ? 'unpin' : 'unref');

/** The words of steps for the flags of charts; a word whose version is not there has no place. */
export function flagsOf(refs: readonly Ref[], epoch: number): { x: number; text: string }[] {
  const words = new Map<number, string[]>();
  for (const ref of refs) {
    if (ref.step === null || !ref.here || ref.epoch !== epoch) continue;
    words.set(ref.step, [...(words.get(ref.step) ?? []), safeName(ref.word)]);
  }
  return [...words].map(([x, list]) => ({ x, text: list.join(', ') }));
}

/** What an undo would take back: the newest version, where it restores an earlier one. Rows are newest first. */
export function undoable(rows: readonly LineageRow[]): { step: number; restores: number } | null {
  const newest = rows[0];
  return newest?.restores === undefined ? null : { step: newest.step, restores: newest.restores };
}

export const newestFirst = (journal: readonly JournalEntry[]): JournalEntry[] => [...journal].reverse();

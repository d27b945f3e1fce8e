import type { Replica } from '../../api/types';
import { age } from '../../format';

/** Whether it says that an apply failed after it had written a part of the weights: it serves no step. */
export const isPoisoned = (replica: Replica) => replica.state === 'poisoned';

/** The state of a replica as a mark and words; its own word where nothing is wrong. */
export function stateOf(replica: Replica): { mark: string; word: string; look: string } {
  if (replica.state === 'stopped') return { mark: '○', word: 'gone', look: 'muted' };
  if (replica.doubt !== null) return { mark: '?', word: replica.doubt, look: 'muted' };
  if (replica.late) return { mark: '?', word: `no sign for ${age(replica.age_s)}`, look: 'muted' };
  if (replica.foreign) return { mark: '✕', word: 'foreign: no step of this run', look: 'error-text' };
  if (isPoisoned(replica)) return { mark: '✕', word: 'half-written weights', look: 'error-text' };
  if (replica.behind === null) return { mark: '?', word: 'step not known', look: 'muted' };
  if (replica.behind === 0 && replica.state === 'digest-mismatch') return { mark: '✕', word: 'refuses a step', look: 'error-text' };
  if (replica.behind > 0) return { mark: '◔', word: 'behind', look: '' };
  return { mark: '●', word: 'in sync', look: 'ok' };
}

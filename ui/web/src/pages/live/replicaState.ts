import type { Replica } from '../../api/types';
import { age } from '../../format';

/** The state of a replica as a mark and words; its own word where nothing is wrong. */
export function stateOf(replica: Replica): { mark: string; word: string; look: string } {
  if (replica.doubt !== null) return { mark: '?', word: replica.doubt, look: 'muted' };
  if (replica.late) return { mark: '?', word: `no sign for ${age(replica.age_s)}`, look: 'muted' };
  if (replica.foreign) return { mark: '✕', word: 'foreign: no step of this run', look: 'error-text' };
  if (replica.behind === null) return { mark: '?', word: 'step not known', look: 'muted' };
  if (replica.behind > 0) return { mark: '◔', word: 'behind', look: '' };
  return { mark: '●', word: 'in sync', look: 'ok' };
}

import type { Diff } from '../api/types';
import { safeName } from '../format';

/** Settings in which two adapters differ, each with both values. */
export function Settings({ diff }: { diff: Diff }) {
  return (
    <>
      {diff.settings.map(({ name, a, b }) => (
        <p key={name} class="card-body">{safeName(`${name} is ${JSON.stringify(a)} in A and ${JSON.stringify(b)} in B`)}</p>
      ))}
    </>
  );
}

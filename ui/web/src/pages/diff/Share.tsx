import { percent } from '../../format';

/** A share as a number and a bar. */
export function Share({ of }: { of: number }) {
  return (
    <span class="share">
      {percent(of)}
      <span class="share-bar" aria-hidden="true"><span style={{ width: `${Math.min(100, of * 100)}%` }} /></span>
    </span>
  );
}

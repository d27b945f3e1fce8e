import type { ListingPage } from '../../api/types';
import { bytes, percent, plural } from '../../format';

/** What the whole source holds, and how much of it are anchors. */
export function Totals({ totals }: { totals: ListingPage['totals'] }) {
  const all = totals.anchor_bytes + totals.delta_bytes + totals.other_bytes;
  const anchors = all === 0 ? 0 : totals.anchor_bytes / all;
  return (
    <footer class="totals">
      <span><strong>{plural(totals.deltas, 'delta object')}</strong> {bytes(totals.delta_bytes)}</span>
      <span><strong>{plural(totals.anchors, 'anchor object')}</strong> {bytes(totals.anchor_bytes)}</span>
      <span><strong>{totals.other}</strong> other {bytes(totals.other_bytes)}</span>
      {all > 0 && (
        <span class="totals-share">
          <span class="muted">anchors {percent(anchors)}</span>
          <span class="totals-bar" aria-hidden="true"><span style={{ width: `${anchors * 100}%` }} /></span>
        </span>
      )}
    </footer>
  );
}

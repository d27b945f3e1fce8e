import { setPageParameters } from '../../canvas/address';
import { Name } from '../../components/Name';

interface Props {
  tensor: string | null; // name, once known
  elements?: string; // "rows from 0, columns from 28"
}

/** Where we are inside of the heatmap; Backspace goes one up. */
export function Trail({ tensor, elements }: Props) {
  return (
    <nav class="trail" aria-label="Inside of the heatmap">
      <button type="button" class="link" onClick={() => setPageParameters({ tensor: null, at: null })}>Heatmap</button>
      <span aria-hidden="true">›</span>
      {elements === undefined ? (
        <h1><Name text={tensor ?? '…'} /></h1>
      ) : (
        <>
          <button type="button" class="link" onClick={() => setPageParameters({ at: null })}><Name text={tensor ?? '…'} /></button>
          <span aria-hidden="true">›</span>
          <h1>{elements}</h1>
        </>
      )}
    </nav>
  );
}

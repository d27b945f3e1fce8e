import { runPath } from '../../api/client';
import type { HeaderPreview, ListingRow } from '../../api/types';
import { setPageParameters } from '../../canvas/address';
import { Icon } from '../../components/Icon';
import { Name } from '../../components/Name';
import { Loaded } from '../../components/states';
import { bytes, exact, fullTime, shape } from '../../format';
import { useResource } from '../../state/resource';

const LARGEST = 8;

interface Props {
  runId: string;
  objectKey: string;
  row: ListingRow | null;
}

/** What the header of an object says, without its payload. */
export function Preview({ runId, objectKey, row }: Props) {
  const readable = objectKey.endsWith('.safetensors');
  const header = useResource<HeaderPreview>(
    readable ? `${runPath(runId, 'objects', 'header')}?key=${encodeURIComponent(objectKey)}` : null,
  );
  return (
    <aside class="preview" aria-label="Preview">
      <header>
        <h2><Name text={objectKey.slice(objectKey.lastIndexOf('/') + 1)} /></h2>
        <button type="button" class="icon-button" aria-label="Close the preview" onClick={() => setPageParameters({ key: null })}>
          <Icon name="close" />
        </button>
      </header>
      {row && (
        <dl class="facts">
          <dt>Size</dt><dd>{bytes(row.size)}</dd>
          <dt>Exact bytes</dt><dd>{exact(row.size)}</dd>
          <dt>Modified</dt><dd>{fullTime(row.modified_at)}</dd>
        </dl>
      )}
      {readable ? <Loaded from={header} rows={6}>{(data) => <Header data={data} />}</Loaded> : <p class="muted">Only safetensors headers are shown.</p>}
    </aside>
  );
}

function Header({ data }: { data: HeaderPreview }) {
  const metadata = Object.entries(data.metadata);
  const largest = [...data.tensors].sort((x, y) => y.bytes - x.bytes).slice(0, LARGEST);
  return (
    <>
      <dl class="facts">
        <dt>Header</dt><dd>{bytes(data.header_bytes)}, {exact(data.tensors_total)} tensors</dd>
      </dl>
      <h3>Metadata</h3>
      {metadata.length === 0 ? <p class="muted">None.</p> : (
        <dl class="facts">
          {metadata.map(([name, value]) => (
            <div key={name} class="pair"><dt><Name text={name} /></dt><dd class="mono"><Name text={value} limit={200} /></dd></div>
          ))}
        </dl>
      )}
      <p class="muted">{data.claims_note}</p>
      <h3>Largest tensors{data.tensors.length < data.tensors_total && ` of the first ${exact(data.tensors.length)}`}</h3>
      <ul class="largest">
        {largest.map((tensor) => (
          <li key={tensor.name}>
            <Name text={tensor.name} /> <span class="muted">{tensor.dtype} {shape(tensor.shape)}</span> <span>{bytes(tensor.bytes)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}

import { plural, safeName } from '../format';

/** Which objects were used although they are not those first read. */
export function Rewritten({ keys }: { keys: string[] }) {
  if (keys.length === 0) return null;
  return (
    <details class="card-body rewritten">
      <summary><span aria-hidden="true">⚑</span> {plural(keys.length, 'object was', 'objects were')} used although rewritten since first read</summary>
      <ul class="mono">{keys.map((key) => <li key={key}>{safeName(key)}</li>)}</ul>
    </details>
  );
}

import type { Problem } from '../api/types';
import { plural, safeName } from '../format';
import { ProblemText } from './states';

interface Props {
  of: { rewritten: string[]; notices: Problem[] };
}

/** What the reader of a result must know about the bytes that it was made from. */
export function Reads({ of: { rewritten, notices } }: Props) {
  return (
    <>
      {rewritten.length > 0 && (
        <details class="card-body rewritten">
          <summary><span aria-hidden="true">⚑</span> {plural(rewritten.length, 'object was', 'objects were')} used although rewritten since first read</summary>
          <ul class="mono">{rewritten.map((key) => <li key={key}>{safeName(key)}</li>)}</ul>
        </details>
      )}
      {notices.length > 0 && <div class="card-body">{notices.map((problem, i) => <ProblemText key={i} problem={problem} />)}</div>}
    </>
  );
}

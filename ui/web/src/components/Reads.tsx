import type { Problem } from '../api/types';
import { plural, safeName } from '../format';
import { ProblemText } from './states';

interface Props {
  of: { rewritten: string[]; notices: Problem[] };
}

/** Objects that a user took although they were rewritten, and what was done with them: "used", "accepted". */
export function Rewritten({ keys, what }: { keys: string[]; what: string }) {
  if (keys.length === 0) return null;
  return (
    <details class="card-body rewritten">
      <summary><span aria-hidden="true">⚑</span> {plural(keys.length, 'object was', 'objects were')} {what} although rewritten since first read</summary>
      <ul class="mono">{keys.map((key) => <li key={key}>{safeName(key)}</li>)}</ul>
    </details>
  );
}

/** What the reader of a result must know about the bytes that it was made from. */
export function Reads({ of: { rewritten, notices } }: Props) {
  return (
    <>
      <Rewritten keys={rewritten} what="used" />
      {notices.length > 0 && <div class="card-body">{notices.map((problem, i) => <ProblemText key={i} problem={problem} />)}</div>}
    </>
  );
}

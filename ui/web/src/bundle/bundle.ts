/** What `deltascope export` wrote into the page (docs/formats/dscope.md). */
export interface Bundle {
  format_version: 1;
  tool_version: string;
  created_us: number;
  run: string; // RunSummary.id
  left_out: string[]; // sentences
  answers: Record<string, unknown>; // by address below api/v1; "?epoch=0" is the only query
  tiles: Record<string, string>; // "runs/wordle/heat/max/0/0/0/0?epoch=0": base64 of the body
}

/** The bundle of this document. */
export function readBundle(): Bundle {
  const bundle = JSON.parse(document.getElementById('bundle')?.textContent || 'null') as Bundle | null;
  if (bundle === null) throw new Error('This page holds no bundle; deltascope export makes one.');
  if (bundle.format_version !== 1) throw new Error(`A bundle of version ${String(bundle.format_version)}; this page reads version 1.`);
  return bundle;
}

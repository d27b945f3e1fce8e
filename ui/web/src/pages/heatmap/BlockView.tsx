import { request, runPath } from '../../api/client';
import { pageParameter, setPageParameters } from '../../canvas/address';
import { BlockCanvas } from '../../canvas/BlockCanvas';
import { parseBlocks, type Blocks } from '../../canvas/blocks';
import { ScaleTools } from '../../canvas/ScaleTools';
import { Icon } from '../../components/Icon';
import { Reads } from '../../components/Reads';
import { RequestError, Skeleton } from '../../components/states';
import { exact, percent, shape, unknown } from '../../format';
import { setB, stepA, stepB } from '../../state/cursor';
import { between, useResource, type Resource } from '../../state/resource';
import { detail } from '../../state/store';
import { epochNow, notCompared, useTensor } from './place';
import { Trail } from './Trail';
import { ValuesCard } from './ValuesCard';

interface Props {
  runId: string;
  tensor: number;
}

/** Where inside of one tensor the step changed elements. */
export function BlockView({ runId, tensor }: Props) {
  const epoch = epochNow();
  const step = stepB.value;
  const versusA = pageParameter('versus') === 'a' && stepA.value !== null;
  const a = versusA ? stepA.value : null;
  const known = useTensor(runId, epoch, tensor);
  const { data: blocks, error, retry } = useBlocks(runId, epoch, step, tensor, a);
  const go = (by: 1 | -1): void => {
    const { first_step, last_step } = detail.value ?? { first_step: null, last_step: null };
    if (step !== null) setB(Math.min(last_step ?? step, Math.max(first_step ?? 0, step + by)));
  };
  const back = (): void => setPageParameters({ tensor: null });

  return (
    <div class="heat-page" onKeyDown={(event) => event.key === 'Backspace' && event.target === event.currentTarget && back()}>
      <Trail tensor={blocks?.tensor ?? known?.name ?? null} />
      {error && <RequestError error={error} retry={retry} />}
      {blocks === null ? !error && <Skeleton rows={12} /> : (
        <div class="block-view">
          <div>
            <BlockCanvas
              blocks={blocks} back={back} step={go} file={`${runId}-${blocks.tensor}-${step}`}
              title={`${blocks.tensor}, changed share per block, step ${step}${blocks.a === null ? '' : ` against ${blocks.a}`}`}
              open={(row, col) => setPageParameters({ at: `${row},${col}` })}
              tools={
                <>
                  <button type="button" class="icon-button" aria-label="Previous step" onClick={() => go(-1)}><Icon name="left" /></button>
                  <strong>step {step}</strong>
                  <button type="button" class="icon-button" aria-label="Next step" onClick={() => go(1)}><Icon name="right" /></button>
                  <button
                    type="button" aria-pressed={versusA} disabled={stepA.value === null}
                    title={stepA.value === null ? 'Set A first, for instance with the key 1 on the heatmap' : undefined}
                    onClick={() => setPageParameters({ versus: versusA ? null : 'a' })}
                  >
                    Δ against A{stepA.value === null ? '' : ` ${stepA.value}`}
                  </button>
                  <ScaleTools />
                </>
              }
            />
          </div>
          <div class="block-side">
            <Facts blocks={blocks} step={step} />
            <ValuesCard runId={runId} epoch={epoch} step={step} tensor={tensor} a={a} />
          </div>
        </div>
      )}
    </div>
  );
}

function Facts({ blocks, step }: { blocks: Blocks; step: number | null }) {
  const measured = (n: number): number | null => (blocks.a === null ? null : n);
  return (
    <aside class="block-facts" aria-label="About this tensor">
      <Reads of={blocks} />
      <p class="muted">{shape(blocks.shape)}, {blocks.dtype}, {exact(blocks.total)} elements</p>
      <p class="big">{percent(blocks.total === 0 ? null : measured(blocks.changed / blocks.total))} <small>changed</small></p>
      {blocks.a === null && <p>Step {step}, {notCompared}</p>}
      <dl class="facts">
        <dt>Changed</dt><dd>{exact(measured(blocks.changed))}</dd>
        <dt>Compared with</dt><dd>{blocks.a === null ? unknown : `step ${blocks.a}`}</dd>
        <dt>Dead rows</dt><dd>{exact(measured(blocks.dead_rows))} of {exact(blocks.rows)}</dd>
        <dt>Dead columns</dt><dd>{exact(measured(blocks.dead_cols))} of {exact(blocks.cols)}</dd>
        <dt>Gini of rows</dt><dd>{blocks.gini_rows === null ? unknown : blocks.gini_rows.toFixed(2)}</dd>
        <dt>Block</dt><dd>{blocks.rows_per_block} × {blocks.cols_per_block}</dd>
      </dl>
      {blocks.top_rows.length > 0 && (
        <>
          <h2>Hottest rows</h2>
          <ul class="top-rows">
            {blocks.top_rows.map(({ row, changed }) => (
              <li key={row}>
                <button type="button" class="link" onClick={() => setPageParameters({ at: `${row},0` })}>row {exact(row)}</button>
                <span>{percent(blocks.cols === 0 ? null : changed / blocks.cols)}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </aside>
  );
}

/** Blocks of a step; the ones from before stay until the new ones are here. */
function useBlocks(runId: string, epoch: number | null, step: number | null, tensor: number, a: number | null) {
  const path = epoch === null || step === null ? null
    : `${runPath(runId, 'steps', `${epoch}:${step}`, 'tensors', String(tensor), 'blocks')}?n=128${a === null ? '' : `&a=${a}`}`;
  const blocks: Resource<Blocks> = useResource(path, ['step'], (event) => between(event, runId, epoch, a ?? blocks.data?.a ?? null, step), readBlocks);
  return blocks;
}

const readBlocks = async (path: string, signal: AbortSignal): Promise<Blocks> => parseBlocks(await (await request(path, { signal })).arrayBuffer());

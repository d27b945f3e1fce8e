import { useEffect, useRef } from 'preact/hooks';
import { pageParameter } from '../../canvas/address';
import { BlockView } from './BlockView';
import { ElementView } from './ElementView';
import './heatmap.css';
import { HeatView } from './HeatView';
import { numbers } from './place';

/**
 * Layers by steps; inside of one tensor its blocks; inside of a block its elements. The heatmap stays loaded below, so
 * that going back finds it as it was.
 */
export default function HeatmapPage({ runId = '' }: Record<string, string>) {
  const tensor = numbers(pageParameter('tensor'), 1)?.[0];
  const at = numbers(pageParameter('at'), 2);
  const heat = useRef<HTMLDivElement>(null);
  const inside = useRef(false);
  useEffect(() => {
    if (tensor === undefined && inside.current) heat.current?.querySelector('canvas')?.focus({ preventScroll: true });
    inside.current = tensor !== undefined;
  }, [tensor]);
  return (
    <>
      <div ref={heat} hidden={tensor !== undefined}><HeatView runId={runId} /></div>
      {tensor !== undefined && at === null && <BlockView runId={runId} tensor={tensor} />}
      {tensor !== undefined && at !== null && <ElementView runId={runId} tensor={tensor} row={at[0]!} column={at[1]!} />}
    </>
  );
}

import { pageParameter } from '../../canvas/address';
import { BlockView } from './BlockView';
import { ElementView } from './ElementView';
import './heatmap.css';
import { HeatView } from './HeatView';
import { numbers } from './place';

/** Layers by steps; inside of one tensor its blocks; inside of a block its elements. */
export default function HeatmapPage({ runId = '' }: Record<string, string>) {
  const tensor = numbers(pageParameter('tensor'), 1)?.[0];
  const at = numbers(pageParameter('at'), 2);
  if (tensor === undefined) return <HeatView runId={runId} />;
  if (at === null) return <BlockView runId={runId} tensor={tensor} />;
  return <ElementView runId={runId} tensor={tensor} row={at[0]!} column={at[1]!} />;
}

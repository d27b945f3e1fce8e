import type { ComponentChildren } from 'preact';
import type { Quantity } from '../format';

interface Props {
  label: ComponentChildren;
  value: Quantity;
  context: ComponentChildren; // one line below the number
  title?: string; // how it is counted
  bad?: boolean;
}

/** One number of the page Live. */
export function Kpi({ label, value, context, title, bad }: Props) {
  return (
    <div class={bad ? 'kpi bad' : 'kpi'} title={title}>
      <dt>{label}</dt>
      <dd>
        <span class="kpi-value">
          {value.value}
          {value.unit !== '' && <small> {value.unit}</small>}
        </span>
        <span class="kpi-context">{context}</span>
      </dd>
    </div>
  );
}

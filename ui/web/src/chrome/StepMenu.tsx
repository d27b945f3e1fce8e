import { canDo, isNewest, openAct, openPlan, openRollBack, stepActs } from '../actions';
import { Icon } from '../components/Icon';
import { Menu, type MenuItem } from '../components/Menu';

interface Props {
  run: string;
  epoch: number;
  step: number;
  restorable?: boolean; // false: it is known that the step cannot be rebuilt
}

/** What can be done with a step, each behind a sheet that shows its plan. */
export function StepMenu({ run, epoch, step, restorable = true }: Props) {
  const items: MenuItem[] = [
    { text: 'Verify…', act: () => openPlan('verify', run, epoch, step) },
    { text: 'Materialize…', disabled: !restorable, act: () => openPlan('materialize', run, epoch, step) },
    ...(canDo('rollback') ? [{ text: 'Roll back to it…', disabled: !restorable || isNewest(epoch, step), act: () => openRollBack(run, epoch, step) }] : []),
    ...stepActs().map(({ kind, title }) => ({ text: `${title}…`, act: () => openAct(kind, run, { step: `${epoch}:${step}` }) })),
  ];
  return (
    <Menu label={`Acts on step ${step}`} heading={`Step ${step}`} class="step-acts" items={items}>
      <span class="wide-only">Acts</span> <span class="wide-only"><Icon name="down" size={14} /></span>
      <span class="phone-only"><Icon name="more" /></span>
    </Menu>
  );
}

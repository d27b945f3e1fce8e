import { actions, sheet } from '../actions';
import { signOut } from '../api/client';
import { Icon } from '../components/Icon';
import { Link, runPage } from '../components/Link';
import { Menu } from '../components/Menu';
import { Name } from '../components/Name';
import { StaleBadge } from '../components/states';
import { RunPill } from '../components/RunPill';
import { navigate } from '../router';
import { epoch, stepB, viewQuery } from '../state/cursor';
import { capabilities, detail, firing, mayAct, runs } from '../state/store';
import { chooseTheme, chosenTheme } from '../state/theme';
import { Pickers } from './Pickers';
import { StepMenu } from './StepMenu';

/** The run, the cursor, search, alerts, theme and who is signed in. */
export function TopBar({ run }: { run: string | null }) {
  const known = detail.value?.id === run ? detail.value : runs.value?.runs.find(({ id }) => id === run);
  return (
    <header class={`topbar ${run === null ? '' : 'with-tabs'}`}>
      <Link to="" keep={false} class="brand" label="Deltascope, all runs">
        <Icon name="logo" size={24} />
        <span class="brand-word">Deltascope</span>
      </Link>
      {run !== null && (
        <>
          <span class="slash">/</span>
          <Link to={runPage(run)} class="run-name"><Name text={known?.name ?? run} limit={40} /></Link>
          {known && <RunPill run={known} />}
          <Pickers epochs={known?.epochs ?? 1} />
          {mayAct.value && stepB.value !== null && <StepMenu run={run} epoch={epoch.value} step={stepB.value} />}
        </>
      )}
      <span class="spring" />
      <span class="phone-only"><StaleBadge /></span>
      <button type="button" class="search-button" onClick={() => (sheet.value = { name: 'search' })}>
        <Icon name="search" />
        <span class="label">Step, tensor, run or command</span>
        <kbd aria-hidden="true">/</kbd>
      </button>
      <Link to="alerts" class="alert-count wide-only" label={`${firing.value} alerts firing`}>
        <Icon name="flag" /> {firing.value}
      </Link>
      <Menu
        label="Theme"
        items={(['light', 'dark', 'system'] as const).map((id) => ({
          text: { light: 'Light', dark: 'Dark', system: 'As the system' }[id],
          checked: chosenTheme.value === id, act: () => chooseTheme(id),
        }))}
      >
        <Icon name="moon" />
      </Menu>
      {capabilities.value !== null && !mayAct.value && (
        <span class="read-only wide-only" title={whyReadOnly(capabilities.value.read_only)}><Icon name="lock" size={14} /> read-only</span>
      )}
      {capabilities.value !== null && (
        <Menu
          label={`Signed in as ${capabilities.value.principal}`} class="principal wide-only"
          items={[
            { text: 'Shortcuts', act: () => actions.find(({ id }) => id === 'keys')?.act() },
            { text: 'About', act: () => navigate('about', viewQuery.value) },
            { text: 'Sign out', act: () => void signOut() },
          ]}
        >
          <Name text={capabilities.value.principal} limit={20} /> <Icon name="down" size={14} />
        </Menu>
      )}
    </header>
  );
}

export function whyReadOnly(atStart: boolean): string {
  return atStart
    ? 'The daemon was started without --allow-acts; the page only reads.'
    : 'Your token has no scope "act"; the page only reads.';
}

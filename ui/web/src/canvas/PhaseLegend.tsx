import './canvas.css';
import { GROUPS, type Group } from './phases';

/** Colors of the phases, pause first. */
export function PhaseLegend({ without = [] }: { without?: readonly Group[] }) {
  return (
    <ul class="phases" aria-label="Colors">
      {GROUPS.filter(({ id }) => !without.includes(id)).map(({ id, text }) => <li key={id} class={`phase-${id}`}>{text}</li>)}
    </ul>
  );
}

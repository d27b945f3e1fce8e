import { useState } from 'preact/hooks';
import { Icon } from '../components/Icon';
import { epoch, follow, newest, setA, setB, setView, stepA, stepB } from '../state/cursor';

/** B, A and the epoch. */
export function Pickers({ epochs }: { epochs: number }) {
  const latest = newest.value?.epoch ?? 0;
  return (
    <div class="pickers wide-only" role="group" aria-label="Steps">
      <StepField name="B" value={stepB.value} empty="none" set={setB} />
      <button
        type="button" class="icon-button follow" aria-pressed={follow.value} aria-label="Follow the newest step" title="Follow the newest step"
        onClick={() => setB(follow.value ? stepB.value : null)}
      >
        <Icon name="play" />
      </button>
      <StepField name="A" value={stepA.value} empty="none" set={setA} />
      {epochs > 1 && (
        <select aria-label="Epoch" value={epoch.value} onChange={(event) => setView({ epoch: Number(event.currentTarget.value), b: null })}>
          {Array.from({ length: Math.max(epochs, latest + 1) }, (_, i) => <option key={i} value={i}>epoch {i}</option>)}
        </select>
      )}
    </div>
  );
}

interface FieldProps {
  name: string;
  value: number | null;
  empty: string;
  set: (step: number | null) => void;
}

/** A step number; an empty field means none (A) or the newest (B). */
function StepField({ name, value, empty, set }: FieldProps) {
  const [draft, setDraft] = useState<string | null>(null); // while it is being typed
  const take = () => {
    const text = draft?.trim();
    if (text === '') set(null);
    else if (text !== undefined && /^\d{1,15}$/.test(text)) set(Number(text));
    setDraft(null);
  };
  return (
    <label class="step-field">
      {name}
      <input
        type="text" inputMode="numeric" aria-label={`Step ${name}`} placeholder={empty} value={draft ?? String(value ?? '')}
        onInput={(event) => setDraft(event.currentTarget.value)} onBlur={take}
        onKeyDown={(event) => event.key === 'Enter' && take()}
      />
    </label>
  );
}

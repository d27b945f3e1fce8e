import './canvas.css';

interface Props {
  label: string;
  placeholder: string;
  text: string;
  setText: (text: string) => void;
  error: string | null;
  found: string; // "34 of 1,234", shown while the filter is valid
}

/** A filter: neutral while empty, then valid with what it found, or invalid with why. */
export function FilterField({ label, placeholder, text, setText, error, found }: Props) {
  const state = text.trim() === '' ? '' : error === null ? 'valid' : 'invalid';
  return (
    <span class="filter-field">
      <input
        type="search" class={`filter ${state}`} aria-label={label} aria-invalid={state === 'invalid'} placeholder={placeholder}
        value={text} spellcheck={false} onInput={(event) => setText(event.currentTarget.value)}
      />
      <span class={state === 'invalid' ? 'error-text' : 'ok-text'} role="status">
        {state === 'valid' && `✓ ${found}`}
        {state === 'invalid' && `✕ ${error}`}
      </span>
    </span>
  );
}

interface Props<T extends string> {
  label: string;
  options: { id: T; text: string }[];
  chosen: T;
  choose: (id: T) => void;
}

/** A row of segments of which one is chosen. */
export function Tabs<T extends string>({ label, options, chosen, choose }: Props<T>) {
  return (
    <div class="segments" role="group" aria-label={label}>
      {options.map(({ id, text }) => (
        <button key={id} type="button" aria-pressed={id === chosen} onClick={() => choose(id)}>
          {text}
        </button>
      ))}
    </div>
  );
}

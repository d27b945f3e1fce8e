// Typed filters: `kind:anchor step:>1200 size:>10M 1100..1200`, all terms of which have to hold.

export type Value = string | number | null | readonly string[];

export interface Query<T> {
  test: (row: T) => boolean;
  error: string | null; // then everything passes
  empty: boolean;
}

const SUFFIX: Record<string, number> = { '': 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };

function number(text: string): number {
  const [, digits, suffix] = /^(-?\d+(?:\.\d+)?)([kmgt]?)b?$/i.exec(text) ?? [];
  if (digits === undefined) throw new Error(`${text} is no number`);
  return Number(digits) * SUFFIX[suffix!.toLowerCase()]!;
}

function numeric(text: string): (value: number) => boolean {
  const range = /^(.+)\.\.(.+)$/.exec(text);
  if (range !== null) {
    const [from, to] = [number(range[1]!), number(range[2]!)];
    return (value) => value >= from && value <= to;
  }
  const [, sign, rest] = /^(>=|<=|>|<|)(.*)$/.exec(text)!;
  const limit = number(rest!);
  switch (sign) {
    case '>': return (value) => value > limit;
    case '<': return (value) => value < limit;
    case '>=': return (value) => value >= limit;
    case '<=': return (value) => value <= limit;
    default: return (value) => value === limit;
  }
}

function matches(wanted: string): (value: Value) => boolean {
  let compare: ((value: number) => boolean) | null = null;
  const fits = (value: string): boolean => (wanted === '*' ? value !== '' : value.toLowerCase() === wanted);
  return (value) => {
    if (value === null) return false;
    if (typeof value === 'string') return fits(value);
    if (typeof value !== 'number') return value.some(fits);
    compare ??= numeric(wanted);
    return compare(value);
  };
}

/** `numbers`: fields that are compared as numbers, so that mistakes show at once. */
export function parseQuery<T>(
  text: string, fields: Record<string, (row: T) => Value>, numbers: readonly string[], words: (row: T) => string,
): Query<T> {
  const terms = text.trim().split(/\s+/).filter((term) => term !== '');
  try {
    const tests = terms.map((term): ((row: T) => boolean) => {
      const [, name, wanted] = /^([a-z]+):(.*)$/i.exec(term) ?? [];
      if (name === undefined) {
        const word = term.toLowerCase();
        return (row) => words(row).toLowerCase().includes(word);
      }
      const field = fields[name.toLowerCase()];
      if (field === undefined) throw new Error(`there is no ${name}; there are ${Object.keys(fields).join(', ')}`);
      if (wanted === '') throw new Error(`${name}: what?`);
      if (numbers.includes(name.toLowerCase())) numeric(wanted!);
      const match = matches(wanted!.toLowerCase());
      return (row) => match(field(row));
    });
    return { test: (row) => tests.every((test) => test(row)), error: null, empty: terms.length === 0 };
  } catch (error) {
    return { test: () => true, error: error instanceof Error ? error.message : String(error), empty: false };
  }
}

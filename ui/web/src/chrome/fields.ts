import type { ActField, ActValue } from '../api/types';

/** What stands in the fields of a sheet, by name. */
export type Filled = Record<string, string>;

const isWhole = (text: string, most = Infinity) => /^\d{1,15}$/.test(text) && Number(text) <= most;

/** Whether what is filled in can be planned. */
export function isComplete(fields: readonly ActField[], filled: Filled): boolean {
  return fields.every(({ name, type, required, most }) => {
    const text = (filled[name] ?? '').trim();
    if (text === '') return !required;
    return type !== 'whole' || isWhole(text, most);
  });
}

/** The arguments of a request; fields that are empty are left to the act. */
export function argsOf(fields: readonly ActField[], filled: Filled): Record<string, ActValue> {
  const args: Record<string, ActValue> = {};
  for (const { name, type } of fields) {
    const text = (filled[name] ?? '').trim();
    if (text === '') continue;
    args[name] = type === 'whole' ? Number(text) : type === 'flag' ? text === 'true' : text;
  }
  return args;
}

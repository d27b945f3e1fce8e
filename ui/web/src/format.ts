// Numbers, times and names as they stand on screen. What is not known is "–".

export const unknown = '–';

/** A value and its unit apart, for tiles where the unit is small. */
export interface Quantity {
  value: string;
  unit: string;
}

export function join(quantity: Quantity): string {
  return quantity.unit === '' ? quantity.value : `${quantity.value} ${quantity.unit}`;
}

const nothing: Quantity = { value: unknown, unit: '' };

/** Three significant digits, without an exponent: 1.23, 12.3, 123, 1234. */
function threeDigits(x: number): string {
  const size = Math.abs(x);
  if (size >= 99.95) return x.toFixed(0);
  return size >= 9.995 ? x.toFixed(1) : x.toFixed(2);
}

function scaled(x: number, units: readonly string[]): Quantity {
  let i = 0;
  while (Math.abs(x) >= 999.5 && i < units.length - 1) {
    x /= 1000;
    i += 1;
  }
  return { value: i === 0 ? String(Math.round(x)) : threeDigits(x), unit: units[i] ?? '' };
}

export function bytesQ(bytes: number | null | undefined): Quantity {
  return bytes == null ? nothing : scaled(bytes, ['B', 'kB', 'MB', 'GB', 'TB', 'PB']);
}

/** SI units: 1 GB is 10⁹ bytes. */
export const bytes = (value: number | null | undefined) => join(bytesQ(value));

export function rate(bytesPerSecond: number | null | undefined): string {
  return bytesPerSecond == null ? unknown : `${bytes(bytesPerSecond)}/s`;
}

/** Elements and the like: 63.2 M, 7.62 B. */
export function count(value: number | null | undefined): string {
  return value == null ? unknown : join(scaled(value, ['', 'k', 'M', 'B', 'T']));
}

/** With separators, every digit: 1,234,567. */
export function exact(value: number | null | undefined): string {
  return value == null ? unknown : value.toLocaleString('en-US');
}

export function percentQ(fraction: number | null | undefined): Quantity {
  if (fraction == null || !Number.isFinite(fraction)) return nothing;
  const p = fraction * 100;
  const size = Math.abs(p);
  if (size === 0) return { value: '0', unit: '%' };
  if (size >= 99.95) return { value: size === 100 ? '100' : p.toFixed(2), unit: '%' };
  if (size >= 9.95) return { value: p.toFixed(1), unit: '%' };
  if (size >= 0.995) return { value: p.toFixed(1), unit: '%' };
  if (size < 1e-6) return { value: p.toExponential(1), unit: '%' };
  return { value: p.toFixed(1 - Math.floor(Math.log10(size) + 1e-9)), unit: '%' };
}

/** Two significant digits below 1 %: 0.83 %, 0.0021 %. */
export const percent = (fraction: number | null | undefined) => join(percentQ(fraction));

/** "84×": how many times smaller. */
export function times(ratio: number | null | undefined): string {
  return ratio == null || !Number.isFinite(ratio) ? unknown : `${ratio >= 9.95 ? ratio.toFixed(0) : ratio.toFixed(1)}×`;
}

/** 840 ms, 12.4 s, 3:07, 1:02:05, 2 days. */
export function durationQ(seconds: number | null | undefined): Quantity {
  if (seconds == null || !Number.isFinite(seconds)) return nothing;
  if (seconds > 0 && seconds < 0.00005) return { value: '< 0.1', unit: 'ms' };
  if (seconds < 0.9995) return { value: (seconds * 1000).toFixed(seconds < 0.00995 ? 1 : 0), unit: 'ms' };
  if (seconds < 59.95) return { value: seconds.toFixed(1), unit: 's' };
  const whole = Math.round(seconds);
  const two = (n: number) => String(n).padStart(2, '0');
  if (whole < 3600) return { value: `${Math.floor(whole / 60)}:${two(whole % 60)}`, unit: '' };
  if (whole < 86_400) {
    return { value: `${Math.floor(whole / 3600)}:${two(Math.floor(whole / 60) % 60)}:${two(whole % 60)}`, unit: '' };
  }
  const days = Math.round(whole / 86_400);
  return { value: String(days), unit: days === 1 ? 'day' : 'days' };
}

export const duration = (seconds: number | null | undefined) => join(durationQ(seconds));
export const milliseconds = (ms: number | null | undefined) => duration(ms == null ? null : ms / 1000);

/** Whole seconds below a minute, because ages are counted, not measured: 7 s, 3:07, 2 days. */
export function ageQ(seconds: number | null | undefined): Quantity {
  if (seconds == null) return nothing;
  const whole = Math.max(0, Math.round(seconds));
  return whole < 60 ? { value: String(whole), unit: 's' } : durationQ(whole);
}

export const age = (seconds: number | null | undefined) => join(ageQ(seconds));

/** Seconds between a time of the API and the page's clock. */
export function secondsSince(us: number | null | undefined, nowMs: number): number | null {
  return us == null || us === 0 ? null : Math.max(0, nowMs / 1000 - us / 1e6);
}

export function ago(us: number | null | undefined, nowMs: number): string {
  const seconds = secondsSince(us, nowMs);
  return seconds === null ? unknown : `${age(seconds)} ago`;
}

/** Time of day, with the date if it is another day: 14:03:07. */
export function clock(us: number | null | undefined, nowMs = Date.now()): string {
  if (us == null || us === 0) return unknown;
  const time = new Date(us / 1000);
  const text = time.toLocaleTimeString('en-GB');
  const sameDay = time.toDateString() === new Date(nowMs).toDateString();
  return sameDay ? text : `${time.toLocaleDateString('sv-SE')} ${text}`;
}

/** Local and UTC time in full, for tooltips. */
export function fullTime(us: number | null | undefined): string {
  if (us == null || us === 0) return unknown;
  const time = new Date(us / 1000);
  return `${time.toLocaleString('sv-SE')} ${zone(time)}, ${time.toISOString()}`;
}

/** "UTC+2" */
export function zone(time = new Date()): string {
  const minutes = -time.getTimezoneOffset();
  const hours = Math.floor(Math.abs(minutes) / 60);
  const rest = Math.abs(minutes) % 60;
  return `UTC${minutes < 0 ? '-' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`;
}

export function shape(dimensions: readonly number[]): string {
  return dimensions.length === 0 ? 'scalar' : dimensions.join(' × ');
}

const backendNames: Record<string, string> = { avx2: 'AVX2', avx512: 'AVX-512', simd: 'SIMD', cuda: 'CUDA', scalar: 'scalar' };

/** What finds and applies changes, as people write it. */
export const backendText = (name: string): string => backendNames[name] ?? name;

/** What a model beside the checkpoints of steps is. */
export const roleText = (role: string): string => (role === 'final_save' ? 'final save' : 'older than the checkpoints');

export function plural(n: number, one: string, many = `${one}s`): string {
  return `${exact(n)} ${n === 1 ? one : many}`;
}

// Control characters, marks that turn the direction of text, and characters without a width.
const invisible = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/g;

/** A name from a file, with everything that could deceive the eye written out: "a\u202eb". */
export function safeName(name: string): string {
  return name.replace(invisible, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** A long name with its middle left out; both ends tell names of tensors apart. */
export function shorten(name: string, limit = 80): string {
  if (name.length <= limit) return name;
  const head = Math.ceil((limit - 1) / 2);
  return `${name.slice(0, head)}…${name.slice(name.length - (limit - 1 - head))}`;
}

// Changed shares as the server codes them in one byte: 0 is exactly none, 1…255 spread log10 evenly over [1e-6, 1].

const LOWEST = -6;
const PER_DECADE = 254 / 6;

export function encode(share: number): number {
  if (share <= 0) return 0;
  return Math.min(255, Math.max(1, Math.round(1 + (Math.log10(share) - LOWEST) * PER_DECADE)));
}

export function decode(code: number): number {
  return code === 0 ? 0 : 10 ** ((code - 1) / PER_DECADE + LOWEST);
}

/** decode() of all codes. */
export const SHARES = Float64Array.from({ length: 256 }, (_, code) => decode(code));

/** "0.82 %", "12 %": two digits, as far as one byte tells them. */
export function shareText(share: number): string {
  if (share === 0) return '0 %';
  const percent = share * 100;
  return `${percent < 0.001 ? percent.toExponential(1) : String(Number(percent.toPrecision(2)))} %`;
}

/** Codes of one column from the event `heat`. */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (byte) => byte.charCodeAt(0));
}

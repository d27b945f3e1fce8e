import { describe, expect, it } from 'vitest';
import { decode, encode, fromBase64, SHARES, shareText } from '../../src/canvas/codes';

describe('codes of changed shares', () => {
  it('keeps zero apart from the smallest share', () => {
    expect(encode(0)).toBe(0);
    expect(encode(1e-12)).toBe(1);
    expect(decode(0)).toBe(0);
    expect(decode(1)).toBeCloseTo(1e-6, 12);
  });
  it('spans 1e-6 to 1', () => {
    expect(encode(1)).toBe(255);
    expect(encode(7)).toBe(255);
    expect(decode(255)).toBeCloseTo(1, 12);
  });
  it('comes back to the same code', () => {
    for (let code = 0; code < 256; code += 1) expect(encode(SHARES[code]!)).toBe(code);
  });
  it('is off by at most half of one code, a factor of 1.028', () => {
    for (const share of [2e-6, 3.3e-4, 0.0083, 0.12, 0.77]) {
      const ratio = decode(encode(share)) / share;
      expect(Math.max(ratio, 1 / ratio)).toBeLessThan(1.029);
    }
  });
  it('writes two digits', () => {
    expect([0, 0.0083, 0.12, 1, 1e-6].map(shareText)).toEqual(['0 %', '0.83 %', '12 %', '100 %', '1.0e-4 %']);
  });
  it('reads a column of the stream', () => {
    expect([...fromBase64('AAH/')]).toEqual([0, 1, 255]);
  });
});

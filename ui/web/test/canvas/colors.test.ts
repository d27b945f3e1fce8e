import { describe, expect, it } from 'vitest';
import { encode } from '../../src/canvas/codes';
import { colorAt, heatTable, MAPS, parseColor, signedTable } from '../../src/canvas/colors';

const ZERO = parseColor('#24282e');
const bytes = (color: number): number[] => [color & 255, (color >> 8) & 255, (color >> 16) & 255, color >>> 24];
const luminance = (color: number): number => {
  const [r, g, b] = bytes(color).map((v) => ((v / 255 + 0.055) / 1.055) ** 2.4);
  return 0.2126 * r! + 0.7152 * g! + 0.0722 * b!;
};

describe('color tables', () => {
  const window = { lo: 1e-4, hi: 0.1 };

  it('gives nothing changed its own flat color', () => {
    expect(bytes(heatTable('cividis', window, ZERO)[0]!)).toEqual([0x24, 0x28, 0x2e, 255]);
  });
  it('ends at the ends of the window and clips outside', () => {
    const table = heatTable('cividis', window, ZERO);
    expect(bytes(table[encode(1e-4)]!)).toEqual([0x00, 0x20, 0x51, 255]);
    expect(table[1]).toBe(table[encode(1e-4)]);
    expect(bytes(table[encode(0.1)]!)).toEqual([0xfd, 0xea, 0x45, 255]);
    expect(table[255]).toBe(table[encode(0.1)]);
  });
  it('grows steadily in lightness with color maps, falls with greys', () => {
    for (const map of MAPS) {
      const table = heatTable(map, { lo: 1e-6, hi: 1 }, ZERO);
      const steps = Array.from({ length: 254 }, (_, i) => luminance(table[i + 2]!) - luminance(table[i + 1]!));
      const sign = map === 'greys' ? -1 : 1;
      expect(steps.every((step) => step * sign > -0.002), map).toBe(true);
    }
  });
  it('is opaque everywhere, because transparent means unknown', () => {
    expect(heatTable('viridis', window, ZERO).every((color) => color >>> 24 === 255)).toBe(true);
  });
  it('draws the legend in the same colors', () => {
    expect(colorAt('cividis', 0)).toBe('rgb(0 32 81)');
    expect(colorAt('cividis', 1)).toBe('rgb(253 234 69)');
  });
  it('has zero of signed values in the middle, dark on dark pages', () => {
    expect(luminance(signedTable('light')[128]!)).toBeGreaterThan(0.85);
    expect(luminance(signedTable('dark')[128]!)).toBeLessThan(0.03);
  });
});

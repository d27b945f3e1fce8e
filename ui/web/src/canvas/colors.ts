// Color maps. A table has one entry per code, in the byte order of ImageData; 0 (transparent) stays for unknown cells.

import { encode } from './codes';

export type MapName = 'cividis' | 'viridis' | 'greys';
export type Rgb = readonly [number, number, number];

/** Shares at which the colors begin and end; what is outside takes the color of the end. */
export interface Window {
  lo: number;
  hi: number;
}

const STOPS: Record<MapName, string> = {
  cividis: '#002051 #11366c #3c4d6e #62646f #7f7c75 #9a9478 #bbaf71 #e2cb5c #fdea45',
  viridis: '#440154 #472d7b #3b528b #2c728e #21918c #28ae80 #5ec962 #addc30 #fde725',
  greys: '#e4e4e4 #c9c9c9 #aeaeae #949494 #7a7a7a #616161 #494949 #333333 #1c1c1c',
};
const SIGNED = {
  light: '#762a83 #9970ab #c2a5cf #e7d4e8 #f7f7f7 #d9f0d3 #a6dba0 #5aae61 #1b7837',
  dark: '#e7d4e8 #c2a5cf #9970ab #5b4366 #24282e #35563b #5aae61 #a6dba0 #d9f0d3',
};

export const MAPS = Object.keys(STOPS) as MapName[];

export function parseColor(text: string): Rgb {
  const hex = text.trim().replace('#', '');
  const wide = hex.length === 3 ? [...hex].map((digit) => digit + digit).join('') : hex;
  return [0, 2, 4].map((at) => parseInt(wide.slice(at, at + 2), 16)) as unknown as Rgb;
}

const pack = ([r, g, b]: Rgb): number => ((255 << 24) | (b << 16) | (g << 8) | r) >>> 0;

/** Color at `t` in [0, 1] between evenly spaced stops. */
function between(stops: readonly Rgb[], t: number): Rgb {
  const at = Math.min(1, Math.max(0, t)) * (stops.length - 1);
  const left = stops[Math.floor(at)]!;
  const right = stops[Math.ceil(at)]!;
  const part = at - Math.floor(at);
  return left.map((value, i) => Math.round(value + (right[i]! - value) * part)) as unknown as Rgb;
}

const stopsOf = (text: string): Rgb[] => text.split(' ').map(parseColor);
const PARSED = Object.fromEntries(MAPS.map((map) => [map, stopsOf(STOPS[map])])) as Record<MapName, Rgb[]>;

/** Color of a share inside of the window, for legends. */
export function colorAt(map: MapName, t: number): string {
  return `rgb(${between(PARSED[map], t).join(' ')})`;
}

/** Table for codes: 0 is the flat color of nothing changed, the window spreads over the map. */
export function heatTable(map: MapName, window: Window, zero: Rgb): Uint32Array {
  const stops = PARSED[map];
  const lo = encode(window.lo);
  const span = Math.max(1, encode(window.hi) - lo);
  return Uint32Array.from({ length: 256 }, (_, code) => pack(code === 0 ? zero : between(stops, (code - lo) / span)));
}

/** Table for signed values: 128 is zero, 1 and 255 the ends. */
export function signedTable(theme: 'light' | 'dark'): Uint32Array {
  const stops = stopsOf(SIGNED[theme]);
  return Uint32Array.from({ length: 256 }, (_, i) => pack(between(stops, (i - 1) / 254)));
}

import { describe, expect, it } from 'vitest';
import * as f from '../../src/format';

describe('bytes', () => {
  it('uses SI units with three digits', () => {
    expect(f.bytes(0)).toBe('0 B');
    expect(f.bytes(999)).toBe('999 B');
    expect(f.bytes(1000)).toBe('1.00 kB');
    expect(f.bytes(182_000_000)).toBe('182 MB');
    expect(f.bytes(15.2e9)).toBe('15.2 GB');
    expect(f.bytes(999_600_000)).toBe('1.00 GB');
  });
  it('leaves what is not known unknown', () => {
    for (const show of [f.bytes, f.count, f.percent, f.duration, f.age, f.exact, f.rate, f.times, f.milliseconds]) {
      expect(show(null)).toBe('–');
      expect(show(undefined)).toBe('–');
    }
    expect(f.clock(null)).toBe('–');
    expect(f.ago(null, 0)).toBe('–');
  });
});

describe('percent', () => {
  it('has two significant digits below 1 %', () => {
    expect(f.percent(0.0083)).toBe('0.83 %');
    expect(f.percent(0.000021)).toBe('0.0021 %');
    expect(f.percent(0.00996)).toBe('1.0 %');
    expect(f.percent(0.117)).toBe('11.7 %');
    expect(f.percent(0)).toBe('0 %');
    expect(f.percent(1)).toBe('100 %');
  });
  it('never rounds something to everything or to nothing', () => {
    expect(f.percent(0.99996)).not.toBe('100 %');
    expect(f.percent(1e-9)).not.toBe('0 %');
  });
});

describe('durations and ages', () => {
  it('changes the unit with the size', () => {
    expect(f.duration(0)).toBe('0.0 ms');
    expect(f.duration(0.00002)).toBe('< 0.1 ms');
    expect(f.duration(0.84)).toBe('840 ms');
    expect(f.duration(12.4)).toBe('12.4 s');
    expect(f.duration(187)).toBe('3:07');
    expect(f.duration(59.97)).toBe('1:00');
    expect(f.duration(3725)).toBe('1:02:05');
    expect(f.duration(2 * 86_400)).toBe('2 days');
  });
  it('counts ages in whole seconds', () => {
    expect(f.age(7.4)).toBe('7 s');
    expect(f.age(1122)).toBe('18:42');
    expect(f.ago(5e6, 12_000)).toBe('7 s ago');
    expect(f.ago(20e6, 12_000)).toBe('0 s ago'); // clocks differ; nothing is in the future
  });
});

describe('hostile names', () => {
  it('writes out what turns or hides text', () => {
    expect(f.safeName('a\u202egnp.exe')).toBe('a\\u202egnp.exe');
    expect(f.safeName('a\u0000b\nc\u200bd\u2066e')).toBe('a\\u0000b\\u000ac\\u200bd\\u2066e');
    expect(f.safeName('model.layers.0 ä 層')).toBe('model.layers.0 ä 層');
  });
  it('keeps both ends of long names', () => {
    const short = f.shorten(`layers.0.${'x'.repeat(300)}.weight`, 40);
    expect(short).toHaveLength(40);
    expect(short.startsWith('layers.0.')).toBe(true);
    expect(short.endsWith('.weight')).toBe(true);
    expect(f.shorten('abc', 40)).toBe('abc');
  });
});

import { describe, expect, it } from 'vitest';
import { emptyView, parseView, writeView } from '../../src/state/cursor';

describe('the view in the address', () => {
  it('survives being written and read', () => {
    const view = {
      b: 1234, a: 1190, epoch: 1, range: [1100, 1234] as [number, number], x: 'wall' as const, smooth: 0.6,
      panels: ['changed', 'pause'], embed: true, tv: true, theme: 'dark' as const,
    };
    expect(parseView(writeView(view))).toEqual(view);
  });
  it('is empty for the view that everybody starts with', () => {
    expect(writeView(emptyView)).toBe('');
    expect(parseView('')).toEqual(emptyView);
  });
  it('reads the documented form', () => {
    const view = parseView('?b=1234&a=1190&range=1100-1234&x=step&smooth=0.6&embed=1&theme=dark&panels=changed,pause');
    expect(view).toMatchObject({ b: 1234, a: 1190, range: [1100, 1234], smooth: 0.6, embed: true, panels: ['changed', 'pause'] });
  });
  it('leaves out what makes no sense', () => {
    expect(parseView('?b=-1&a=x&range=9-2&smooth=2&theme=pink&epoch=1e9&x=mars')).toEqual(emptyView);
    expect(parseView('?b=99999999999999999999').b).toBeNull();
  });
  it('keeps the parameters of the page', () => {
    expect(writeView({ ...emptyView, b: 3 }, '?prefix=deltas%2F&b=1')).toBe('?prefix=deltas%2F&b=3');
  });
});

/** Says whether a value is above or below its median, with a mark and a word; within 3 % it is as usual. */
export function usual(value: number | null, median: number | null): { mark: string; word: string } {
  if (value === null || median === null || median === 0) return { mark: '', word: '' };
  const ratio = value / median;
  if (ratio > 1.03) return { mark: '▲', word: 'above usual' };
  if (ratio < 0.97) return { mark: '▼', word: 'below usual' };
  return { mark: '', word: 'as usual,' };
}

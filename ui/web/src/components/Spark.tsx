interface Props {
  values: readonly (number | null)[];
  label: string;
  bars?: boolean;
  height?: number;
}

const width = 200;

/** A small line, or bars, without axes. One missing value (an anchor) is passed over, more are a gap. */
export function Spark({ values, label, bars = false, height = 48 }: Props) {
  const known = values.filter((value) => value !== null);
  const lo = bars ? 0 : Math.min(...known);
  const hi = Math.max(...known, bars ? 1 : -Infinity);
  const x = (i: number) => (i / Math.max(1, values.length - (bars ? 0 : 1))) * width;
  const y = (value: number) => height - 2 - ((value - lo) / (hi - lo || 1)) * (height - 6);
  const path = values
    .map((value, i) => {
      if (value === null) return '';
      if (bars) return value === 0 ? '' : `M${x(i).toFixed(1)} ${height}V${y(value).toFixed(1)}`;
      return `${values[i - 1] == null && values[i - 2] == null ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`;
    })
    .join('');
  return (
    <svg class={bars ? 'spark bars' : 'spark'} viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={label}>
      <path d={path} fill="none" stroke="currentColor" vector-effect="non-scaling-stroke" />
    </svg>
  );
}

// Where the parts of the heatmap lie on its canvas.

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface HeatLayout {
  tree: Box;
  plot: Box;
  lanes: Box;
  steps: Box; // labels of the steps
  gutter: Box | null; // mean per row
  legend: Box;
  overview: Box;
}

const LANES = 36;
const STEPS = 18;
const OVERVIEW = 40;

/** Below this width the legend lies below the plot and the gutter is left out. */
const NARROW = 560;

export function heatLayout(width: number, height: number): HeatLayout {
  const narrow = width < NARROW;
  const left = narrow ? 92 : 164;
  const right = narrow ? 8 : 156;
  const bottom = OVERVIEW + (narrow ? 40 : 12);
  const plot = {
    x: left, y: LANES + STEPS, width: Math.max(1, width - left - right),
    height: Math.max(1, height - LANES - STEPS - bottom),
  };
  return {
    tree: { x: 0, y: plot.y, width: left - 8, height: plot.height },
    plot,
    lanes: { x: plot.x, y: 0, width: plot.width, height: LANES },
    steps: { x: plot.x, y: LANES, width: plot.width, height: STEPS },
    gutter: narrow ? null : { x: plot.x + plot.width + 8, y: plot.y, width: 48, height: plot.height },
    legend: narrow
      ? { x: plot.x, y: height - 22, width: plot.width, height: 10 }
      : { x: plot.x + plot.width + 72, y: plot.y, width: 12, height: Math.min(360, plot.height - 48) },
    overview: { x: plot.x, y: plot.y + plot.height + 12, width: plot.width, height: 16 },
  };
}

export const inside = (box: Box | null, x: number, y: number): boolean =>
  box !== null && x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height;

import { safeName } from '../format';
import { color } from '../state/theme';
import { align, csvOf, type PlotSeries } from './model';

/** Offers bytes to the user as a file. */
export function download(name: string, data: Blob): void {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(data);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export interface Figure {
  title: string;
  unit: string;
  series: PlotSeries[];
  range: [number, number];
}

export function downloadCsv(figure: Figure): void {
  download(`${figure.title}.csv`, new Blob([csvOf(figure.series, figure.unit)], { type: 'text/csv' }));
}

const width = 960;
const height = 360;
const plot = { left: 64, top: 40, right: 16, bottom: 36 };

/** The plot as a standalone picture, with title, unit, legend and scales. */
export function svgOf(figure: Figure, paint: (token: string) => string = color): string {
  const { x, y } = align(figure.series.map(({ columns }) => ({ x: columns.x, y: columns.last })));
  const values = y.flat().filter((v): v is number => typeof v === 'number' && Number.isFinite(v));
  const zero = figure.series.some(({ draw }) => draw === 'bars');
  const lo = Math.min(...values, ...(zero ? [0] : []));
  const hi = Math.max(...values, lo + 1e-12);
  const [from, to] = figure.range;
  const px = (v: number) => plot.left + ((v - from) / Math.max(1, to - from)) * (width - plot.left - plot.right);
  const py = (v: number) => height - plot.bottom - ((v - lo) / (hi - lo)) * (height - plot.top - plot.bottom);
  const bar = Math.max(1, ((width - plot.left - plot.right) / Math.max(1, to - from + 1)) * 0.7);
  const shapes = figure.series.map((series, k) => {
    const points = x.flatMap((step, i) => {
      const value = y[k]?.[i];
      return typeof value === 'number' && step >= from && step <= to ? [[px(step), py(value)] as const] : [];
    });
    if (series.draw === 'bars') {
      const rects = points.map(([cx, cy]) => `M${(cx - bar / 2).toFixed(1)} ${py(0).toFixed(1)}V${cy.toFixed(1)}h${bar.toFixed(1)}V${py(0).toFixed(1)}z`);
      return `<path d="${rects.join('')}" fill="${paint(series.color)}"/>`;
    }
    const line = points.map(([cx, cy]) => `${cx.toFixed(1)},${cy.toFixed(1)}`).join(' ');
    return `<polyline points="${line}" fill="none" stroke="${paint(series.color)}" stroke-width="${series.width ?? 1.5}"/>`;
  });
  const legend = figure.series.map(({ label, color: token }, k) =>
    `<rect x="${width - 16 - 150 * (figure.series.length - k)}" y="12" width="10" height="10" fill="${paint(token)}"/>` +
    `<text x="${width - 2 - 150 * (figure.series.length - k)}" y="21">${escape(label)}</text>`);
  const axis = [
    `<text x="${plot.left}" y="${height - 12}">step ${from}</text>`,
    `<text x="${width - plot.right}" y="${height - 12}" text-anchor="end">${to}</text>`,
    `<text x="${plot.left - 8}" y="${py(lo)}" text-anchor="end">${lo.toPrecision(3)}</text>`,
    `<text x="${plot.left - 8}" y="${py(hi) + 4}" text-anchor="end">${hi.toPrecision(3)}</text>`,
    `<path d="M${plot.left} ${plot.top}V${height - plot.bottom}H${width - plot.right}" fill="none" stroke="${paint('border-strong')}"/>`,
  ];
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ` +
    `font-family="sans-serif" font-size="12" fill="${paint('text')}"><rect width="100%" height="100%" fill="${paint('raised')}"/>` +
    `<text x="16" y="22" font-weight="600">${escape(figure.title)}${figure.unit === '' ? '' : `, ${escape(figure.unit)}`}</text>` +
    `${legend.join('')}${axis.join('')}${shapes.join('')}</svg>`;
}

export function downloadSvg(figure: Figure): void {
  download(`${figure.title}.svg`, new Blob([svgOf(figure)], { type: 'image/svg+xml' }));
}

/** The canvas of the screen with a headline above: what is seen is what is exported. */
export function downloadPng(figure: Figure, source: HTMLCanvasElement): void {
  const ratio = window.devicePixelRatio;
  const head = 32 * ratio;
  const canvas = document.createElement('canvas');
  canvas.width = source.width;
  canvas.height = source.height + head;
  const context = canvas.getContext('2d');
  if (!context) return;
  context.fillStyle = color('raised');
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = color('text');
  context.font = `600 ${12 * ratio}px sans-serif`;
  context.textBaseline = 'middle';
  const legend = figure.series.map(({ label }) => safeName(label)).join(', ');
  context.fillText(`${figure.title}${figure.unit === '' ? '' : `, ${figure.unit}`} (${legend})`, 12 * ratio, head / 2);
  context.drawImage(source, 0, head);
  canvas.toBlob((blob) => blob && download(`${figure.title}.png`, blob));
}

function escape(text: string): string {
  return safeName(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}

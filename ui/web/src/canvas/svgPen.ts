// The part of a 2D context that our painters use, written out as SVG: the same painter makes the vector picture.

import type { Pen } from './surface';

const escape = (value: string): string =>
  value.replace(/[&<>"]/g, (c) => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

const n = (value: number): string => String(Math.round(value * 100) / 100);

interface State {
  fillStyle: string;
  strokeStyle: string;
  lineWidth: number;
  font: string;
  textAlign: CanvasTextAlign;
  textBaseline: CanvasTextBaseline;
  globalAlpha: number;
  dash: number[];
  clip: string | null;
  move: string; // transform
}

const ANCHORS: Partial<Record<CanvasTextAlign, string>> = { center: 'middle', right: 'end' };

export class SvgPen implements Pen {
  fillStyle: Pen['fillStyle'] = '#000';
  strokeStyle: Pen['strokeStyle'] = '#000';
  lineWidth = 1;
  font = '10px sans-serif';
  textAlign: CanvasTextAlign = 'left';
  textBaseline: CanvasTextBaseline = 'alphabetic';
  globalAlpha = 1;
  imageSmoothingEnabled = false;
  private dash: number[] = [];
  private clipId: string | null = null;
  private move = '';
  private path = '';
  private parts: string[] = [];
  private clips = 0;
  private stack: State[] = [];
  private readonly measure = document.createElement('canvas').getContext('2d')!;

  /** The whole picture. */
  document(width: number, height: number): string {
    const size = `width="${n(width)}" height="${n(height)}" viewBox="0 0 ${n(width)} ${n(height)}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>\n${this.parts.join('\n')}\n</svg>\n`;
  }

  save(): void {
    const { lineWidth, font, textAlign, textBaseline, globalAlpha, dash, clipId, move } = this;
    this.stack.push({
      fillStyle: String(this.fillStyle), strokeStyle: String(this.strokeStyle), lineWidth, font, textAlign, textBaseline,
      globalAlpha, dash, clip: clipId, move,
    });
  }

  restore(): void {
    const { dash, clip, move, ...rest } = this.stack.pop()!;
    Object.assign(this, rest);
    this.dash = dash;
    this.clipId = clip;
    this.move = move;
  }

  translate(x: number, y: number): void {
    this.move += `translate(${n(x)} ${n(y)})`;
  }
  rotate(angle: number): void {
    this.move += `rotate(${n((angle * 180) / Math.PI)})`;
  }

  beginPath(): void {
    this.path = '';
  }
  moveTo(x: number, y: number): void {
    this.path += `M${n(x)} ${n(y)}`;
  }
  lineTo(x: number, y: number): void {
    this.path += `L${n(x)} ${n(y)}`;
  }
  closePath(): void {
    this.path += 'Z';
  }
  rect(x: number, y: number, width: number, height: number): void {
    this.path += `M${n(x)} ${n(y)}h${n(width)}v${n(height)}h${n(-width)}Z`;
  }
  /** Whole circles only. */
  arc(x: number, y: number, radius: number): void {
    this.path += `M${n(x - radius)} ${n(y)}a${n(radius)} ${n(radius)} 0 1 0 ${n(2 * radius)} 0a${n(radius)} ${n(radius)} 0 1 0 ${n(-2 * radius)} 0Z`;
  }

  clip(): void {
    this.clips += 1;
    const outer = this.clipId === null ? '' : ` clip-path="url(#${this.clipId})"`;
    this.clipId = `clip${this.clips}`;
    this.parts.push(`<clipPath id="${this.clipId}"${outer}><path d="${this.path}"/></clipPath>`);
  }

  fill(): void {
    this.add(`<path d="${this.path}" fill="${escape(String(this.fillStyle))}"`, '/>');
  }
  stroke(): void {
    this.add(`<path d="${this.path}" fill="none" ${this.line()}`, '/>');
  }
  fillRect(x: number, y: number, width: number, height: number): void {
    this.add(`<rect ${box(x, y, width, height)} fill="${escape(String(this.fillStyle))}"`, '/>');
  }
  strokeRect(x: number, y: number, width: number, height: number): void {
    this.add(`<rect ${box(x, y, width, height)} fill="none" ${this.line()}`, '/>');
  }

  fillText(content: string, x: number, y: number): void {
    const [, weight, size, family] = /^(?:(\S+) )?([\d.]+)px (.*)$/.exec(this.font)!;
    const anchor = ANCHORS[this.textAlign];
    const attributes = [
      `x="${n(x)}" y="${n(y)}" font-size="${size}" font-weight="${weight ?? 400}" font-family="${escape(family!)}"`,
      `fill="${escape(String(this.fillStyle))}"`,
      anchor === undefined ? '' : `text-anchor="${anchor}"`,
      this.textBaseline === 'middle' ? 'dominant-baseline="central"' : '',
    ];
    this.add(`<text ${attributes.filter((part) => part !== '').join(' ')}`, `>${escape(content)}</text>`);
  }

  measureText(content: string): TextMetrics {
    this.measure.font = this.font;
    return this.measure.measureText(content);
  }
  setLineDash(dash: Iterable<number>): void {
    this.dash = [...dash];
  }

  /** A stretched part of a canvas, embedded as PNG. */
  drawImage(source: CanvasImageSource, ...at: number[]): void {
    const [sx, sy, sw, sh, x, y, width, height] = at as [number, number, number, number, number, number, number, number];
    const part = document.createElement('canvas');
    part.width = Math.max(1, sw);
    part.height = Math.max(1, sh);
    part.getContext('2d')!.drawImage(source, sx, sy, sw, sh, 0, 0, sw, sh);
    const how = 'preserveAspectRatio="none" image-rendering="pixelated"';
    this.add(`<image ${box(x, y, width, height)} ${how} href="${part.toDataURL('image/png')}"`, '/>');
  }

  private line(): string {
    const dash = this.dash.length === 0 ? '' : ` stroke-dasharray="${this.dash.join(' ')}"`;
    return `stroke="${escape(String(this.strokeStyle))}" stroke-width="${n(this.lineWidth)}"${dash}`;
  }

  private add(start: string, end: string): void {
    const alpha = this.globalAlpha === 1 ? '' : ` opacity="${n(this.globalAlpha)}"`;
    const move = this.move === '' ? '' : ` transform="${this.move}"`;
    const part = `${start}${alpha}${move}${end}`;
    this.parts.push(this.clipId === null ? part : `<g clip-path="url(#${this.clipId})">${part}</g>`);
  }
}

const box = (x: number, y: number, width: number, height: number): string =>
  `x="${n(width < 0 ? x + width : x)}" y="${n(height < 0 ? y + height : y)}" width="${n(Math.abs(width))}" height="${n(Math.abs(height))}"`;

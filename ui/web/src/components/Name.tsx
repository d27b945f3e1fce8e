import { safeName, shorten } from '../format';

/** A name that came from a file: isolated from the direction of the text around it, invisible characters written out. */
export function Name({ text, limit }: { text: string; limit?: number }) {
  const safe = safeName(text);
  const short = shorten(safe, limit);
  return <bdi title={short === safe ? undefined : shorten(safe, 600)}>{short}</bdi>;
}

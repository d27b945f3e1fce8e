import { useEffect, useState } from 'preact/hooks';

/** Pixels that a list may take: the height of the window less what stands around it. */
export function useRoom(around: number, least = 240): number {
  const [height, setHeight] = useState(window.innerHeight);
  useEffect(() => {
    const read = (): void => setHeight(window.innerHeight);
    window.addEventListener('resize', read);
    return () => window.removeEventListener('resize', read);
  }, []);
  return Math.max(least, height - around);
}

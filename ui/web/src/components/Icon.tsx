const paths = {
  logo: 'M12 3 2.5 20.5h19zM12 11l-4 7.5M12 11l4 7.5M12 11v7.5',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l5 5',
  flag: 'M6 21V4h12l-3 4 3 4H6',
  moon: 'M20 14A8.5 8.5 0 1 1 10 4a7 7 0 0 0 10 10z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.5 1.5M17.5 17.5 19 19M19 5l-1.5 1.5M6.5 17.5 5 19',
  screen: 'M3 5h18v11H3zM9 20h6M12 16v4',
  lock: 'M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3',
  down: 'M6 9l6 6 6-6',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  more: 'M5 12h.01M12 12h.01M19 12h.01',
  alert: 'M12 3.5 2.5 20h19zM12 10v4.5M12 17.3v.2',
  shield: 'M12 3l7.5 3v5.5c0 4.6-3 8-7.5 9.5-4.5-1.5-7.5-4.9-7.5-9.5V6z',
  pulse: 'M2 12h5l3-8 4 16 3-8h5',
  grid: 'M4 4h16v16H4zM4 9.3h16M4 14.6h16M9.3 4v16M14.6 4v16',
  bars: 'M3 6h8M7 12h10M13 18h8',
  branch: 'M6 5a2 2 0 1 0 0 .01M6 7v12M6 19a2 2 0 1 0 0 .01M18 7a2 2 0 1 0 0 .01M18 9c0 4-6 4-12 6',
  diff: 'M4 4h6v16H4zM14 4h6v16h-6M7 12h.01M15 9h4M15 14h4',
  folder: 'M3 6h6l2 2h10v11H3z',
  book: 'M6 3h13v18H6a2 2 0 0 1-2-2V5a2 2 0 0 1 2-2zM9 8h6M9 12h6',
  bucket: 'M5 6c0-1.7 14-1.7 14 0l-2 14H7zM5 6c0 1.7 14 1.7 14 0',
  list: 'M4 6h16M4 12h16M4 18h10',
  download: 'M12 4v11M7 11l5 5 5-5M5 20h14',
  terminal: 'M3 5h18v14H3zM7 10l3 2.5L7 15M12 15h4',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  undo: 'M4 5v5h5M4.5 10a8 8 0 1 1-.5 4',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v5M12 7.8v.2',
  keyboard: 'M2 6h20v12H2zM6 10h.01M10 10h.01M14 10h.01M18 10h.01M7 14h10',
  open: 'M14 4h6v6M20 4l-9 9M18 14v6H4V6h6',
} as const;

export type IconName = keyof typeof paths;

/** One stroke icon in the color of the text around it. Decoration: the word stands beside it or on the button. */
export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg class="icon" width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={paths[name]} fill="none" stroke="currentColor" stroke-width="2" stroke-linecap="round" stroke-linejoin="round" />
    </svg>
  );
}

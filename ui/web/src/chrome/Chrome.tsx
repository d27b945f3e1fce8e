import type { ComponentChildren } from 'preact';
import type { Route } from '../router';

export function Chrome({ children }: { route: Route | null; children: ComponentChildren }) {
  return <main>{children}</main>;
}

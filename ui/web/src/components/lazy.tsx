import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Skeleton } from './states';

/** A component in a chunk of its own, loaded when it is shown for the first time. */
export function lazy<P extends object>(load: () => Promise<{ default: ComponentType<P> }>): ComponentType<P> {
  let loaded: ComponentType<P> | null = null;
  return function Lazy(props: P) {
    const [Shown, setShown] = useState<ComponentType<P> | null>(() => loaded);
    useEffect(() => {
      if (!loaded) void load().then((module) => setShown(() => (loaded = module.default)));
    }, []);
    return Shown ? <Shown {...props} /> : <Skeleton rows={3} />;
  };
}

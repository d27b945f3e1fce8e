import { expect, test } from 'vitest';
import lock from '../../package-lock.json';

interface LockedPackage {
  version?: string;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
}

const packages: Record<string, LockedPackage> = lock.packages;

/** Node's rule: the package's own folder of modules, then that of each folder above it. */
function isLocked(name: string, from: string): boolean {
  for (let folder = from; ; folder = folder.slice(0, Math.max(0, folder.lastIndexOf('/node_modules/')))) {
    if (`${folder ? `${folder}/` : ''}node_modules/${name}` in packages) return true;
    if (!folder) return false;
  }
}

// A lock made beside a mirror that lacks the packages of other platforms installs there and nowhere else.
test('the lock file holds every package of every platform, and no address', () => {
  const missing = Object.entries(packages).flatMap(([folder, entry]) =>
    Object.keys({ ...entry.dependencies, ...entry.optionalDependencies })
      .filter((name) => !isLocked(name, folder))
      .map((name) => `${name} wanted by ${folder || 'the page'}`),
  );
  expect(missing).toEqual([]);
  expect(Object.values(packages).filter((entry) => 'resolved' in entry)).toEqual([]);
});

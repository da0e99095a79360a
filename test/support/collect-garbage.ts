import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

function takeCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Node.js's compile cache is per set of flags: a thread that starts later would not find its entries.
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** Collects all garbage, synchronously. */
export const collectGarbage = takeCollector();

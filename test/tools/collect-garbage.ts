import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

function takeCollector(): () => void {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  // Node.js keeps what it compiles for each set of flags: a thread that starts later would find nothing of it.
  setFlagsFromString('--no-expose-gc');
  return collect;
}

/** Collects all garbage, at once. */
export const collectGarbage = takeCollector();

import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { folderProblem, makeFolder } from '../../base/index.ts';
import type { Entry } from '../../checks/rehearsal/index.ts';
import type { JsonObject } from '../../kubernetes/index.ts';
import { FailureError } from '../framework/program.ts';

/** Longest part of a file's name that comes from the name of an object, in characters. */
const maxName = 150;

/**
 * Creates a folder, and returns what writes the requests of a rehearsal into it: a file for each, readable by its owner
 * only, since variables of Clusters may be secrets. `team_blue-0007-GeneratePatches.json` is that of the seventh call for
 * the Cluster team/blue.
 */
export function requestWriter(folder: string): (call: Entry & { type: 'call' }, request: JsonObject) => void {
  const attempt = <T>(action: () => T): T => {
    try {
      return action();
    } catch (error) {
      throw new FailureError(`--write-requests: ${folderProblem(folder, 'written', error)}`);
    }
  };
  const [present] = attempt(() => {
    makeFolder(folder, 0o700);
    return readdirSync(folder);
  });
  if (present !== undefined) {
    throw new FailureError(
      `--write-requests: ${folder} is not empty (${present}): name a folder that is not there yet`,
    );
  }
  return ({ cluster, number, hook }, request) => {
    const name = encodeURIComponent(cluster.replace(' ', '_').replace('/', '_')).slice(0, maxName);
    const file = `${name}-${String(number).padStart(4, '0')}-${hook}.json`;
    const text = `${JSON.stringify(request, null, 2)}\n`;
    attempt(() => writeFileSync(join(folder, file), text, { mode: 0o600 }));
  };
}

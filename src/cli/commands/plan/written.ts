import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { folderProblem, makeFolder } from '../../../base/index.ts';
import { readableYaml } from '../../../base/yaml/index.ts';
import { withoutSecretValues } from '../../../checks/plan/index.ts';
import { type JsonObject, textAt } from '../../../kubernetes/index.ts';
import { nameOf } from '../../../topology/index.ts';
import { FailureError } from '../../framework/program.ts';

/** Writes the objects of one Cluster: `before/NAMESPACE/CLUSTER/KIND-NAME.yaml`, and the same below `after`. */
export function objectWriter(folder: string) {
  const attempt = (action: () => void) => {
    try {
      action();
    } catch (error) {
      throw new FailureError(`--write: ${folderProblem(folder, 'written', error)}`);
    }
  };
  attempt(() => makeFolder(folder, 0o700));
  return (cluster: string, objects: readonly Readonly<Record<'before' | 'after', JsonObject | undefined>>[]) => {
    for (const [state, object] of objects.flatMap((pair) => Object.entries(pair))) {
      if (object === undefined) {
        continue;
      }
      const name = encodeURIComponent(`${textAt(object, 'kind')}-${nameOf(object)}`).slice(0, 200);
      const file = join(folder, state, ...cluster.split('/').map(encodeURIComponent), `${name}.yaml`);
      attempt(() => {
        mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
        writeFileSync(file, readableYaml(withoutSecretValues(object) as object, -1), { mode: 0o600 });
      });
    }
  };
}

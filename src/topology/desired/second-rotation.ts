import { nameOf, textAt } from '../../kubernetes/index.ts';
import { variablesRead } from '../patches/inline.ts';
import type { Patched } from '../patches/patch-templates.ts';
import type { GroupObjects, GroupPart } from '../world/groups.ts';
import type { DesiredGroup } from './desired.ts';

/** The variables that hold the name of a group's own template. */
const nameVariables = {
  bootstrap: /^builtin\.machineDeployment\.bootstrap\b/,
  infrastructure: /^builtin\.(?:machineDeployment|controlPlane\.machineTemplate)\.infrastructureRef\b/,
};

/** Says that a rotation changes what a patch reads: only the next reconcile knows the new name of the template. */
export function rotatesAgain(
  { items, kind }: DesiredGroup,
  { applied }: Patched,
  before: GroupObjects,
  after: GroupObjects,
): string[] {
  const parts = ['bootstrap', 'infrastructure'] as const;
  const rotated = parts.filter((part) => before[part] && after[part] && nameOf(before[part]) !== nameOf(after[part]));
  return rotated.flatMap((part) =>
    (['object', ...parts] satisfies GroupPart[]).flatMap((target) => {
      const item = items[target];
      const steps = (item && applied.get(item)) ?? [];
      return steps.flatMap(({ patch }) => {
        const variable = variablesRead(patch).find((path) => nameVariables[part].test(path));
        if (item === undefined || variable === undefined) {
          return [];
        }
        const reads = `patch ${patch.name} reads ${variable}, which this rotation changes`;
        const changed = target === 'object' ? `the ${kind}` : `its ${textAt(item.object, 'kind')}`;
        return target === part
          ? [
              `${reads}: each reconcile rotates its ${textAt(item.object, 'kind')} again, and Machines are replaced without end`,
            ]
          : [
              `${reads}: the next reconcile changes ${changed}, and Machines that are made in between are replaced again`,
            ];
      });
    }),
  );
}

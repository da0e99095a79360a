import { itemsAt, type Json, textAt } from '../../kubernetes/index.ts';

/** Where templates are used, as a selector of a ClusterClass's patch says it. */
export interface MatchResources {
  readonly controlPlane?: boolean | undefined;
  readonly infrastructureCluster?: boolean | undefined;
  /** Names of classes; one may begin or end with `*`. */
  readonly machineDeploymentClass?: { readonly names?: readonly string[] | undefined } | undefined;
  readonly machinePoolClass?: { readonly names?: readonly string[] | undefined } | undefined;
}

/** Whether a template is used there (matchesSelector in patches/inline/json_patch_generator.go of Cluster API). */
export function matchesResources(
  { controlPlane, infrastructureCluster, machineDeploymentClass, machinePoolClass }: MatchResources,
  { holder, builtin }: { holder: { readonly kind?: unknown; readonly fieldPath?: unknown }; builtin: Json | undefined },
): boolean {
  const isOneOf = (classes: MatchResources['machinePoolClass'], part: string) => {
    const name = textAt(builtin, part, 'class');
    return itemsAt(classes as Json | undefined, 'names').some(
      (pattern) =>
        typeof pattern === 'string' &&
        (pattern === name ||
          (pattern.startsWith('*') && name.endsWith(pattern.slice(1))) ||
          (pattern.endsWith('*') && name.startsWith(pattern.slice(0, -1)))),
    );
  };
  switch (holder.kind) {
    case 'MachineDeployment':
      return isOneOf(machineDeploymentClass, 'machineDeployment');
    case 'MachinePool':
      return isOneOf(machinePoolClass, 'machinePool');
    default:
      return holder.fieldPath === 'spec.infrastructureRef' ? infrastructureCluster === true : controlPlane === true;
  }
}

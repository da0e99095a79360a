import type { HookDefinition } from '../definition.ts';
import { discovery } from './discovery.ts';
import { canUpdateMachine, canUpdateMachineSet, updateMachine } from './in-place-update.ts';
import {
  afterClusterUpgrade,
  afterControlPlaneInitialized,
  afterControlPlaneUpgrade,
  afterWorkersUpgrade,
  beforeClusterCreate,
  beforeClusterDelete,
  beforeClusterUpgrade,
  beforeControlPlaneUpgrade,
  beforeWorkersUpgrade,
} from './lifecycle.ts';
import { discoverVariables, generatePatches, validateTopology } from './topology-mutation.ts';
import { generateUpgradePlan } from './upgrade-plan.ts';

export { hooksGroup } from './parts.ts';

/** Cluster API's hooks by name, typed by their messages. */
export const hooks = {
  Discovery: discovery,
  BeforeClusterCreate: beforeClusterCreate,
  AfterControlPlaneInitialized: afterControlPlaneInitialized,
  BeforeClusterUpgrade: beforeClusterUpgrade,
  BeforeControlPlaneUpgrade: beforeControlPlaneUpgrade,
  AfterControlPlaneUpgrade: afterControlPlaneUpgrade,
  BeforeWorkersUpgrade: beforeWorkersUpgrade,
  AfterWorkersUpgrade: afterWorkersUpgrade,
  AfterClusterUpgrade: afterClusterUpgrade,
  BeforeClusterDelete: beforeClusterDelete,
  GeneratePatches: generatePatches,
  ValidateTopology: validateTopology,
  DiscoverVariables: discoverVariables,
  CanUpdateMachine: canUpdateMachine,
  CanUpdateMachineSet: canUpdateMachineSet,
  UpdateMachine: updateMachine,
  GenerateUpgradePlan: generateUpgradePlan,
} as const;

/** Cluster API's hooks in the order of a Cluster's lifecycle. */
export const clusterApiHooks: readonly HookDefinition[] = Object.values(hooks);

const namesTagged = (tag: string): ReadonlySet<string> =>
  new Set(clusterApiHooks.filter(({ tags }) => tags.includes(tag)).map(({ name }) => name));

/** Names of the hooks for the phases of a Cluster's lifecycle. */
export const lifecycleHooks = namesTagged('Lifecycle Hooks');

/**
 * Names of the hooks for which Cluster API expects one handler in the whole cluster; if there are more, every decision
 * fails.
 */
export const inPlaceHooks = namesTagged('In-Place Update Hooks');

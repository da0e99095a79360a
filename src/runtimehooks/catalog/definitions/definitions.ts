import type { HookDefinition } from '../definition.ts';
import { discovery } from './discovery.ts';
import { inPlaceUpdate } from './in-place-update.ts';
import { lifecycle } from './lifecycle.ts';
import { topologyMutation } from './topology-mutation.ts';
import { upgradePlan } from './upgrade-plan.ts';

export { hooksGroup } from './parts.ts';

/** Cluster API's hooks by name, typed by their messages. */
export const hooks = { ...discovery, ...lifecycle, ...topologyMutation, ...inPlaceUpdate, ...upgradePlan } as const;

/** Cluster API's hooks in the order of a Cluster's lifecycle. */
export const clusterApiHooks: readonly HookDefinition[] = Object.values(hooks);

/** Name of a hook. */
export type HookName = keyof typeof hooks;

/**
 * Names of the hooks for which Cluster API expects one handler in the whole cluster; if there are more, every decision
 * fails.
 */
export const exclusiveHooks: ReadonlySet<string> = new Set(
  clusterApiHooks.filter(({ calls }) => calls === 'only').map(({ name }) => name),
);

import type { ExtensionConfig } from '../api/index.ts';
import type { Lifecycle, LifecycleKey } from '../hooks/index.ts';
import type { FieldPath } from '../kubernetes/index.ts';
import type { RuleOptions } from './rule.ts';

type Handler = NonNullable<NonNullable<ExtensionConfig['status']>['handlers']>[number];

/** One handler in `status.handlers`, with its place. */
export interface PlacedHandler {
  handler: Handler;
  path: FieldPath;
}

/** The handlers of an object, each with its path. */
export function handlersOf(object: ExtensionConfig): PlacedHandler[] {
  return (object.status?.handlers ?? []).map((handler, index) => ({ handler, path: ['status', 'handlers', index] }));
}

const groupVersion = /^([^/]+)\/([^/]+)$/;

/** The hook that a handler serves, or undefined when its requestHook is incomplete. */
export function hookOf({ requestHook }: Handler): LifecycleKey | undefined {
  const match = groupVersion.exec(requestHook?.apiVersion ?? '');
  return match === null || !requestHook?.hook
    ? undefined
    : { group: match[1] as string, version: match[2] as string, name: requestHook.hook };
}

/** The handlers whose hook is in the catalog, with the hook's life. */
export function knownHandlersOf(
  object: ExtensionConfig,
  options: RuleOptions,
): (PlacedHandler & { life: Lifecycle })[] {
  return handlersOf(object).flatMap((placed) => {
    const hook = hookOf(placed.handler);
    const life = hook && options.hooks.find(hook.group, hook.version, hook.name);
    return life === undefined ? [] : [{ ...placed, life }];
  });
}

/** A hook for a message: `GeneratePatches (hooks.runtime.cluster.x-k8s.io/v1alpha1)`. */
export function nameHook({ group, version, name }: LifecycleKey): string {
  return `${name} (${group}/${version})`;
}

import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import type { FieldPath } from '../../../kubernetes/index.ts';
import type { HookCatalog, LifecycleKey } from '../../../runtimehooks/index.ts';

type Handler = NonNullable<NonNullable<ExtensionConfig['status']>['handlers']>[number];

export type PlacedHandler = ReturnType<typeof handlersOf>[number];

/** The handlers of an object; `hook` is undefined if the requestHook is incomplete. */
export function handlersOf(object: ExtensionConfig, hooks: HookCatalog) {
  return (object.status?.handlers ?? []).map((handler, index) => {
    const hook = hookOf(handler);
    const lifecycle = hook && hooks.find(hook.group, hook.version, hook.name);
    const path: FieldPath = ['status', 'handlers', index];
    return { handler, path, hook, lifecycle };
  });
}

/** The two parts of GROUP/VERSION, or undefined for any other text. */
export function groupVersionOf(apiVersion: string): { group: string; version: string } | undefined {
  const slash = apiVersion.indexOf('/');
  const isPair = slash > 0 && slash === apiVersion.lastIndexOf('/') && slash < apiVersion.length - 1;
  return isPair ? { group: apiVersion.slice(0, slash), version: apiVersion.slice(slash + 1) } : undefined;
}

function hookOf({ requestHook }: Handler): LifecycleKey | undefined {
  const { apiVersion, hook } = requestHook ?? {};
  const api = apiVersion === undefined ? undefined : groupVersionOf(apiVersion);
  return api && hook ? { ...api, name: hook } : undefined;
}

/** A hook in a message: `GeneratePatches (hooks.runtime.cluster.x-k8s.io/v1alpha1)`. */
export function nameHook({ group, version, name }: LifecycleKey): string {
  return `${name} (${group}/${version})`;
}

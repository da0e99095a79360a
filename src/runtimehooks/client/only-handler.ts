import type { HookDefinition } from '../catalog/definition.ts';
import { type CallError, isCallError } from './call-error.ts';
import type { CalledObject, Client } from './client-types.ts';

/**
 * The handler of a hook of which Cluster API calls only one, those for updates in place; undefined if none is registered.
 * With several, Cluster API calls none, and the rollout fails (inplace_canupdatemachine.go, machinedeployment_canupdatemachineset.go, v1.14).
 */
export async function onlyHandlerFor(
  client: Client,
  hook: HookDefinition,
  object: CalledObject,
): Promise<string | undefined | CallError> {
  const handlers = await client.handlersFor(hook, object);
  if (isCallError(handlers) || handlers.length < 2) {
    return isCallError(handlers) ? handlers : handlers[0];
  }
  const message = `found multiple ${hook.name} hooks (${handlers.join(',')}): only one hook is supported`;
  return { step: 'hook', message };
}

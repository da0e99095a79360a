import type { ExtensionConfig } from '../api/index.ts';
import { hooksGroup } from '../hooks/index.ts';
import { handlersOf, type PlacedHandler } from './handlers.ts';

/** The hooks for which Cluster API wants one handler, and fails every decision when there are more. */
const inPlaceHooks: ReadonlySet<string> = new Set(['CanUpdateMachine', 'CanUpdateMachineSet', 'UpdateMachine']);

/** The handlers of each hook of in-place updates, of any version: Cluster API counts them together. */
export function inPlaceHandlersOf(object: ExtensionConfig): ReadonlyMap<string, readonly PlacedHandler[]> {
  const found = new Map<string, PlacedHandler[]>();
  for (const placed of handlersOf(object)) {
    const { hook } = placed;
    if (hook !== undefined && hook.group === hooksGroup && inPlaceHooks.has(hook.name)) {
      const handlers = found.get(hook.name) ?? [];
      handlers.push(placed);
      found.set(hook.name, handlers);
    }
  }
  return found;
}

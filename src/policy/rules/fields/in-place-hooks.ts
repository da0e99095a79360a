import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import { hooksGroup, inPlaceHooks } from '../../../runtimehooks/index.ts';
import { handlersOf, type PlacedHandler } from './handlers.ts';

/** The handlers of one hook, at least one. */
type SameHook = [PlacedHandler, ...PlacedHandler[]];

/** The handlers of each in-place update hook, whatever its version: Cluster API counts them together. */
export function inPlaceHandlersOf(object: ExtensionConfig): ReadonlyMap<string, SameHook> {
  const found = new Map<string, SameHook>();
  for (const placed of handlersOf(object)) {
    const { hook } = placed;
    if (hook !== undefined && hook.group === hooksGroup && inPlaceHooks.has(hook.name)) {
      const handlers = found.get(hook.name);
      if (handlers === undefined) {
        found.set(hook.name, [placed]);
      } else {
        handlers.push(placed);
      }
    }
  }
  return found;
}

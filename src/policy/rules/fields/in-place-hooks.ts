import { hooksGroup, inPlaceHooks } from '../../../runtimehooks/index.ts';
import type { PlacedHandler } from './handlers.ts';

/** The handlers of each in-place update hook, at least one, whatever its version: Cluster API counts them together. */
export function inPlaceHandlersOf(handlers: readonly PlacedHandler[]) {
  const ofHooks = handlers.filter(({ hook }) => hook?.group === hooksGroup && inPlaceHooks.has(hook.name));
  return Map.groupBy(ofHooks, ({ hook }) => hook?.name ?? '') as Map<string, [PlacedHandler, ...PlacedHandler[]]>;
}

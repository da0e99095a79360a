export { createHookCatalog, type HookCatalog } from './catalog.ts';
export {
  type CoreVersion,
  coreVersionIn,
  defineHook,
  formatGroupHook,
  formatHook,
  type HookDefinition,
  type HookOptions,
  hookIn,
  type MessageDefinition,
  type ReleaseChange,
  type RequestOf,
  type ResponseOf,
} from './definition.ts';
export { clusterApiHooks, hooks, hooksGroup, inPlaceHooks, lifecycleHooks } from './definitions/index.ts';
export { LifecycleFileError, parseLifecycles } from './file.ts';
export { newestKnownRelease, oldestKnownRelease, unknownReleaseProblem } from './known.ts';
export type { Lifecycle, LifecycleKey } from './lifecycle.ts';
export type * from './message-types.ts';
export {
  type Deprecation,
  deprecationIn,
  isAtLeastAsStable,
  type Phase,
  phaseIn,
  type Stability,
  type SupportEnd,
  stabilityOf,
  supportEnd,
} from './policy.ts';
export { compareReleases, formatRelease, parseRelease, type Release } from './release.ts';
export * from './schema.ts';

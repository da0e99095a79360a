export { createHookCatalog, type HookCatalog } from './catalog.ts';
export { LifecycleFileError, parseLifecycles } from './file.ts';
export { newestKnownRelease, oldestKnownRelease, unknownReleaseProblem } from './known.ts';
export type { Lifecycle, LifecycleKey } from './lifecycle.ts';
export { type Phase, phaseIn, type Stability, type SupportEnd, stabilityOf, supportEnd } from './policy.ts';
export { compareReleases, formatRelease, parseRelease, type Release } from './release.ts';

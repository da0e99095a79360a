export {
  createHookCatalog,
  type HookCatalog,
  hookCatalog,
  newestKnownRelease,
  oldestKnownRelease,
  unknownReleaseProblem,
} from './catalog/catalog.ts';
export { coreGroup, hooksGroup } from './catalog/define-hooks.ts';
export {
  type CoreVersion,
  coreVersionIn,
  formatHook,
  type HookDefinition,
  hookIn,
  type MessageDefinition,
  type ReleaseChange,
  type RequestOf,
  type ResponseOf,
} from './catalog/definition.ts';
export { clusterApiHooks, exclusiveHooks, generalChanges, type HookName, hooks } from './catalog/definitions.ts';
export { type Lifecycle, type LifecycleKey, phaseIn } from './catalog/lifecycle.ts';
export { advisedTimeoutSeconds, defaultTimeoutSeconds, maxHandlers, maxTimeoutSeconds } from './catalog/limits.ts';
export { compareReleases, formatRelease, isFixedIn, parseRelease, type Release, v1 } from './catalog/release.ts';
export type { MessageSchema } from './catalog/schema.ts';
export type { SchemaValue, TypedSchema } from './catalog/schema-value.ts';
export type * from './message-types/index.ts';
export { applyPatch, BadPatch, type EncodedPatch, isEmptyPatch } from './patches/apply.ts';
export {
  type ClassField,
  carriedFields,
  fieldsOf,
  machineFieldNames,
  machineFieldsOf,
  type PartKind,
  pathInObject,
  putAt,
  writtenInPlace,
} from './patches/class-fields.ts';
export { type ControlPlaneField, fieldsSetBy, revertIgnored, type TemplatePlace } from './patches/ignored.ts';
export { type MatchResources, matchesResources } from './patches/match-resources.ts';
export {
  compareBuilds,
  compareVersions,
  formatVersion,
  type KubernetesVersion,
  parseTolerantly,
  parseVersion,
} from './upgrade-plans/kubernetes-version.ts';
export {
  completePlan,
  maxPlanSteps,
  type PlannedVersions,
  type UpgradePlan,
  upgradePlanProblem,
} from './upgrade-plans/plan-problem.ts';

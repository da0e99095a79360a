export { ask, block, call, failed, type Reconcile, reportNegative } from './ask.ts';
export type { Blueprint, ClassTemplate, ClassVariable, ExternalPatch, MachineTemplates } from './blueprint.ts';
export * from './effects.ts';
export type { ClusterApiLimits } from './limits.ts';
export { createNames, type Names } from './names.ts';
export * from './state.ts';
export type { RehearsedCluster } from './subject.ts';
export { backoffMs, passUntil, restartMs, waitMs } from './time.ts';

export { clusterStore } from './cluster-store.ts';
export { annotatedExtensionConfigs, clusterTargets } from './cluster-targets.ts';
export { type Clock, type Run, readSnapshot, runCertificates, type Step } from './engine.ts';
export { type CertificateFacts, deriveFacts, injectedAtAnnotation, stagedSinceAnnotation } from './facts.ts';
export { folderStore } from './folder-store.ts';
export { bundleIn, bundleOfSecret, type Injection, injectTargets } from './inject.ts';
export { type Action, caDueAt, isStuck, missingTarget, next, type Settings, servingCertificateDueAt } from './next.ts';
export { repairEmptied } from './repair.ts';
export {
  describeIssuer,
  describeRotation,
  issuerAnnotation,
  type RotationJob,
  readRotationJob,
} from './rotation-job.ts';
export { type CertificateStore, Conflict, type StoredSecret } from './store.ts';
export { isInSync, noTargets, type TargetAccess, type TargetKind, type TargetReading, unread } from './target.ts';

export { clusterStore } from './cluster-store.ts';
export { clusterTargets } from './cluster-targets.ts';
export { type Clock, type Run, type RunOutcome, readSnapshot, runCertificates, type Step } from './engine.ts';
export { annotatedExtensionConfigs } from './extension-configs.ts';
export { type CertificateFacts, deriveFacts, type Stage } from './facts.ts';
export { folderStore } from './folder-store.ts';
export { bundleIn, type Injection, injectTargets } from './inject.ts';
export { type Action, isCaDue, isServingCertificateDue, isStuck, missingTarget, next, type Settings } from './next.ts';
export { type CertificateStore, Conflict, type SecretRole, type StoredSecret } from './store.ts';
export {
  isInSync,
  noTargets,
  type TargetAccess,
  TargetFailure,
  type TargetKind,
  type TargetReading,
} from './target.ts';

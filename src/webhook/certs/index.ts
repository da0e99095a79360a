export { clusterStore } from './cluster-store.ts';
export { annotatedExtensionConfigs, clusterTargets } from './cluster-targets.ts';
export { type Clock, type Run, readSnapshot, runCertificates, type Step } from './engine.ts';
export { type CertificateFacts, deriveFacts } from './facts.ts';
export { folderStore } from './folder-store.ts';
export { bundleIn, bundleOfSecret, type Injection, injectTargets } from './inject.ts';
export { type Action, isCaDue, isServingCertificateDue, isStuck, missingTarget, next } from './next.ts';
export type { CertificateStore, StoredSecret } from './store.ts';
export { isInSync, noTargets, type TargetAccess, type TargetKind } from './target.ts';

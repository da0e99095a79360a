// What needs an API server: see index.ts.
export { clusterStore } from './cluster-store.ts';
export { clusterTargets } from './cluster-targets.ts';
export { annotatedExtensionConfigs } from './extension-configs.ts';

export type { KindStatus } from './knowledge.ts';
export { addWatchingMetrics } from './metrics.ts';
export { type ClusterReading, readCluster } from './read-cluster.ts';
export { factResources, resourceName } from './resources.ts';
export { type Watching, type WatchingOptions, type WatchingPace, watchCluster } from './watching.ts';

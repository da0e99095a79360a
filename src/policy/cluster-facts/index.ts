export { addWatchingMetrics } from './metrics.ts';
export { readCluster } from './read-cluster.ts';
export { type Watching, type WatchingOptions, type WatchingPace, watchCluster } from './watching.ts';

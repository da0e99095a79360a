export { addWatchingMetrics } from './metrics.ts';
export { type Watching, type WatchingOptions, watchCluster } from './watching.ts';

export { addWatchingMetrics } from './metrics.ts';
export { type Watching, type WatchingOptions, type WatchingPace, watchCluster } from './watching.ts';

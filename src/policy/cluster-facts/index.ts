export { addWatchingMetrics, type Watching, type WatchingOptions, watchCluster } from './watching.ts';

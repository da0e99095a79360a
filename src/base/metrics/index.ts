export { Counter, Gauge, Histogram, Registry } from './classes.ts';
export { metricsIn } from './metrics-in.ts';
export { collectProcessMetrics } from './process-metrics.ts';

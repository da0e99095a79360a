// The parts of prom-client that servers use, with the same classes as the complete library. That also pushes to
// gateways, aggregates process clusters and has OpenTelemetry's API for exemplars, which takes 90 files and 50 ms at
// startup.
import { createRequire } from 'node:module';
import type collect from 'prom-client/lib/defaultMetrics.js';
import type Registry from 'prom-client/lib/registry.js';

export { default as Counter } from 'prom-client/lib/counter.js';
export { default as Gauge } from 'prom-client/lib/gauge.js';
export { default as Histogram } from 'prom-client/lib/histogram.js';
export { default as Registry } from 'prom-client/lib/registry.js';

const require = createRequire(import.meta.url);

/**
 * Adds the metrics of the process to a registry: memory, CPU, garbage collection, event loop lag. Loaded on demand,
 * since they need OpenTelemetry's API.
 */
export function collectDefaultMetrics(register: Registry): void {
  const collectInto: typeof collect = require('prom-client/lib/defaultMetrics.js');
  collectInto({ register });
}

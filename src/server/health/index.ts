export { type HealthServer, startHealthServer } from './health-server.ts';
export { createMetrics, type Metrics, type Port } from './metrics.ts';
export { type ReadinessFacts, readinessOf, type ServerPhase } from './readiness.ts';

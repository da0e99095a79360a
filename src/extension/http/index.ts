export { createApplication } from './application.ts';
export { createCallMetrics, metricsPrefix } from './metrics.ts';
export type { ReplaceAnswer } from './routes.ts';

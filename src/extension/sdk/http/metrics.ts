import type { Registry } from 'prom-client';
import { metricsIn } from '../../../base/metrics/index.ts';
import type { HandledCall } from '../calls/call.ts';

export const metricsPrefix = 'runtime_extension_';

/** Counts a call; the name of the handler is empty for Discovery. */
export type CountCall = (call: { hook: string; handler: string; result: HandledCall; seconds: number }) => void;

/** Upper bounds in seconds: external patches should take 0.2 s at most; 30 s is Cluster API's longest timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];

/** Adds the metrics of calls to the server's. */
export function createCallMetrics(registry: Registry): CountCall {
  const { counter, histogram } = metricsIn(registry, metricsPrefix);
  const calls = counter(
    'calls_total',
    'Calls answered, by hook, handler (empty for Discovery) and result: success, blocking, failure, invalid request, error (the handler threw), invalid answer.',
    ['hook', 'handler', 'result'],
  );
  const durations = histogram(
    'call_duration_seconds',
    'Time from the header of a call to its response, by hook and handler.',
    ['hook', 'handler'],
    buckets,
  );
  return ({ hook, handler, result, seconds }) => {
    calls.inc({ hook, handler, result });
    durations.observe({ hook, handler }, seconds);
  };
}

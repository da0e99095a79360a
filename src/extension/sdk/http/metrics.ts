import type { Registry } from 'prom-client';
import { metricsIn } from '../../../base/metrics/index.ts';
import type { HandledCall } from '../calls/call.ts';

export const metricsPrefix = 'runtime_extension_';

type CountCall = (result: HandledCall, seconds: number) => void;

/** Returns the counter for the calls of a handler; the name is empty for Discovery. */
export type CounterOf = (hook: string, handler: string) => CountCall;

/** Upper bounds in seconds: external patches should take 0.2 s at most; 30 s is Cluster API's longest timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];

/** Adds the metrics of calls to the server's. */
export function createCallMetrics(registry: Registry): CounterOf {
  const { tally, times } = metricsIn(registry, metricsPrefix);
  const calls = tally(
    'calls_total',
    'Calls answered, by hook, handler (empty for Discovery) and result: success, blocking, failure, invalid request, error (the handler threw), invalid answer.',
    ['hook', 'handler', 'result'],
  );
  const durations = times(
    'call_duration_seconds',
    'Time from the header of a call to its response, by hook and handler.',
    ['hook', 'handler'],
    buckets,
  );
  return (hook, handler) => {
    const addTime = durations({ hook, handler });
    const counts = new Map<HandledCall, () => void>();
    return (result, seconds) => {
      const count = counts.get(result) ?? calls({ hook, handler, result });
      counts.set(result, count);
      count();
      addTime(seconds);
    };
  };
}

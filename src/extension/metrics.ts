import { Counter, Histogram, type Registry } from 'prom-client';
import type { CallResult } from './call.ts';

/** What the names of an extension's metrics begin with. */
export const metricsPrefix = 'runtime_extension_';

/** What is counted of calls. */
export interface CallMetrics {
  called(hook: string, handler: string, result: CallResult, seconds: number): void;
}

/** Upper bounds in seconds: handlers should take milliseconds, external patches at most 0.2 s; 30 s is Cluster API's end. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];

/** Adds the metrics of calls to those of the server. */
export function createCallMetrics(registry: Registry): CallMetrics {
  const registers = [registry];
  const calls = new Counter({
    name: `${metricsPrefix}calls_total`,
    help: 'Calls answered, by hook, handler (empty for Discovery) and result: success, blocking, failure, invalid request, error (the handler threw), invalid answer.',
    labelNames: ['hook', 'handler', 'result'] as const,
    registers,
  });
  const duration = new Histogram({
    name: `${metricsPrefix}call_duration_seconds`,
    help: 'Time from the header of a call to its answer, by hook and handler.',
    labelNames: ['hook', 'handler'] as const,
    buckets,
    registers,
  });
  // Looked up by their labels once: that costs more than counting. There are as many as handlers and results.
  const counters = new Map<string, Counter.Internal>();
  const histograms = new Map<string, Histogram.Internal<'hook' | 'handler'>>();
  return {
    called(hook, handler, result, seconds) {
      const key = `${hook} ${handler}`;
      const counterKey = `${key} ${result}`;
      const counter = counters.get(counterKey) ?? calls.labels({ hook, handler, result });
      counters.set(counterKey, counter);
      counter.inc();
      const histogram = histograms.get(key) ?? duration.labels({ hook, handler });
      histograms.set(key, histogram);
      histogram.observe(seconds);
    },
  };
}

import { Counter, Histogram, type Registry } from 'prom-client';
import type { HandledCall } from '../calls/call.ts';

export const metricsPrefix = 'runtime_extension_';

type CountCall = (result: HandledCall, seconds: number) => void;

export interface HandlerMetrics {
  /** Returns the counter for the calls of a handler; the name is empty for Discovery. */
  of(hook: string, handler: string): CountCall;
}

/** Upper bounds in seconds: external patches should take 0.2 s at most; 30 s is Cluster API's longest timeout. */
const buckets = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 10, 30];

const maxPending = 64;

/** Adds the metrics of calls to the server's. */
export function createCallMetrics(registry: Registry): HandlerMetrics {
  const registers = [registry];
  // Buffered, and passed to the library all at once: observing each call individually takes longer than many handlers
  // do.
  const pending: { labels: Record<'hook' | 'handler' | 'result', string>; count: number }[] = [];
  const observers: (() => void)[] = [];
  new Counter({
    name: `${metricsPrefix}calls_total`,
    help: 'Calls answered, by hook, handler (empty for Discovery) and result: success, blocking, failure, invalid request, error (the handler threw), invalid answer.',
    labelNames: ['hook', 'handler', 'result'] as const,
    registers,
    collect() {
      for (const entry of pending) {
        this.inc(entry.labels, entry.count);
        entry.count = 0;
      }
    },
  });
  const duration = new Histogram({
    name: `${metricsPrefix}call_duration_seconds`,
    help: 'Time from the header of a call to its response, by hook and handler.',
    labelNames: ['hook', 'handler'] as const,
    buckets,
    registers,
    collect() {
      for (const observe of observers) {
        observe();
      }
    },
  });
  return {
    of(hook, handler) {
      const histogram = duration.labels({ hook, handler });
      const times: number[] = [];
      const observe = () => {
        for (const seconds of times) {
          histogram.observe(seconds);
        }
        times.length = 0;
      };
      observers.push(observe);
      const counts = new Map<HandledCall, (typeof pending)[number]>();
      return (result, seconds) => {
        let entry = counts.get(result);
        if (entry === undefined) {
          entry = { labels: { hook, handler, result }, count: 0 };
          counts.set(result, entry);
          pending.push(entry);
        }
        entry.count++;
        if (times.push(seconds) >= maxPending) {
          observe();
        }
      };
    },
  };
}

import { Histogram, type Registry } from 'prom-client';
import { metricsIn } from '../../../base/metrics/index.ts';

interface RequestLabels {
  /** HTTP status code, or `<error>`. */
  code: string;
  host: string;
  group: string;
  version: string;
  hook: string;
  /** Success, Failure or Unknown. */
  status: string;
}

/** Values of an extension that are read at each scrape. */
interface ExtensionLoad {
  extension: string;
  backoffSeconds: number;
  running: number;
  waiting: number;
}

const callLabels = ['host', 'group', 'version', 'hook'] as const;

/** Upstream's buckets, in seconds. */
const buckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/**
 * Registers the metrics of calls: two with Cluster API's names, labels and buckets, and ours for backoff and
 * concurrency.
 */
export function createCallMetrics(registry: Registry, loads: () => readonly ExtensionLoad[]) {
  const { counter, gauge } = metricsIn(registry, 'extensionconfig_extension_');
  const requests = metricsIn(registry, 'capi_runtime_sdk_').counter(
    'requests_total',
    'Number of HTTP requests, partitioned by status code, host, hook and response status.',
    ['code', ...callLabels, 'status'],
  );
  const durations = new Histogram({
    name: 'capi_runtime_sdk_request_duration_seconds',
    help: 'Request duration in seconds, broken down by hook and host.',
    labelNames: callLabels,
    buckets,
    registers: [registry],
  });
  const heldCalls = counter(
    'calls_held_back_total',
    'Calls not made because the extension failed before and is in backoff.',
    ['extension'],
  );
  const measured = (name: string, help: string, read: (load: ExtensionLoad) => number) =>
    gauge(name, help, ['extension'], {
      collect() {
        this.reset();
        for (const load of loads()) {
          this.set({ extension: load.extension }, read(load));
        }
      },
    });
  measured(
    'backoff_seconds',
    'Seconds until a failed extension is called again; 0 when it is not in backoff.',
    (load) => load.backoffSeconds,
  );
  measured('calls_running', 'Calls of an extension in flight.', (load) => load.running);
  measured(
    'calls_waiting',
    'Calls of an extension waiting because the maximum number is in flight.',
    (load) => load.waiting,
  );
  return {
    /** Counts a response, or a failure to get one, before failurePolicy is applied. */
    request({ code, status, ...call }: RequestLabels, seconds: number): void {
      requests.inc({ code, ...call, status });
      durations.observe(call, seconds);
    },
    /** Counts a call that was not made because its extension is in backoff. */
    heldBack: (extension: string) => heldCalls.inc({ extension }),
  };
}

export type CallMetrics = ReturnType<typeof createCallMetrics>;

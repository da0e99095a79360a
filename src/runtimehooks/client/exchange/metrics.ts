import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

/** The metrics of calls. */
export interface CallMetrics {
  /** Counts a response, or a failure to get one, before failurePolicy is applied. */
  request(labels: RequestLabels, seconds: number): void;
  /** Counts a call that was not made because its extension is in backoff. */
  heldBack(extension: string): void;
}

/** The labels of the request metric. */
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
export function createCallMetrics(registry: Registry, loads: () => readonly ExtensionLoad[]): CallMetrics {
  const registers = [registry];
  const requests = new Counter({
    name: 'capi_runtime_sdk_requests_total',
    help: 'Number of HTTP requests, partitioned by status code, host, hook and response status.',
    labelNames: ['code', ...callLabels, 'status'],
    registers,
  });
  const durations = new Histogram({
    name: 'capi_runtime_sdk_request_duration_seconds',
    help: 'Request duration in seconds, broken down by hook and host.',
    labelNames: callLabels,
    buckets,
    registers,
  });
  const heldCalls = new Counter({
    name: 'extensionconfig_extension_calls_held_back_total',
    help: 'Calls not made because the extension failed before and is in backoff.',
    labelNames: ['extension'],
    registers,
  });
  const gauges = {
    backoffSeconds: new Gauge({
      name: 'extensionconfig_extension_backoff_seconds',
      help: 'Seconds until a failed extension is called again; 0 when it is not in backoff.',
      labelNames: ['extension'],
      registers,
      collect: () => collect(),
    }),
    running: new Gauge({
      name: 'extensionconfig_extension_calls_running',
      help: 'Calls of an extension in flight.',
      labelNames: ['extension'],
      registers,
    }),
    waiting: new Gauge({
      name: 'extensionconfig_extension_calls_waiting',
      help: 'Calls of an extension waiting because the maximum number is in flight.',
      labelNames: ['extension'],
      registers,
    }),
  };
  function collect(): void {
    const current = loads();
    for (const [fact, gauge] of Object.entries(gauges) as [keyof typeof gauges, Gauge<'extension'>][]) {
      gauge.reset();
      for (const load of current) {
        gauge.set({ extension: load.extension }, load[fact]);
      }
    }
  }
  return {
    request(labels, seconds) {
      const { code: _code, status: _status, ...call } = labels;
      requests.inc({ ...labels });
      durations.observe(call, seconds);
    },
    heldBack: (extension) => heldCalls.inc({ extension }),
  };
}

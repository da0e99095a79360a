import { Histogram, type Registry } from 'prom-client';
import { metricsIn } from '../../../base/metrics/index.ts';

const callLabels = ['host', 'group', 'version', 'hook'] as const;
/** `code`: HTTP status code, or `<error>`. `status`: Success, Failure or Unknown. */
const requestLabels = ['code', ...callLabels, 'status'] as const;

/** Upstream's buckets, in seconds. */
const buckets = [0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60];

/** Registers the metrics of calls: two with Cluster API's names, labels and buckets, and ours for backoff. */
export function createCallMetrics(registry: Registry) {
  const { counter } = metricsIn(registry, 'extensionconfig_extension_');
  const requests = metricsIn(registry, 'capi_runtime_sdk_').counter(
    'requests_total',
    'Number of HTTP requests, partitioned by status code, host, hook and response status.',
    requestLabels,
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
  return {
    /** Counts a response, or a failure to get one, before failurePolicy is applied. */
    request({ code, status, ...call }: Record<(typeof requestLabels)[number], string>, seconds: number): void {
      requests.inc({ code, ...call, status });
      durations.observe(call, seconds);
    },
    heldBack: (extension: string) => heldCalls.inc({ extension }),
  };
}

export type CallMetrics = ReturnType<typeof createCallMetrics>;

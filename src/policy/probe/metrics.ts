import type { Registry } from 'prom-client';
import { metricsIn } from '../../base/metrics/index.ts';
import { type ProbeResult, probeResults } from './probe.ts';

/** Adds the metric of probes. `prefix` is what its name begins with; the result counts one. */
export function addProbeMetrics(registry: Registry, prefix: string): (result: ProbeResult) => void {
  const probes = metricsIn(registry, prefix).counter(
    'probes_total',
    'Extension servers probed before they are registered, by result: discovered, failed, cached, refused, busy, unknown.',
    ['result'],
  );
  for (const result of probeResults) {
    probes.inc({ result }, 0);
  }
  return (result) => probes.inc({ result });
}

import type { Registry } from 'prom-client';
import { AllowListError, addProbeMetrics, createProber, parseAllowList } from '../../../policy/probe/index.ts';
import { UsageError } from '../../framework/program.ts';
import type { ServeFlags } from './flags.ts';
import type { ServePolicy } from './policy.ts';

interface ServeProber {
  probe: ReturnType<typeof createProber>['probe'];
  addMetrics(registry: Registry, prefix: string): void;
}

/** @throws {UsageError} when nothing may be probed, or --probe-allow has an invalid entry. */
export function proberOf(flags: ServeFlags, policy: ServePolicy): ServeProber | undefined {
  const entries = flags['probe-allow'];
  if (flags.probe === 'off') {
    if (entries.length > 0) {
      throw new UsageError('--probe-allow needs --probe, which is off: add --probe warn');
    }
    return undefined;
  }
  if (entries.length === 0) {
    throw new UsageError(
      `--probe ${flags.probe} needs --probe-allow: name the servers that may be probed, such as 10.0.0.0/8 or svc`,
    );
  }
  for (const entry of entries) {
    try {
      parseAllowList([entry]);
    } catch (error) {
      throw error instanceof AllowListError
        ? new UsageError(`--probe-allow: ${JSON.stringify(entry.slice(0, 100))} is not allowed: ${error.message}`)
        : error;
    }
  }
  let record: ReturnType<typeof addProbeMetrics> = () => {};
  const { probe } = createProber({
    allow: parseAllowList(entries),
    known: { release: policy.rules.clusterApi },
    onResult: (result) => record(result),
  });
  return {
    probe,
    addMetrics(registry, prefix) {
      record = addProbeMetrics(registry, prefix);
    },
  };
}

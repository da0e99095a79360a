import { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import type { Registry } from 'prom-client';
import { metricsIn } from '../base/metrics/index.ts';
import { readCertificates, usable } from '../base/x509/index.ts';
import { phaseOf, quotable } from '../runtimehooks/client/index.ts';
import type { Release } from '../runtimehooks/index.ts';
import { conditionOf } from './configs/status.ts';
import type { StoredConfig } from './configs/stored.ts';

interface Observed {
  informer: { ageMs: number | undefined };
  queue: { waiting: number; running: number };
  configs(): readonly StoredConfig[];
}

const prefix = 'extensionconfig_controller_';
/** Maximum number of hook versions with their own series: a server may report any names. */
const maxHooks = 500;
const maxLabel = 100;

/** When the last certificate of a bundle expires, in seconds since 1970; -Infinity if it has no certificate. */
function bundleEnd(caBundle: string): number {
  const certificates = usable(readCertificates(Buffer.from(caBundle, 'base64').toString('latin1'))) ?? [];
  return Math.max(...certificates.map(({ x509 }) => x509.validToDate.getTime() / 1000));
}

/** @returns the function that counts a run that has ended, with its duration in seconds. */
export function createControllerMetrics(registry: Registry, release: Release, term: () => Observed | undefined) {
  const { counterOf, histogram, measured } = metricsIn(registry, prefix);
  const ofConfigs = metricsIn(registry, 'extensionconfig_');
  const labelNames = ['extensionconfig'] as const;
  const runs = counterOf(
    'runs_total',
    'Finished reconciles of an ExtensionConfig, by result: success, or failure (which is retried).',
    'result',
    ['success', 'failure'],
  );
  const runTimes = histogram(
    'run_duration_seconds',
    'Duration of the reconcile of an ExtensionConfig, most of which is waiting for the extension.',
    [],
    [0.005, 0.025, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20],
  );
  measured('leader', 'Whether this replica is the leader (1) or another one is (0).', () => (term() ? 1 : 0));
  measured('queue_waiting', 'ExtensionConfigs waiting in the queue.', () => term()?.queue.waiting ?? 0);
  measured('queue_running', 'ExtensionConfigs being reconciled.', () => term()?.queue.running ?? 0);
  measured(
    'api_server_silent_seconds',
    'Seconds since the API server was last heard from; over a minute the cached ExtensionConfigs may be stale.',
    () => {
      const { ageMs } = term()?.informer ?? {};
      return ageMs && ageMs / 1000;
    },
  );

  const discovered = ofConfigs.gauge(
    'discovered',
    'Condition Discovered of an ExtensionConfig: 1 for True, 0 for False. Absent otherwise.',
    labelNames,
    { collect: () => collectConfigs() },
  );
  const bundleEnds = ofConfigs.gauge(
    'ca_bundle_not_after_timestamp_seconds',
    'When the last certificate of the caBundle expires, in seconds since 1970. Absent without a caBundle.',
    labelNames,
  );
  const handlers = ofConfigs.gauge(
    'handlers',
    'Handlers in the status of all ExtensionConfigs, by hook version and its state in the targeted release of Cluster API.',
    ['group', 'version', 'hook', 'state'],
  );
  const ends = new LRUCache<string, number>({ max: 1_000, memoMethod: bundleEnd });

  function countHandlers({ status }: StoredConfig, hooks: Set<string>): void {
    for (const { requestHook: { apiVersion = '', hook = '' } = {} } of status?.handlers ?? []) {
      const state = phaseOf({ apiVersion, hook }, { release }) ?? 'unknown';
      const key = `${apiVersion}/${hook}`;
      if (hooks.size < maxHooks) {
        hooks.add(key);
      }
      const [group = '', version = ''] = apiVersion.split('/', 2);
      const label = (text: string) => quotable(text, maxLabel);
      handlers.inc(
        hooks.has(key)
          ? { group: label(group), version: label(version), hook: label(hook), state }
          : { group: 'others', version: '', hook: '', state },
      );
    }
  }

  function collectConfigs(): void {
    for (const one of [discovered, bundleEnds, handlers]) {
      one.reset();
    }
    const hooks = new Set<string>();
    for (const config of term()?.configs() ?? []) {
      const extensionconfig = config.metadata.name;
      const status = conditionOf(config.status, 'Discovered')?.status;
      if (status === 'True' || status === 'False') {
        discovered.set({ extensionconfig }, status === 'True' ? 1 : 0);
      }
      const end = ends.memo(config.spec?.clientConfig?.caBundle ?? '');
      if (Number.isFinite(end)) {
        bundleEnds.set({ extensionconfig }, end);
      }
      countHandlers(config, hooks);
    }
  }

  return (result: 'success' | 'failure', seconds: number): void => {
    runs.inc({ result });
    runTimes.observe(seconds);
  };
}

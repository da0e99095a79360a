import { Buffer } from 'node:buffer';
import { count, shortList } from '../base/index.ts';
import { problemOf, usable } from '../base/x509/index.ts';
import { injectCaFromSecretAnnotation, pausedAnnotation } from '../extensionconfig/index.ts';
import { isStatus, type KubernetesClient, type StatusError, type WatchPace } from '../kubernetes/client/index.ts';
import type { LabelSelector } from '../kubernetes/index.ts';
import { type Client, selectorProblem } from '../runtimehooks/client/index.ts';
import { bundleOfSecret } from '../webhook/certs/index.ts';
import { type ConfigEvent, createEventRecorder, type Reporter } from './configs/events.ts';
import { conditionOf, discoveredStatus, type ExtensionConfigStatus, type RunFinding } from './configs/status.ts';
import { createConfigStore, type StoredConfig } from './configs/stored.ts';
import type { QueuePace, RunResult } from './queue.ts';

export interface ControllerPace {
  /** Maximum time after a successful discovery until the next one, in ms. */
  resyncMs: number;
  /** How often the Secret with a CA is read, in ms, also after failures: the CA may be rotated, and others wait 30 s for it. */
  secretMs: number;
  concurrency: number;
  queue: QueuePace;
  informer: Partial<WatchPace>;
}

/** As in Cluster API, except for the concurrency (there 10): a run mostly waits for the extension. */
export const defaultPace: ControllerPace = {
  resyncMs: 10 * 60_000,
  secretMs: 20_000,
  concurrency: 32,
  queue: { minIntervalMs: 1_000, backoffMs: 1_000, backoffStepMs: 5, maxBackoffMs: 1_000_000 },
  informer: {},
};

interface DiscoveryContext extends Reporter {
  cluster: KubernetesClient;
  client: Client;
  pace: ControllerPace;
}

/** Whether the API server rejects the content of a write: a retry would fail again until something changes. */
const isRefusal = (error: unknown): error is StatusError => isStatus(error, 400, 403, 413, 422);

const namesIn = (status: ExtensionConfigStatus | undefined) =>
  new Set((status?.handlers ?? []).map(({ name = '' }) => name));

/** The event for a change of the status; undefined if it says the same as before. */
function eventOf(
  before: ExtensionConfigStatus | undefined,
  finding: RunFinding,
  after: ExtensionConfigStatus | undefined,
): ConfigEvent | undefined {
  if (finding.kind === 'paused') {
    const message = `discovery is paused: remove the annotation ${pausedAnnotation} to resume`;
    return conditionOf(before, 'Paused')?.status === 'True' ? undefined : { type: 'Normal', reason: 'Paused', message };
  }
  const [was, is] = [conditionOf(before, 'Discovered'), conditionOf(after, 'Discovered')];
  if (finding.kind === 'not-discovered') {
    const { status, message = '' } = is ?? {};
    return was?.status === status && was?.message === message
      ? undefined
      : { type: 'Warning', reason: 'NotDiscovered', message };
  }
  const [old, now] = [namesIn(before), namesIn(after)];
  if (was?.status !== 'True') {
    return { type: 'Normal', reason: 'Discovered', message: `discovered ${count(now.size, 'handler')}` };
  }
  const without = (what: string, names: Set<string>, others: Set<string>) => {
    const rest = [...names].filter((name) => !others.has(name));
    return rest.length === 0 ? [] : [`${what} ${shortList(rest, 5)}`];
  };
  const changes = [...without('added', now, old), ...without('removed', old, now)];
  const message = `the extension server changed: ${changes.join('; ')}`;
  return changes.length === 0 ? undefined : { type: 'Normal', reason: 'HandlersChanged', message };
}

/** The input of a discovery besides the spec. */
export const fingerprintOf = ({ metadata: { annotations = {} } }: StoredConfig): string =>
  JSON.stringify([annotations[pausedAnnotation] !== undefined, annotations[injectCaFromSecretAnnotation]]);

const subjectOf = (config: StoredConfig) =>
  `${config.metadata.uid} ${config.metadata.generation} ${fingerprintOf(config)}`;

/** Discovers extensions, and writes their status. Problems with the extension or the object become conditions. */
export function createDiscovery({ cluster, client, log, now, pace, identity }: DiscoveryContext) {
  const events = createEventRecorder(cluster, { identity, log, now });
  const store = createConfigStore(cluster);
  /** By name, what was discovered last, and until when that need not be repeated: then only its Secret is looked at. */
  const discovered = new Map<string, { subject: string; until: number }>();

  async function injectCa(config: StoredConfig, annotation: string): Promise<StoredConfig | string> {
    const failed = (problem: string) => `failed to reconcile caBundle: ${problem}`;
    const bundle = await bundleOfSecret(cluster, annotation);
    const caBundle = Buffer.from(usable(bundle) ?? '').toString('base64');
    if (caBundle === '') {
      return failed(problemOf(bundle) ?? '');
    }
    if (caBundle === config.spec?.clientConfig?.caBundle) {
      return config;
    }
    try {
      const after = await store.writeCaBundle(config, caBundle);
      const message = `spec.clientConfig.caBundle was filled from ca.crt of Secret ${annotation}`;
      events.record(after, { type: 'Normal', reason: 'CABundleInjected', message });
      return after;
    } catch (error) {
      if (isRefusal(error)) {
        return failed(error.message);
      }
      throw error;
    }
  }

  async function find(config: StoredConfig, signal: AbortSignal): Promise<RunFinding> {
    const problem = selectorProblem(config.spec?.namespaceSelector as LabelSelector | undefined);
    if (problem !== undefined) {
      return { kind: 'not-discovered', error: problem };
    }
    const result = await client.discover(config, { signal });
    // It is called again in ten minutes, and a thousand idle connections take 200 MB.
    client.disconnect(config.metadata.name);
    signal.throwIfAborted();
    return result.ok
      ? { kind: 'discovered', handlers: result.handlers }
      : { kind: 'not-discovered', error: result.error.message };
  }

  async function write(config: StoredConfig, finding: RunFinding): Promise<StoredConfig> {
    const { generation } = config.metadata;
    const after = await store.writeStatus(config, discoveredStatus(config.status, finding, generation, now()));
    const event = eventOf(config.status, finding, after.status);
    if (event !== undefined) {
      events.record(after, event);
    }
    return after;
  }

  return {
    /** Reconciles one ExtensionConfig. @throws {Error} when the API server fails: the run is retried. */
    async run(before: StoredConfig, signal: AbortSignal): Promise<RunResult> {
      const { name, annotations = {} } = before.metadata;
      if (annotations[pausedAnnotation] !== undefined) {
        discovered.delete(name);
        await write(before, { kind: 'paused' });
        return { result: 'done' };
      }
      const annotation = annotations[injectCaFromSecretAnnotation];
      // Spread out: otherwise all extensions would be called in a burst every ten minutes.
      const part = 0.9 + Math.random() / 10;
      const againMs = (annotation === undefined ? pace.resyncMs : pace.secretMs) * part;
      const injected = annotation === undefined ? before : await injectCa(before, annotation);
      const last = discovered.get(name);
      const isFresh = last?.subject === subjectOf(before) && performance.now() < last.until;
      if (annotation !== undefined && injected === before && isFresh) {
        return { result: 'done', againMs };
      }
      discovered.delete(name);
      const failed: RunResult = { result: 'failed', ...(annotation !== undefined && { againMs }) };
      if (typeof injected === 'string') {
        await write(before, { kind: 'not-discovered', error: injected });
        return failed;
      }
      const finding = await find(injected, signal);
      let after: StoredConfig;
      try {
        after = await write(injected, finding);
      } catch (error) {
        if (finding.kind === 'not-discovered' || !isRefusal(error)) {
          throw error;
        }
        // An admission policy, or a limit of the CRD: the status is where people look for it.
        const problem = `the API server rejects the discovered handlers: ${error.message}`;
        await write(injected, { kind: 'not-discovered', error: problem });
        return failed;
      }
      if (finding.kind === 'not-discovered') {
        return failed;
      }
      discovered.set(name, { subject: subjectOf(after), until: performance.now() + pace.resyncMs * part });
      return { result: 'done', againMs };
    },
    forget(name: string): void {
      client.remove(name);
      discovered.delete(name);
    },
    flush: events.flush,
  };
}

export type Discovery = ReturnType<typeof createDiscovery>;

import { Buffer } from 'node:buffer';
import { count, shortList } from '../../base/index.ts';
import { problemOf, usable } from '../../base/x509/index.ts';
import { injectCaFromSecretAnnotation, pausedAnnotation } from '../../extensionconfig/index.ts';
import { isStatus, type StatusError } from '../../kubernetes/client/index.ts';
import { type LabelSelector, labelSelectorProblems } from '../../kubernetes/index.ts';
import { bundleOfSecret } from '../../webhook/certs/index.ts';
import type { ConfigEvent } from '../configs/events.ts';
import { conditionOf, discoveredStatus, type ExtensionConfigStatus, type RunFinding } from '../configs/status.ts';
import type { StoredConfig } from '../configs/stored.ts';
import type { RunResult } from '../queue.ts';
import type { Worker, WritingContext } from './worker.ts';

/** Whether the API server rejects the content of a write: a retry would fail again until something changes. */
const isRefusal = (error: unknown): error is StatusError => isStatus(error, 400, 403, 413, 422);

/** The object with the CA of the Secret that its annotation names, or why there is none. */
async function injectCa(
  config: StoredConfig,
  { cluster, events, store }: WritingContext,
): Promise<StoredConfig | string> {
  const annotation = config.metadata.annotations?.[injectCaFromSecretAnnotation];
  if (annotation === undefined) {
    return config;
  }
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

/** Why the handlers could not be registered, as far as the object alone tells. */
function selectorProblem({ spec }: StoredConfig): string | undefined {
  const [problem] = labelSelectorProblems((spec?.namespaceSelector ?? {}) as LabelSelector);
  return problem && `failed to create namespaceSelector: ${problem.path.join('.')}: ${problem.message}`;
}

const namesIn = (status: ExtensionConfigStatus | undefined) =>
  new Set((status?.handlers ?? []).map(({ name = '' }) => name));

/** Maximum number of handlers that an event names. */
const maxNamed = 5;

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
    return rest.length === 0 ? [] : [`${what} ${shortList(rest, maxNamed)}`];
  };
  const changes = [...without('added', now, old), ...without('removed', old, now)];
  const message = `the extension server changed: ${changes.join('; ')}`;
  return changes.length === 0 ? undefined : { type: 'Normal', reason: 'HandlersChanged', message };
}

/** The result of discovery for an ExtensionConfig, and the object with its caBundle, if `injectCa` has returned it. */
async function find(
  config: StoredConfig,
  injected: StoredConfig | string,
  { client }: WritingContext,
  signal: AbortSignal,
): Promise<{ finding: RunFinding; config: StoredConfig }> {
  const notDiscovered = (error: string): RunFinding => ({ kind: 'not-discovered', error });
  if (typeof injected === 'string') {
    return { finding: notDiscovered(injected), config };
  }
  const problem = selectorProblem(injected);
  if (problem !== undefined) {
    return { finding: notDiscovered(problem), config: injected };
  }
  const result = await client.discover(injected, { signal });
  // It is called again in ten minutes only, and a thousand idle connections with their certificates take 200 MB.
  client.disconnect(config.metadata.name);
  signal.throwIfAborted();
  const finding: RunFinding = result.ok
    ? { kind: 'discovered', handlers: result.handlers }
    : notDiscovered(result.error.message);
  return { finding, config: injected };
}

/**
 * Discovers extensions, writes their status, and registers their handlers. Problems with the extension or the object become
 * conditions; then, and while an extension is paused, handlers that were registered before remain registered.
 */
export function createDiscoverWorker(context: WritingContext): Worker {
  const { client, events, now, pace, store } = context;
  /** By name, what was discovered last, and until when that need not be repeated: then only its Secret is looked at. */
  const discovered = new Map<string, { subject: string; until: number }>();
  const fingerprintOf: Worker['fingerprintOf'] = ({ metadata: { annotations = {} } }) =>
    JSON.stringify([annotations[pausedAnnotation] !== undefined, annotations[injectCaFromSecretAnnotation]]);
  const subjectOf = (config: StoredConfig) =>
    `${config.metadata.uid} ${config.metadata.generation} ${fingerprintOf(config)}`;

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
    fingerprintOf,
    begin(configs) {
      for (const { name } of client.registry.extensions) {
        client.registry.remove(name);
      }
      // Handlers that were discovered before remain registered until the next discovery, and also when that fails.
      for (const config of configs) {
        if ((config.status?.handlers?.length ?? 0) > 0 && config.metadata.deletionTimestamp === undefined) {
          client.registry.add(config);
        }
      }
    },
    async run(before, signal) {
      const { name, annotations = {} } = before.metadata;
      if (annotations[pausedAnnotation] !== undefined) {
        discovered.delete(name);
        await write(before, { kind: 'paused' });
        return { result: 'done' };
      }
      const isFromSecret = annotations[injectCaFromSecretAnnotation] !== undefined;
      // Spread out: otherwise all extensions would be called in a burst every ten minutes.
      const part = 0.9 + Math.random() / 10;
      const againMs = (isFromSecret ? pace.secretMs : pace.resyncMs) * part;
      const injected = await injectCa(before, context);
      const last = discovered.get(name);
      if (
        isFromSecret &&
        injected === before &&
        last?.subject === subjectOf(before) &&
        performance.now() < last.until
      ) {
        return { result: 'done', againMs };
      }
      discovered.delete(name);
      const { finding, config } = await find(before, injected, context, signal);
      const failed: RunResult = { result: 'failed', ...(isFromSecret && { againMs }) };
      let after: StoredConfig;
      try {
        after = await write(config, finding);
      } catch (error) {
        if (finding.kind === 'not-discovered' || !isRefusal(error)) {
          throw error;
        }
        // The cause is an admission policy or a limit of the CRD. The status is where people look for it.
        const problem = `the API server rejects the discovered handlers: ${error.message}`;
        await write(config, { kind: 'not-discovered', error: problem });
        return failed;
      }
      if (finding.kind === 'not-discovered') {
        return failed;
      }
      const refusal = client.registry.add(after);
      if (refusal !== undefined) {
        throw new Error(refusal.message);
      }
      discovered.set(name, { subject: subjectOf(after), until: performance.now() + pace.resyncMs * part });
      return { result: 'done', againMs };
    },
    forget(name) {
      client.remove(name);
      discovered.delete(name);
    },
    flush: () => events.flush(),
  };
}

import { count, shortList } from '../../base/index.ts';
import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { type KubernetesClient, StatusError } from '../../kubernetes/client/index.ts';
import { type LabelSelector, labelSelectorProblems } from '../../kubernetes/index.ts';
import type { Client } from '../../runtimehooks/client/index.ts';
import { readCaBundle, secretNameOf } from '../ca-secrets/ca-secret.ts';
import { conditionOf, type ExtensionConfigStatus } from '../configs/conditions.ts';
import { discoveredStatus, pausedAnnotation, type RunFinding } from '../configs/discovered-status.ts';
import type { ConfigEvent, EventRecorder } from '../configs/events.ts';
import type { ConfigStore, StoredConfig } from '../configs/stored.ts';

/** The result of a run, for the log and for metrics. */
export interface RunReport {
  finding: RunFinding['kind'];
  /** Why the extension was not discovered. */
  error?: string;
  handlers: number;
}

/** The dependencies of a run. */
export interface DiscoverOptions {
  cluster: KubernetesClient;
  store: ConfigStore;
  client: Client;
  events: EventRecorder;
  now: () => Date;
}

/** Whether the API server rejects the content of a write: a retry would fail again until something changes. */
const isRefusal = (error: unknown): error is StatusError =>
  error instanceof StatusError &&
  (error.code === 400 || error.code === 403 || error.code === 413 || error.code === 422);

/** Writes caBundle from the Secret that the annotation names. */
async function injectCa(
  config: StoredConfig,
  { cluster, store, events }: DiscoverOptions,
): Promise<{ config: StoredConfig } | { error: string }> {
  const annotation = config.metadata.annotations?.[injectCaFromSecretAnnotation];
  if (annotation === undefined) {
    return { config };
  }
  const failed = (problem: string) => ({ error: `failed to reconcile caBundle: ${problem}` });
  const name = secretNameOf(annotation);
  if ('problem' in name) {
    return failed(name.problem);
  }
  const reading = await readCaBundle(cluster, name);
  if ('problem' in reading) {
    return failed(reading.problem);
  }
  if (reading.caBundle === config.spec?.clientConfig?.caBundle) {
    return { config };
  }
  try {
    const after = await store.writeCaBundle(config, reading.caBundle);
    const message = `spec.clientConfig.caBundle was filled from ca.crt of Secret ${name.namespace}/${name.name}`;
    events.record(after, { type: 'Normal', reason: 'CABundleInjected', message });
    return { config: after };
  } catch (error) {
    if (isRefusal(error)) {
      return failed(error.message);
    }
    throw error;
  }
}

/** Why the handlers could not be registered, as far as the object alone tells. */
function selectorProblem({ spec }: StoredConfig): string | undefined {
  const selector = spec?.namespaceSelector as LabelSelector | undefined;
  const problem = selector && labelSelectorProblems(selector, 1)[0];
  return problem && `failed to create namespaceSelector: ${problem.path.join('.')}: ${problem.message}`;
}

const namesIn = (status: ExtensionConfigStatus | undefined) =>
  new Set((status?.handlers ?? []).map(({ name = '' }) => name));

/** Maximum number of handlers that an event names. */
const maxNamed = 5;

/** The event for a change of the status. */
function eventOf(
  before: ExtensionConfigStatus | undefined,
  finding: RunFinding,
  after: ExtensionConfigStatus | undefined,
): ConfigEvent | undefined {
  const wasPaused = conditionOf(before, 'Paused')?.status === 'True';
  switch (finding.kind) {
    case 'paused':
      return wasPaused
        ? undefined
        : {
            type: 'Normal',
            reason: 'Paused',
            message: `discovery is paused: remove the annotation ${pausedAnnotation} to resume`,
          };
    case 'not-discovered':
      return { type: 'Warning', reason: 'NotDiscovered', message: `Error in discovery: ${finding.error}` };
    case 'discovered': {
      const [old, now] = [namesIn(before), namesIn(after)];
      const added = [...now].filter((name) => !old.has(name));
      const removed = [...old].filter((name) => !now.has(name));
      if (conditionOf(before, 'Discovered')?.status !== 'True') {
        return { type: 'Normal', reason: 'Discovered', message: `discovered ${count(now.size, 'handler')}` };
      }
      if (added.length === 0 && removed.length === 0) {
        return undefined;
      }
      const parts = [
        ...(added.length === 0 ? [] : [`added ${shortList(added, maxNamed)}`]),
        ...(removed.length === 0 ? [] : [`removed ${shortList(removed, maxNamed)}`]),
      ];
      return {
        type: 'Normal',
        reason: 'HandlersChanged',
        message: `the extension server changed: ${parts.join('; ')}`,
      };
    }
  }
}

/**
 * Reconciles one ExtensionConfig: Paused, caBundle from its Secret, discovery, status, registration. Problems with the
 * extension or the object become conditions.
 *
 * @throws {Error} when the API server fails, or when another client has written in the meantime: the run has to start
 *   over.
 */
export async function discoverConfig(
  config: StoredConfig,
  options: DiscoverOptions,
  signal: AbortSignal,
): Promise<RunReport> {
  const { store, client, events, now } = options;
  let current = config;

  async function write(finding: RunFinding): Promise<void> {
    const before = current.status;
    const { generation } = current.metadata;
    current = await store.writeStatus(current, (status) => discoveredStatus(status, finding, generation, now()));
    const event = eventOf(before, finding, current.status);
    if (event !== undefined) {
      events.record(current, event);
    }
  }

  // The registration remains, and calls continue.
  if (config.metadata.annotations?.[pausedAnnotation] !== undefined) {
    await write({ kind: 'paused' });
    return { finding: 'paused', handlers: current.status?.handlers?.length ?? 0 };
  }
  const injected = await injectCa(config, options);
  let finding: Exclude<RunFinding, { kind: 'paused' }>;
  const selector = selectorProblem(config);
  if ('error' in injected) {
    finding = { kind: 'not-discovered', error: injected.error };
  } else if (selector !== undefined) {
    current = injected.config;
    finding = { kind: 'not-discovered', error: selector };
  } else {
    current = injected.config;
    const result = await client.discover(current, { signal });
    // It is called again in ten minutes only, and a thousand idle connections with their certificates take 200 MB.
    client.disconnect(config.metadata.name);
    signal.throwIfAborted();
    finding = result.ok
      ? { kind: 'discovered', handlers: result.handlers }
      : { kind: 'not-discovered', error: result.error.message };
  }
  try {
    await write(finding);
  } catch (error) {
    if (finding.kind !== 'discovered' || !isRefusal(error)) {
      throw error;
    }
    // The cause is an admission policy or a limit of the CRD. The status is where people look for it.
    finding = { kind: 'not-discovered', error: `the API server rejects the discovered handlers: ${error.message}` };
    await write(finding);
  }
  if (finding.kind === 'not-discovered') {
    // Handlers that were registered before remain registered, with their previous address.
    return { finding: finding.kind, error: finding.error, handlers: 0 };
  }
  const refused = client.registry.add(current);
  if (refused !== undefined) {
    throw new Error(refused.message);
  }
  return { finding: finding.kind, handlers: current.status?.handlers?.length ?? 0 };
}

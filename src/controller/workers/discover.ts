import { count, shortList } from '../../base/index.ts';
import { injectCaFromSecretAnnotation, pausedAnnotation, secretNameOf } from '../../extensionconfig/index.ts';
import { isStatus, type StatusError } from '../../kubernetes/client/index.ts';
import { type LabelSelector, labelSelectorProblems } from '../../kubernetes/index.ts';
import { readCaBundle } from '../ca-secrets/ca-secret.ts';
import { conditionOf, type ExtensionConfigStatus } from '../configs/conditions.ts';
import { discoveredStatus, type RunFinding } from '../configs/discovered-status.ts';
import type { ConfigEvent } from '../configs/events.ts';
import type { StoredConfig } from '../configs/stored.ts';
import type { WritingContext } from './worker.ts';

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
  const name = secretNameOf(annotation);
  if (name === undefined) {
    // Anyone who may write an ExtensionConfig controls its text.
    return failed(`secret name ${JSON.stringify(annotation.slice(0, 300))} must be in the form <namespace>/<name>`);
  }
  const reading = await readCaBundle(cluster, name);
  if ('problem' in reading) {
    return failed(reading.problem);
  }
  if (reading.caBundle === config.spec?.clientConfig?.caBundle) {
    return config;
  }
  try {
    const after = await store.writeCaBundle(config, reading.caBundle);
    const message = `spec.clientConfig.caBundle was filled from ca.crt of Secret ${name.namespace}/${name.name}`;
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

function eventOf(
  before: ExtensionConfigStatus | undefined,
  finding: RunFinding,
  after: ExtensionConfigStatus | undefined,
): ConfigEvent | undefined {
  if (finding.kind === 'paused') {
    const message = `discovery is paused: remove the annotation ${pausedAnnotation} to resume`;
    return conditionOf(before, 'Paused')?.status === 'True' ? undefined : { type: 'Normal', reason: 'Paused', message };
  }
  if (finding.kind === 'not-discovered') {
    return { type: 'Warning', reason: 'NotDiscovered', message: `Error in discovery: ${finding.error}` };
  }
  const [old, now] = [namesIn(before), namesIn(after)];
  if (conditionOf(before, 'Discovered')?.status !== 'True') {
    return { type: 'Normal', reason: 'Discovered', message: `discovered ${count(now.size, 'handler')}` };
  }
  const added = [...now].filter((name) => !old.has(name));
  const removed = [...old].filter((name) => !now.has(name));
  const changes = [
    ...(added.length === 0 ? [] : [`added ${shortList(added, maxNamed)}`]),
    ...(removed.length === 0 ? [] : [`removed ${shortList(removed, maxNamed)}`]),
  ];
  const message = `the extension server changed: ${changes.join('; ')}`;
  return changes.length === 0 ? undefined : { type: 'Normal', reason: 'HandlersChanged', message };
}

/** The result of a run: what was found, and the object after it. */
interface RunOutcome {
  finding: RunFinding;
  after: StoredConfig;
}

/** What discovery finds for an ExtensionConfig, and the object with its caBundle. */
async function find(config: StoredConfig, context: WritingContext, signal: AbortSignal): Promise<RunOutcome> {
  const notDiscovered = (error: string): RunFinding => ({ kind: 'not-discovered', error });
  const after = await injectCa(config, context);
  if (typeof after === 'string') {
    return { finding: notDiscovered(after), after: config };
  }
  const problem = selectorProblem(after);
  if (problem !== undefined) {
    return { finding: notDiscovered(problem), after };
  }
  const { client } = context;
  const result = await client.discover(after, { signal });
  // It is called again in ten minutes only, and a thousand idle connections with their certificates take 200 MB.
  client.disconnect(config.metadata.name);
  signal.throwIfAborted();
  const finding: RunFinding = result.ok
    ? { kind: 'discovered', handlers: result.handlers }
    : notDiscovered(result.error.message);
  return { finding, after };
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
  context: WritingContext,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { client, events, now, store } = context;

  async function write({ finding, after: before }: RunOutcome): Promise<RunOutcome> {
    const { generation } = before.metadata;
    const after = await store.writeStatus(before, (status) => discoveredStatus(status, finding, generation, now()));
    const event = eventOf(before.status, finding, after.status);
    if (event !== undefined) {
      events.record(after, event);
    }
    return { finding, after };
  }

  if (config.metadata.annotations?.[pausedAnnotation] !== undefined) {
    // The registration remains, and calls continue.
    return write({ finding: { kind: 'paused' }, after: config });
  }
  const outcome = await find(config, context, signal);
  if (outcome.finding.kind === 'not-discovered') {
    // Handlers that were registered before remain registered, with their previous address.
    return write(outcome);
  }
  let written: RunOutcome;
  try {
    written = await write(outcome);
  } catch (error) {
    if (!isRefusal(error)) {
      throw error;
    }
    // The cause is an admission policy or a limit of the CRD. The status is where people look for it.
    const problem = `the API server rejects the discovered handlers: ${error.message}`;
    return write({ finding: { kind: 'not-discovered', error: problem }, after: outcome.after });
  }
  const refusal = client.registry.add(written.after);
  if (refusal !== undefined) {
    throw new Error(refusal.message);
  }
  return written;
}

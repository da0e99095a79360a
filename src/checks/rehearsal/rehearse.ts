import { isDeepStrictEqual } from 'node:util';
import { eachOf } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { objectAt, textAt } from '../../kubernetes/index.ts';
import type { SchemaOf } from '../../kubernetes/schema/index.ts';
import {
  type Client,
  complete,
  createClusterApiClient,
  isCallError,
  type Resolve,
} from '../../runtimehooks/client/index.ts';
import { hooks, type Release } from '../../runtimehooks/index.ts';
import { causeText, checkedTopology, createNames, type Names, topologyCauses } from '../../topology/index.ts';
import { type Caller, createCaller } from './caller.ts';
import { handlerCall, SimulationStopped } from './cluster/effects.ts';
import type { RehearsedCluster } from './cluster/state.ts';
import { type ClusterApiLimits, State, type UserEdit } from './cluster/state.ts';
import { type Fault, withFaults } from './faults.ts';
import { entryOf, type PlayOptions, play } from './play.ts';
import { type Entry, masked, warning } from './record.ts';
import { failedCondition } from './simulation/condition.ts';
import { type Scenario, simulateCluster } from './simulation/simulate.ts';
import { discoverVariables, notReady } from './topology/discover.ts';
import { nameOfClass, uncalled, unselected } from './warnings.ts';

/** Options of a rehearsal. */
export interface RehearsalOptions extends PlayOptions {
  configs: readonly ExtensionConfig[];
  subjects: readonly RehearsedCluster[];
  scenario: Scenario;
  limits: ClusterApiLimits;
  /** The release of Cluster API to simulate. Default: the newest that is known. */
  release?: Release | undefined;
  faults?: readonly Fault[];
  resolve?: Resolve | undefined;
  namespaceLabels: (namespace: string) => Promise<Readonly<Record<string, string>> | undefined>;
  start?: Date;
  names?: Names;
  edit?: UserEdit;
  /** The schemas of templates, which patched ones must match. Default: none is known. */
  schemaOf?: SchemaOf | undefined;
}

/** Maximum number of Clusters simulated concurrently: as many as the concurrent calls that an extension gets. */
const clustersAtOnce = 10;

/** An address on which nothing listens: the discard port of this machine. */
const nowhere = { host: '127.0.0.1', port: 9 };

/** Maximum number of namespaces for which selectors are evaluated. */
const maxWarned = 100;

/**
 * Calls Discovery on an extension twice, as Cluster API does: its own write of the status triggers the second call.
 *
 * @returns the ExtensionConfig with its handlers.
 * @throws {SimulationStopped} when it fails.
 */
async function discover(client: Client, config: ExtensionConfig, options: RehearsalOptions): Promise<ExtensionConfig> {
  const { onEntry, signal } = options;
  const { name = '' } = config.metadata;
  let handlers: NonNullable<NonNullable<ExtensionConfig['status']>['handlers']> = [];
  for (let round = 1; round <= 2; round++) {
    const discovery = await client.discover(config, { signal });
    signal.throwIfAborted();
    const effect = { at: 0, hook: 'Discovery', request: {}, pendingHooks: '' } as const;
    if (!discovery.ok) {
      const { message: error, step } = discovery.error;
      const status = step === 'status' || step === 'validation' ? 'Failure' : 'Error';
      onEntry(entryOf('', round, effect, handlerCall(name, { status, error })));
      throw new SimulationStopped(
        `${name} is not discovered, and no manager would start: Error in discovery: ${error}`,
      );
    }
    onEntry(entryOf('', round, effect, handlerCall(name, {})));
    const sorted = discovery.handlers.toSorted((a, b) => (a.name < b.name ? -1 : 1));
    if (round > 1 && !isDeepStrictEqual(handlers, sorted)) {
      const text = `${name} does not answer discovery the same each time`;
      onEntry(warning('', text, 'offer the same handlers in all replicas and at all times'));
    }
    handlers = sorted;
  }
  return { ...config, status: { ...config.status, handlers } };
}

const namespaceOf = ({ cluster }: RehearsedCluster): string => textAt(cluster, 'metadata', 'namespace') || 'default';

/** The name of a Cluster in entries: `NAMESPACE/NAME`. */
export const clusterOf = (subject: RehearsedCluster): string =>
  `${namespaceOf(subject)}/${textAt(subject.cluster, 'metadata', 'name')}`;

async function playCluster(subject: RehearsedCluster, call: Caller, options: RehearsalOptions): Promise<boolean> {
  const { scenario, limits, release, edit, schemaOf, onEntry, start = new Date(), names = createNames() } = options;
  const cluster = clusterOf(subject);
  const refusals = topologyCauses(subject.cluster, subject.blueprint).map(causeText);
  let checked = subject;
  if (subject.blueprint !== undefined) {
    const { topology, problems } = checkedTopology(subject.blueprint, subject.cluster);
    checked = { ...subject, cluster: { ...subject.cluster, spec: { ...objectAt(subject.cluster, 'spec'), topology } } };
    refusals.push(...problems);
  }
  if (refusals.length > 0) {
    const reason = `Cluster API refuses the Cluster: ${refusals.slice(0, maxProblems).join('; ')}`;
    onEntry({ type: 'end', cluster, at: 0, isComplete: false, reason, calls: 0 });
    return false;
  }
  const state = new State({ subject: checked, names, start, limits, release, edit, schemaOf });
  let hasErrors = false;
  const { end, calls } = await play(simulateCluster(state, scenario), cluster, call, {
    ...options,
    onEntry(entry) {
      hasErrors ||= entry.type === 'event' && entry.event.kind === 'finding' && entry.event.severity === 'error';
      onEntry(entry);
    },
  });
  const isComplete = end.isComplete && !hasErrors;
  const reason = end.isComplete && hasErrors ? 'the lifecycle completed, but with errors' : end.reason;
  onEntry({ ...end, type: 'end', cluster, isComplete, reason, calls });
  return isComplete;
}

/** What Cluster API reports for the Clusters of a class whose variables cannot be discovered. */
const classNotReady =
  'ClusterClass is not successfully reconciled: status of VariablesReady condition on ClusterClass must be "True"';

const maxProblems = 20;

/**
 * Simulates the lifecycles of Clusters against real extension servers: discovery, the reconcile of their classes, then
 * each Cluster. Several Clusters are played concurrently, in simulated time, so entries of different Clusters may be
 * interleaved.
 *
 * @returns how many Clusters there were, and how many could be completed.
 */
export async function rehearse(given: RehearsalOptions): Promise<{ clusters: number; complete: number }> {
  const { subjects, signal, resolve, release } = given;
  const onEntry = (entry: Entry) => given.onEntry(masked(entry));
  const clusters = subjects.length;
  const blueprints = [...new Set(subjects.flatMap(({ blueprint }) => blueprint ?? []))];
  const namespaces = [...new Set([...subjects.map(namespaceOf), ...blueprints.map(({ namespace }) => namespace)])];
  // Once for each namespace: every call needs them.
  const labels = new Map(
    await eachOf(namespaces, clustersAtOnce, async (name) => [name, await given.namespaceLabels(name)] as const),
  );
  const namespaceLabels = async (name: string) => labels.get(name);
  const client = createClusterApiClient({ namespaceLabels, resolve });
  const unreachable = createClusterApiClient({ namespaceLabels, resolve: () => nowhere });
  const options: RehearsalOptions = {
    ...given,
    onEntry,
    onRequest(call, request) {
      const handler = client.registry.get(call.call.handler);
      if (!isCallError(handler)) {
        given.onRequest?.(call, complete(hooks[call.hook], request, handler.extension.settings));
      }
    },
  };
  try {
    const configs: ExtensionConfig[] = [];
    for (const config of options.configs) {
      configs.push(await discover(client, config, options));
    }
    const [wrong] = client.registry.addAll(configs).values();
    if (wrong !== undefined) {
      throw new SimulationStopped(wrong.message);
    }
    for (const namespace of [...new Set(subjects.map(namespaceOf))].slice(0, maxWarned)) {
      unselected(configs, namespace, labels.get(namespace) ?? {}).forEach(onEntry);
    }
    uncalled(configs, blueprints, options.scenario).forEach(onEntry);
    unreachable.registry.addAll(configs);
    const [up, down] = [createCaller(client, release), createCaller(unreachable, release)];
    for (const blueprint of blueprints) {
      const { end } = await play(discoverVariables(blueprint), nameOfClass(blueprint), up, options);
      if (end !== undefined) {
        for (const subject of subjects.filter((one) => one.blueprint === blueprint && end.startsWith(notReady))) {
          onEntry({ type: 'event', cluster: clusterOf(subject), at: 0, event: failedCondition(classNotReady) });
        }
        throw new SimulationStopped(end);
      }
    }
    const results = await eachOf(subjects, clustersAtOnce, (subject) => {
      signal.throwIfAborted();
      return playCluster(subject, withFaults(up, down, options.faults ?? []), options);
    });
    return { clusters, complete: results.filter((isComplete) => isComplete).length };
  } catch (error) {
    if (!(error instanceof SimulationStopped)) {
      throw error;
    }
    onEntry({ type: 'end', cluster: '', at: 0, isComplete: false, reason: error.message, calls: 0 });
    return { clusters, complete: 0 };
  } finally {
    await Promise.all([client.close(), unreachable.close()]);
  }
}

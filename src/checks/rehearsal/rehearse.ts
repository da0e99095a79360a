import { eachOf, printable, shortList } from '../../base/index.ts';
import type { ExtensionConfig } from '../../extensionconfig/index.ts';
import { type LabelSelector, namespacedName, namespaceOf, selectsLabels } from '../../kubernetes/index.ts';
import {
  type Client,
  complete,
  createClusterApiClient,
  isCallError,
  type NamespaceLabels,
  type Resolve,
} from '../../runtimehooks/client/index.ts';
import { hooks, v1 } from '../../runtimehooks/index.ts';
import { discoverVariables, NotKnown } from '../../topology/index.ts';
import { failedCondition } from './condition.ts';
import { playLife, reasonOf, type Scenario } from './life.ts';
import {
  type Caller,
  createCaller,
  handlerCall,
  Player,
  ReconcileError,
  SimulationStopped,
  type Stage,
} from './player.ts';
import { type Blueprint, type ClusterOptions, type RehearsedCluster, State } from './state.ts';

/** The oldest release that a rehearsal simulates. Of the newest known one, the main branch of August 2026 does not differ. */
export const oldestRelease = v1(12);

export interface RehearsalOptions extends ClusterOptions {
  configs: readonly ExtensionConfig[];
  subjects: readonly RehearsedCluster[];
  scenario: Scenario;
  resolve?: Resolve | undefined;
  namespaceLabels: NamespaceLabels;
}

/** Maximum number of Clusters simulated concurrently: as many as the concurrent calls that an extension gets. */
const clustersAtOnce = 10;

const maxWarned = 100;

/** The ExtensionConfig with its handlers. Called twice: Cluster API's own write of the status triggers the second call. */
async function discover(
  client: Client,
  config: ExtensionConfig,
  player: Player,
  signal: AbortSignal,
): Promise<ExtensionConfig> {
  const { name = '' } = config.metadata;
  const call = { hook: 'Discovery', request: {} } as const;
  let discovered = config;
  for (let round = 1; round <= 2; round++) {
    const discovery = await client.discover(config, { signal });
    signal.throwIfAborted();
    if (!discovery.ok) {
      const { message: error, step } = discovery.error;
      const status = step === 'status' || step === 'validation' ? 'Failure' : 'Error';
      player.tellCall(call, handlerCall(name, { status, error }));
      throw new SimulationStopped(
        `${name} is not discovered, and no manager would start: Error in discovery: ${error}`,
      );
    }
    player.tellCall(call, handlerCall(name, {}));
    discovered = { ...config, status: { ...config.status, handlers: discovery.handlers } };
  }
  return discovered;
}

/** Names extensions that are not called for the Clusters of a namespace: a selector that does not match goes unnoticed. */
function warnOfUnselected(
  player: Player,
  configs: readonly ExtensionConfig[],
  namespace: string,
  labels: Readonly<Record<string, string>>,
): void {
  const shown = Object.entries(labels).map(([name, value]) => `${name}=${value}`);
  for (const { metadata, spec } of configs) {
    const selector = spec?.namespaceSelector as LabelSelector | undefined;
    if (selector === undefined || !selectsLabels(selector, labels)) {
      const why =
        selector === undefined
          ? 'it has no namespaceSelector'
          : `its namespaceSelector does not match the labels ${shown.join(', ')}`;
      const remedy = 'pass the Namespace with its labels in a file of --cluster-files, or change the selector';
      player.find('warning', `${metadata.name} is not called for Clusters in namespace ${namespace}: ${why}`, remedy);
    }
  }
}

/** Longest text about a rule, in characters. */
const maxText = 400;
const maxUnevaluated = 20;

/** Asks extensions for variables, again after the class's status is written. @throws {ReconcileError | SimulationStopped} */
async function reconcileClass(blueprint: Blueprint, player: Player): Promise<void> {
  const { namespace, name } = blueprint;
  for (const round of [1, 2]) {
    const result = await discoverVariables(blueprint, async (_patch, handler, request) => {
      const call = { hook: 'DiscoverVariables', request, object: { namespace, name, uid: '' }, handler } as const;
      const answer = await player.send(call);
      return answer.ok
        ? { is: 'answered', variables: answer.response.variables ?? [] }
        : { is: 'failed', error: answer.error };
    });
    if (result.is !== 'discovered') {
      throw new (result.is === 'refused' ? SimulationStopped : ReconcileError)(result.why);
    }
    const { unevaluated } = result;
    const [rule] = unevaluated.flatMap(({ unknown, transitions }) => [...unknown, ...transitions]);
    if (rule !== undefined && round === 1) {
      const names = shortList(unevaluated.map(({ variable }) => variable).map(printable), maxUnevaluated);
      const text = `a rehearsal does not evaluate all rules of ${names}: ${rule.slice(0, maxText)}`;
      player.find('warning', text, 'try values that they forbid with kubectl apply --dry-run=server');
    }
  }
}

const maxProblems = 20;

async function playCluster(subject: RehearsedCluster, call: Caller, options: RehearsalOptions): Promise<boolean> {
  const state = new State(subject, call, options);
  const refusals = state.admit();
  if (refusals.length > 0) {
    state.end(false, `Cluster API refuses the Cluster: ${refusals.slice(0, maxProblems).join('; ')}`);
    return false;
  }
  return playLife(state, options.scenario);
}

/** The message of Cluster API for the Clusters of a class whose variables cannot be discovered. */
const classNotReady =
  'ClusterClass is not successfully reconciled: status of VariablesReady condition on ClusterClass must be "True"';

/** Simulates lifecycles with real extension servers. @returns how many Clusters there were, and how many could be completed. */
export async function rehearse(options: RehearsalOptions): Promise<{ clusters: number; complete: number }> {
  const { subjects, signal, resolve, release, onRequest } = options;
  const clusters = subjects.length;
  const blueprints = [...new Set(subjects.flatMap(({ blueprint }) => blueprint ?? []))];
  const ofClusters = [...new Set(subjects.map(({ cluster }) => namespaceOf(cluster)))];
  const namespaces = [...new Set([...ofClusters, ...blueprints.map(({ namespace }) => namespace)])];
  // Once for each namespace: every call needs them.
  const labels = new Map(
    await eachOf(namespaces, clustersAtOnce, async (name) => [name, await options.namespaceLabels(name)] as const),
  );
  const namespaceLabels = async (name: string) => labels.get(name);
  const client = createClusterApiClient({ namespaceLabels, resolve });
  const caller = createCaller(client, release);
  const stage: Stage = {
    ...options,
    onRequest(call, request) {
      const handler = client.registry.get(call.call.handler);
      if (!isCallError(handler)) {
        onRequest?.(call, complete(hooks[call.hook], request, handler.extension.settings));
      }
    },
  };
  const player = new Player('', caller, stage);
  try {
    const configs: ExtensionConfig[] = [];
    for (const config of options.configs) {
      configs.push(await discover(client, config, player, signal));
    }
    for (const config of configs) {
      const wrong = client.registry.add(config);
      if (wrong !== undefined) {
        throw new SimulationStopped(wrong.message);
      }
    }
    for (const name of ofClusters.slice(0, maxWarned)) {
      warnOfUnselected(player, configs, name, labels.get(name) ?? {});
    }
    for (const blueprint of blueprints) {
      try {
        await reconcileClass(
          blueprint,
          new Player(`ClusterClass ${blueprint.namespace}/${blueprint.name}`, caller, stage),
        );
      } catch (error) {
        if (!(error instanceof ReconcileError)) {
          throw error;
        }
        for (const { cluster } of subjects.filter((one) => one.blueprint === blueprint)) {
          new Player(namespacedName(cluster), caller, stage).tell(failedCondition(classNotReady));
        }
        throw new SimulationStopped(error.message);
      }
    }
    const results = await eachOf(subjects, clustersAtOnce, (subject) => {
      signal.throwIfAborted();
      return playCluster(subject, caller, { ...options, ...stage });
    });
    return { clusters, complete: results.filter((isComplete) => isComplete).length };
  } catch (error) {
    if (!(error instanceof SimulationStopped || error instanceof NotKnown)) {
      throw error;
    }
    player.end(false, reasonOf(error));
    return { clusters, complete: 0 };
  } finally {
    await client.close();
  }
}

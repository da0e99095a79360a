import {
  copyOf,
  fieldAt,
  isJsonObject,
  isSame,
  type Json,
  type JsonObject,
  objectAt,
  textAt,
} from '../../../kubernetes/index.ts';
import { applyPatch, BadPatch } from '../../../runtimehooks/index.ts';
import { call, type Reconcile, reportNegative } from '../cluster/ask.ts';
import { ControllerRestart, type Simulation, SimulationStopped } from '../cluster/effects.ts';
import { replicasOf, type State, type WorkerGroup } from '../cluster/state.ts';
import { backoffMs, passUntil, restartMs, waitMs } from '../cluster/time.ts';

/** Maximum number of machines of a group that are played individually: the others behave in the same way. */
const maxMachines = 3;

/** Fields of a Machine's spec that the comparison ignores. */
const notCompared = [
  'clusterName',
  'bootstrap',
  'infrastructureRef',
  'providerID',
  'minReadySeconds',
  'readinessGates',
  'deletion',
  'taints',
];

/** A machine with its objects, in one version. */
interface MachineObjects {
  machine: JsonObject;
  infrastructureMachine: JsonObject;
  bootstrapConfig: JsonObject;
}

function objectsOf(state: State, name: string, version: string, labels: JsonObject): MachineObjects {
  const { metadata } = state.cluster;
  const [cluster, namespace] = [textAt(metadata, 'name'), textAt(metadata, 'namespace')];
  const own = { name, namespace, labels: { 'cluster.x-k8s.io/cluster-name': cluster, ...labels } };
  const infrastructure = { apiGroup: 'infrastructure.cluster.x-k8s.io', kind: 'DockerMachine', name };
  const bootstrap = { apiGroup: 'bootstrap.cluster.x-k8s.io', kind: 'KubeadmConfig', name };
  return {
    machine: {
      apiVersion: 'cluster.x-k8s.io/v1beta2',
      kind: 'Machine',
      metadata: own,
      spec: {
        clusterName: cluster,
        bootstrap: { configRef: bootstrap, dataSecretName: name },
        infrastructureRef: infrastructure,
        version,
      },
    },
    infrastructureMachine: {
      apiVersion: `${infrastructure.apiGroup}/v1beta2`,
      kind: infrastructure.kind,
      metadata: own,
      spec: {},
    },
    bootstrapConfig: { apiVersion: `${bootstrap.apiGroup}/v1beta2`, kind: bootstrap.kind, metadata: own, spec: {} },
  };
}

/** An object with the patch of an answer applied to it. */
function patchedBy(answer: JsonObject, field: string, object: JsonObject): JsonObject {
  const patch = answer[field];
  return isJsonObject(patch) ? applyPatch(object, patch) : object;
}

const compared = (spec: Json | undefined): JsonObject => {
  const copy = isJsonObject(spec) ? copyOf(spec) : {};
  for (const field of notCompared) {
    delete copy[field];
  }
  return copy;
};

/** Whether patches cover all differences. */
function covers(current: JsonObject, desired: JsonObject, path: readonly string[]): boolean {
  return isSame(compared(fieldAt(current, ...path)), compared(fieldAt(desired, ...path)));
}

/** Makes a call, and repeats it when the controller restarts: the marks on a machine survive that. */
function* callAcrossRestarts(
  reconcile: Reconcile,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet' | 'UpdateMachine',
  request: JsonObject,
): ReturnType<typeof call> {
  for (;;) {
    try {
      return yield* call(reconcile, hook, request);
    } catch (error) {
      if (!(error instanceof ControllerRestart)) {
        throw error;
      }
      yield* passUntil(reconcile.state, reconcile.state.now + restartMs);
    }
  }
}

/** Calls UpdateMachine until it is done: once a machine is marked, the update must be finished. */
function* updateMachine(reconcile: Reconcile, desired: MachineObjects): Simulation {
  const { state, limits } = reconcile;
  let failures = 0;
  for (;;) {
    const answer = yield* callAcrossRestarts(reconcile, 'UpdateMachine', { desired: copyOf({ ...desired }) });
    if (answer.ok) {
      failures = 0;
      const { retryAfterSeconds } = answer.response;
      if (typeof retryAfterSeconds === 'number') {
        yield* reportNegative(state, 'UpdateMachine', retryAfterSeconds);
      }
      if (typeof retryAfterSeconds !== 'number' || retryAfterSeconds <= 0) {
        return;
      }
      yield* passUntil(state, state.now + waitMs(retryAfterSeconds));
      continue;
    }
    failures++;
    if (failures >= limits.maxFailures) {
      throw new SimulationStopped(
        `Machine ${textAt(desired.machine, 'metadata', 'name')} is not updated, UpdateMachine failed ${failures} times in a row: ${answer.error}`,
      );
    }
    yield* passUntil(state, state.now + backoffMs(failures));
  }
}

/**
 * The answer to a question about an update in place, which is repeated while it fails; undefined if there is no
 * handler.
 */
function* asked(
  reconcile: Reconcile,
  hook: 'CanUpdateMachine' | 'CanUpdateMachineSet',
  request: JsonObject,
): Simulation<JsonObject | undefined> {
  for (let failures = 1; ; failures++) {
    const answer = yield* callAcrossRestarts(reconcile, hook, request);
    if (answer.ok) {
      return answer.calls.length === 0 ? undefined : answer.response;
    }
    if (failures >= reconcile.limits.maxFailures) {
      throw new SimulationStopped(`${hook} failed ${failures} times in a row: ${answer.error}`);
    }
    yield* passUntil(reconcile.state, reconcile.state.now + backoffMs(failures));
  }
}

function* updateControlPlane(reconcile: Reconcile, from: string, to: string): Simulation {
  const { state } = reconcile;
  const { replicas } = objectAt(state.cluster.spec, 'topology', 'controlPlane');
  const count = Math.min(typeof replicas === 'number' ? replicas : 1, maxMachines);
  for (let index = 0; index < count; index++) {
    const name = state.names.generated(state.controlPlane.name, `machine ${index}`);
    const labels = { 'cluster.x-k8s.io/control-plane': '' };
    const [current, desired] = [objectsOf(state, name, from, labels), objectsOf(state, name, to, labels)];
    const answer = yield* asked(
      reconcile,
      'CanUpdateMachine',
      copyOf({ current: { ...current }, desired: { ...desired } }),
    );
    const isCovered =
      answer !== undefined &&
      (['machine', 'infrastructureMachine', 'bootstrapConfig'] as const).every((part) =>
        covers(patchedBy(answer, `${part}Patch`, current[part]), desired[part], ['spec']),
      );
    if (isCovered) {
      yield* updateMachine(reconcile, desired);
    }
  }
}

function* updateWorkers(reconcile: Reconcile, worker: WorkerGroup, from: string, to: string): Simulation {
  const { state } = reconcile;
  const objects = (version: string): JsonObject => {
    const name = state.names.generated(worker.name, version);
    const { machine, infrastructureMachine, bootstrapConfig } = objectsOf(state, name, version, {});
    const template = (object: JsonObject) => ({
      ...object,
      kind: `${textAt(object, 'kind')}Template`,
      spec: { template: { spec: object.spec ?? {} } },
    });
    return {
      machineSet: {
        apiVersion: 'cluster.x-k8s.io/v1beta2',
        kind: 'MachineSet',
        metadata: machine.metadata ?? {},
        spec: {
          clusterName: textAt(state.cluster, 'metadata', 'name'),
          replicas: replicasOf(state, worker),
          selector: { matchLabels: { 'cluster.x-k8s.io/deployment-name': worker.name } },
          template: { metadata: {}, spec: machine.spec ?? {} },
        },
      },
      infrastructureMachineTemplate: template(infrastructureMachine),
      bootstrapConfigTemplate: template(bootstrapConfig),
    };
  };
  const [current, desired] = [objects(from), objects(to)];
  const answer = yield* asked(reconcile, 'CanUpdateMachineSet', copyOf({ current, desired }));
  const isCovered =
    answer !== undefined &&
    ['machineSet', 'infrastructureMachineTemplate', 'bootstrapConfigTemplate'].every((part) =>
      covers(patchedBy(answer, `${part}Patch`, objectAt(current, part)), objectAt(desired, part), [
        'spec',
        'template',
        'spec',
      ]),
    );
  if (!isCovered) {
    return;
  }
  for (let index = 0; index < Math.min(replicasOf(state, worker), maxMachines); index++) {
    const name = state.names.generated(worker.name, `machine ${index}`);
    yield* updateMachine(reconcile, objectsOf(state, name, to, {}));
  }
}

/**
 * What the controllers of machines do during an upgrade if the feature gate InPlaceUpdates is enabled: they ask whether
 * machines can be updated in place, and update them if all differences are covered; otherwise they replace them.
 */
export function* updateInPlace(reconcile: Reconcile): Simulation {
  const { state } = reconcile;
  const { controlPlane, previous: versions } = state;
  try {
    const from = versions.get(controlPlane.name);
    if (from !== undefined && controlPlane.readyAt !== undefined && controlPlane.version !== undefined) {
      versions.delete(controlPlane.name);
      yield* updateControlPlane(reconcile, from, controlPlane.version);
    }
    for (const worker of state.workers) {
      const before = versions.get(worker.name);
      if (before !== undefined && worker.version !== undefined && worker.kind === 'MachineDeployment') {
        versions.delete(worker.name);
        yield* updateWorkers(reconcile, worker, before, worker.version);
      }
    }
  } catch (error) {
    if (error instanceof BadPatch) {
      throw new SimulationStopped(`a patch of an in-place update cannot be applied: ${error.message}`);
    }
    throw error;
  }
}

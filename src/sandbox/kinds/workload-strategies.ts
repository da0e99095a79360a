import { fieldAt, isJsonObject, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { KindStrategy } from '../resources/resource.ts';

/** Defaults the number of replicas to one. */
export const replicas: KindStrategy = {
  hasScale: true,
  prepare(object) {
    if (isJsonObject(object.spec)) {
      object.spec.replicas ??= 1;
    }
  },
};

/** The annotation of a Deployment that runs outside of the API server and whose status is written there. */
const runsInSandbox = 'extensionconfig-webhook/runs-in-sandbox';

/**
 * The status of a Deployment whose progress deadline has passed: without `observedGeneration` and this condition,
 * `kubectl rollout status` would wait forever.
 */
export const deploymentStrategy: KindStrategy = {
  ...replicas,
  observe(object, now) {
    if (fieldAt(object, 'metadata', 'annotations', runsInSandbox) !== undefined) {
      return;
    }
    const message = 'nothing runs in the sandbox';
    const times = { lastUpdateTime: now, lastTransitionTime: now };
    object.status = {
      ...objectAt(object, 'status'),
      observedGeneration: fieldAt(object, 'metadata', 'generation') ?? 1,
      conditions: [
        { type: 'Available', status: 'False', reason: 'MinimumReplicasUnavailable', message, ...times },
        { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded', message, ...times },
      ],
    };
  },
};

/** The first status that the controllers of other workloads write; `counts` are the required fields of that status. */
export function observing(counts: JsonObject): Pick<KindStrategy, 'observe'> {
  return {
    observe(object) {
      object.status = {
        ...counts,
        ...objectAt(object, 'status'),
        observedGeneration: fieldAt(object, 'metadata', 'generation') ?? 1,
      };
    },
  };
}

/** Without nodes a DaemonSet has no pods to start. */
export const daemonSetCounts = {
  currentNumberScheduled: 0,
  desiredNumberScheduled: 0,
  numberMisscheduled: 0,
  numberReady: 0,
};

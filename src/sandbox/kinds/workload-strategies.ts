import {
  fieldAt,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  type StatusCause,
  selectsLabels,
} from '../../kubernetes/index.ts';
import { causeOf, forbiddenField, invalid, notSupported, required } from '../../kubernetes/schema/index.ts';
import { badRequest } from '../resources/errors.ts';
import type { KindStrategy } from '../resources/resource.ts';
import { conditionsOf, withCondition } from './conditions.ts';
import { scheduleProblem } from './cron-schedule.ts';
import { duplicateCauses, immutableCauses, keyCauses, selectorCauses } from './field-causes.ts';

/** The annotation of a Deployment that runs outside of the API server and whose status is written there. */
const runsInSandbox = 'extensionconfig-webhook/runs-in-sandbox';

const quantityForm = '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$';
const factors: Record<string, number> = { n: 1e-9, u: 1e-6, m: 1e-3, '': 1 };
for (const [power, prefix] of [...'kMGTPE'].entries()) {
  factors[prefix] = 1000 ** (power + 1);
  factors[`${prefix.toUpperCase()}i`] = 1024 ** (power + 1);
}

/** The value of a quantity (apimachinery, resource.ParseQuantity); why it has none. */
function amountOf(quantity: Json): number | string {
  const text = String(quantity);
  // In two steps: digits fit both groups, so that one expression would take quadratic time.
  const [number = ''] = /^[+-]?[0-9.]+/.exec(text) ?? [];
  const suffix = text.slice(number.length);
  if (number === '' || !/^[eEinumkKMGTP]*[-+]?[0-9]*$/.test(suffix)) {
    return `quantities must match the regular expression '${quantityForm}'`;
  }
  const value =
    Number(number) * (/^[eE][-+]?\d+$/.test(suffix) ? Number(`1${suffix}`) : (factors[suffix] ?? Number.NaN));
  return Number.isNaN(value) ? "unable to parse quantity's suffix" : value;
}

/** The problems of the resources of a container (kubernetes, ValidateResourceRequirements). */
function resourceCauses({ resources }: JsonObject, field: string): StatusCause[] {
  const limits = objectAt(resources, 'limits');
  return ['limits', 'requests'].flatMap((list) =>
    Object.entries(objectAt(resources, list)).flatMap(([name, quantity]) => {
      const at = `${field}.resources.${list}`;
      const limit = limits[name];
      if (Number(amountOf(quantity)) < 0) {
        return [invalid(`${at}[${name}]`, quantity, 'must be greater than or equal to 0')];
      }
      return limit !== undefined && Number(amountOf(quantity)) > Number(amountOf(limit))
        ? [invalid(at, quantity, `must be less than or equal to ${name} limit of ${String(limit)}`)]
        : [];
    }),
  );
}

const handlers = ['exec', 'httpGet', 'tcpSocket', 'grpc'];

/** The problems of a container that depend on several fields (kubernetes, core validation of containers). */
function* containerCauses(
  container: JsonObject,
  volumes: ReadonlySet<Json | undefined>,
  field: string,
): Generator<StatusCause> {
  yield* resourceCauses(container, field);
  for (const [index, { name }] of objectsAt(container, 'volumeMounts').entries()) {
    if (name !== undefined && !volumes.has(name)) {
      yield causeOf('FieldValueNotFound', `${field}.volumeMounts[${index}].name`, name, '');
    }
  }
  for (const probe of ['livenessProbe', 'readinessProbe', 'startupProbe']) {
    const count = handlers.filter((handler) => fieldAt(container, probe, handler) !== undefined).length;
    if (container[probe] !== undefined && count === 0) {
      yield required(`${field}.${probe}`, 'must specify a handler type');
    } else if (count > 1) {
      yield forbiddenField(`${field}.${probe}`, 'may not specify more than 1 handler type');
    }
  }
}

/** The problems of a pod template that depend on several fields (kubernetes, core validation of PodTemplateSpec). */
function* templateCauses(
  template: JsonObject,
  restartPolicies: readonly string[],
  field: string,
): Generator<StatusCause> {
  const spec = objectAt(template, 'spec');
  yield* keyCauses(objectAt(template, 'metadata'), `${field}.metadata`);
  if (template.spec === undefined) {
    yield required(`${field}.spec.containers`);
    return;
  }
  if (!restartPolicies.includes(String(spec.restartPolicy))) {
    yield notSupported(`${field}.spec.restartPolicy`, spec.restartPolicy, restartPolicies);
  }
  for (const [index, { name: _, ...sources }] of objectsAt(spec, 'volumes').entries()) {
    const at = `${field}.spec.volumes[${index}]`;
    if (Object.keys(sources).length > 1) {
      yield forbiddenField(at, 'may not specify more than 1 volume type');
    }
  }
  yield* duplicateCauses(objectsAt(spec, 'containers'), 'name', `${field}.spec.containers`);
  yield* duplicateCauses(objectsAt(spec, 'volumes'), 'name', `${field}.spec.volumes`);
  const volumes = new Set(objectsAt(spec, 'volumes').map(({ name }) => name));
  for (const list of ['initContainers', 'containers']) {
    for (const [index, container] of objectsAt(spec, list).entries()) {
      yield* containerCauses(container, volumes, `${field}.spec.${list}[${index}]`);
    }
  }
}

/** The problems of a selector and a template, which must have the labels that it selects. */
function* selectorAndTemplateCauses(object: JsonObject, restartPolicies: readonly string[]): Generator<StatusCause> {
  const { selector, template } = objectAt(object, 'spec');
  if (!isJsonObject(selector) || !isJsonObject(template)) {
    return;
  }
  const causes = [
    ...selectorCauses(selector, 'spec.selector'),
    ...templateCauses(template, restartPolicies, 'spec.template'),
  ];
  yield* causes;
  const labels = objectAt(template, 'metadata', 'labels');
  if (Object.keys(selector).length === 0) {
    yield invalid('spec.selector', selector, `empty selector is invalid for ${String(object.kind).toLowerCase()}`);
  } else if (causes.length === 0 && !selectsLabels(selector, labels as Record<string, string>)) {
    yield invalid('spec.template.metadata.labels', labels, '`selector` does not match template `labels`');
  }
}

/**
 * Completes containers: the pull policy depends on the tag of the image (kubernetes, SetDefaults_Container).
 *
 * @throws {RequestError} 400 for what is not a quantity.
 */
function completeContainers(template: JsonObject, { kind }: JsonObject): void {
  for (const list of ['initContainers', 'containers']) {
    for (const container of objectsAt(template, 'spec', list)) {
      for (const quantities of [
        objectAt(container, 'resources', 'limits'),
        objectAt(container, 'resources', 'requests'),
      ]) {
        for (const [name, quantity] of Object.entries(quantities)) {
          const value = amountOf(quantity);
          if (typeof value === 'string') {
            throw badRequest(`${String(kind)} in version "v1" cannot be handled as a ${String(kind)}: ${value}`);
          }
          quantities[name] = String(quantity);
        }
      }
      const name =
        String(container.image ?? '')
          .split('/')
          .at(-1) ?? '';
      container.imagePullPolicy ??= /:latest$|^[^:@]*$/.test(name) ? 'Always' : 'IfNotPresent';
    }
  }
}

const workload: KindStrategy = {
  prepare: (object) => completeContainers(objectAt(object, 'spec', 'template'), object),
  validate: (object, old) => [
    ...selectorAndTemplateCauses(object, ['Always']),
    ...immutableCauses(object, old, ['spec.selector']),
  ],
};

/** The first status that the controllers of other workloads write; `counts` are the required fields of that status. */
function observing(counts: JsonObject): Pick<KindStrategy, 'observe'> {
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

export const scaledStrategy: KindStrategy = { ...workload, ...observing({ replicas: 0 }) };

/** Without nodes a DaemonSet has no pods to start. */
export const daemonSetStrategy: KindStrategy = {
  ...workload,
  ...observing({ currentNumberScheduled: 0, desiredNumberScheduled: 0, numberMisscheduled: 0, numberReady: 0 }),
};

function* deploymentCauses(object: JsonObject): Generator<StatusCause> {
  const { strategy, minReadySeconds = 0, progressDeadlineSeconds } = objectAt(object, 'spec');
  const rolling = fieldAt(strategy, 'rollingUpdate');
  if (fieldAt(strategy, 'type') === 'Recreate' && rolling !== undefined) {
    const why = "may not be specified when strategy `type` is 'Recreate'";
    yield forbiddenField('spec.strategy.rollingUpdate', why);
  }
  const isNone = (value: Json | undefined) => value === 0 || value === '0%';
  if (isNone(fieldAt(rolling, 'maxSurge')) && isNone(fieldAt(rolling, 'maxUnavailable'))) {
    const field = 'spec.strategy.rollingUpdate.maxUnavailable';
    yield invalid(field, fieldAt(rolling, 'maxUnavailable'), 'may not be 0 when `maxSurge` is 0');
  }
  if (Number(progressDeadlineSeconds) <= Number(minReadySeconds)) {
    const why = 'must be greater than minReadySeconds';
    yield invalid('spec.progressDeadlineSeconds', progressDeadlineSeconds, why);
  }
}

export const deploymentStrategy: KindStrategy = {
  prepare(object, old) {
    workload.prepare?.(object, old);
    if (isJsonObject(object.spec)) {
      const strategy = objectAt(object.spec, 'strategy');
      const type = strategy.type ?? 'RollingUpdate';
      const rollingUpdate = { maxSurge: '25%', maxUnavailable: '25%', ...objectAt(strategy, 'rollingUpdate') };
      object.spec.strategy = type === 'RollingUpdate' ? { ...strategy, type, rollingUpdate } : { ...strategy, type };
    }
  },
  validate: (object, old) => [...(workload.validate?.(object, old) ?? []), ...deploymentCauses(object)],
  /**
   * The status of a Deployment whose progress deadline has passed: without `observedGeneration` and this condition,
   * `kubectl rollout status` would wait forever.
   */
  observe(object, now) {
    if (fieldAt(object, 'metadata', 'annotations', runsInSandbox) !== undefined) {
      return;
    }
    const reasons = { Available: 'MinimumReplicasUnavailable', Progressing: 'ProgressDeadlineExceeded' };
    object.status = {
      ...objectAt(object, 'status'),
      observedGeneration: fieldAt(object, 'metadata', 'generation') ?? 1,
      conditions: Object.entries(reasons).reduce(
        (conditions, [type, reason]) =>
          withCondition(
            conditions,
            { type, status: 'False', reason, message: 'nothing runs in the sandbox', lastUpdateTime: now },
            now,
          ),
        conditionsOf(object),
      ),
    };
  },
};

const jobRestartPolicies = ['OnFailure', 'Never'];

/** The fields of a Job that an update may not change (kubernetes, ValidateJobSpecUpdate). */
const immutableInJobs = [
  'selector',
  'template',
  'completions',
  'completionMode',
  'podFailurePolicy',
  'backoffLimitPerIndex',
  'managedBy',
  'successPolicy',
];

export const jobStrategy: KindStrategy = {
  prepare(object, old) {
    const { spec } = object;
    if (!isJsonObject(spec) || !isJsonObject(spec.template)) {
      return;
    }
    completeContainers(spec.template, object);
    if (spec.completions === undefined && spec.parallelism === undefined) {
      spec.completions = 1;
    }
    const defaults = { parallelism: 1, backoffLimit: 6, completionMode: 'NonIndexed', suspend: false };
    object.spec = { ...defaults, podReplacementPolicy: 'TerminatingOrFailed', ...spec };
    // The API server selects the pods of a Job by labels that it adds to them (kubernetes, strategy of Jobs).
    if (old === undefined && spec.manualSelector !== true) {
      const { uid = '', name = '' } = object.metadata as JsonObject;
      const own = { 'batch.kubernetes.io/controller-uid': uid };
      const labels = { ...own, 'batch.kubernetes.io/job-name': name, 'controller-uid': uid, 'job-name': name };
      const metadata = objectAt(spec.template, 'metadata');
      Object.assign(object.spec, {
        selector: { matchLabels: own },
        template: {
          ...spec.template,
          metadata: { ...metadata, labels: { ...objectAt(metadata, 'labels'), ...labels } },
        },
      });
    }
  },
  validate: (object, old) => [
    ...selectorAndTemplateCauses(object, jobRestartPolicies),
    ...immutableCauses(
      object,
      old,
      immutableInJobs.map((field) => `spec.${field}`),
    ),
  ],
};

/** Maximum length of the name of a CronJob: its Jobs get eleven characters more. */
const maxCronJobName = 52;

export const cronJobStrategy: KindStrategy = {
  prepare: (object) => completeContainers(objectAt(object, 'spec', 'jobTemplate', 'spec', 'template'), object),
  *validate(object) {
    const { name } = object.metadata as JsonObject;
    if (typeof name === 'string' && name.length > maxCronJobName) {
      yield invalid('metadata.name', name, `must be no more than ${maxCronJobName} characters`);
    }
    const { schedule } = objectAt(object, 'spec');
    const problem = typeof schedule === 'string' ? scheduleProblem(schedule) : undefined;
    if (problem !== undefined) {
      yield invalid('spec.schedule', schedule, problem);
    }
    const job = objectAt(object, 'spec', 'jobTemplate', 'spec');
    if (job.selector !== undefined) {
      yield invalid('spec.jobTemplate.spec.selector', job.selector, '`selector` will be auto-generated');
    }
    if (isJsonObject(job.template)) {
      yield* templateCauses(job.template, jobRestartPolicies, 'spec.jobTemplate.spec.template');
    }
  },
};

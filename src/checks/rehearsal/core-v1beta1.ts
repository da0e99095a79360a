import {
  copyOf,
  isJsonObject,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';

/** A Cluster or ClusterClass in v1beta2, and the paths of fields that v1beta2 does not have. */
interface Converted {
  object: JsonObject;
  dropped: readonly string[];
}

const coreGroup = 'cluster.x-k8s.io';

const unitSeconds: Readonly<Record<string, number>> = { h: 3600, m: 60, s: 1, ms: 1e-3, us: 1e-6, µs: 1e-6, ns: 1e-9 };

/** The seconds of a duration such as `1h5m0s`, rounded; undefined for other texts. */
function secondsOf(duration: Json | undefined): number | undefined {
  if (
    typeof duration !== 'string' ||
    duration.length > 100 ||
    !/^(?:0|(?:\d{1,15}(?:\.\d{1,15})?(?:ms|us|µs|ns|h|m|s))+)$/.test(duration)
  ) {
    return undefined;
  }
  let seconds = 0;
  for (const [, number, unit = 's'] of duration.matchAll(/(\d{1,15}(?:\.\d{1,15})?)([a-zµ]{1,2})/g)) {
    seconds += Number(number) * (unitSeconds[unit] ?? 0);
  }
  return Math.round(seconds);
}

/** A duration as Go prints it: `1h5m0s`. */
function durationOf(seconds: number): string {
  const [hours, minutes] = [Math.floor(seconds / 3600), Math.floor((seconds % 3600) / 60)];
  return `${hours > 0 ? `${hours}h` : ''}${hours > 0 || minutes > 0 ? `${minutes}m` : ''}${seconds % 60}s`;
}

const timeouts = ['nodeDrainTimeout', 'nodeVolumeDetachTimeout', 'nodeDeletionTimeout'] as const;

/** An object without empty parts, which Go omits. */
function filled(parts: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(parts).filter(
      ([, value]) => value !== undefined && !(isJsonObject(value) && Object.keys(value).length === 0),
    ),
  );
}

/** The fields of an object that are there. */
const present = (fields: Record<string, Json | undefined>): JsonObject =>
  filled(Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as JsonObject);

const conditionsInSeconds = (list: Json | undefined): Json | undefined =>
  list === undefined
    ? undefined
    : objectsAt(list).map(({ type, status, timeout }) => present({ type, status, timeoutSeconds: secondsOf(timeout) }));

/** `machineHealthCheck` as `healthCheck`. */
function healthCheckOf(check: JsonObject): JsonObject {
  const { apiVersion, kind, name } = objectAt(check, 'remediationTemplate');
  return present({
    enabled: check.enable,
    checks: present({
      unhealthyNodeConditions: conditionsInSeconds(check.unhealthyConditions),
      unhealthyMachineConditions: conditionsInSeconds(check.unhealthyMachineConditions),
      nodeStartupTimeoutSeconds: secondsOf(check.nodeStartupTimeout),
    }),
    remediation: present({
      triggerIf: present({
        unhealthyLessThanOrEqualTo: check.maxUnhealthy,
        unhealthyInRange: check.unhealthyRange,
      }),
      templateRef: present({ apiVersion, kind, name }),
    }),
  });
}

/** A control plane or a group of workers, in a topology or a class. */
function partOf(part: JsonObject): JsonObject {
  const { machineHealthCheck, strategy, namingStrategy, ...rest } = part;
  for (const field of timeouts) {
    delete rest[field];
  }
  const { rollingUpdate } = objectAt(strategy);
  const { deletePolicy, ...surge } = objectAt(rollingUpdate);
  const maxInFlight = objectAt(strategy, 'remediation').maxInFlight;
  const healthCheck = isJsonObject(machineHealthCheck) ? healthCheckOf(machineHealthCheck) : {};
  const inFlight = maxInFlight === undefined ? {} : { maxInFlight };
  return present({
    ...rest,
    rollout: {
      ...objectAt(rest.rollout),
      ...present({ strategy: present({ type: objectAt(strategy).type, rollingUpdate: surge }) }),
    },
    deletion: present({
      order: deletePolicy,
      ...Object.fromEntries(timeouts.map((field) => [`${field}Seconds`, secondsOf(part[field])])),
    }),
    healthCheck: present({
      ...healthCheck,
      remediation: present({ ...objectAt(healthCheck.remediation), ...inFlight }),
    }),
    naming: present({ template: objectAt(namingStrategy).template }),
  });
}

const withoutDefinitionFrom = (variables: readonly JsonObject[], path: string, dropped: string[]): JsonObject[] =>
  variables.map(({ definitionFrom, ...variable }, index) => {
    if (definitionFrom !== undefined) {
      dropped.push(`${path}[${index}].definitionFrom`);
    }
    return variable;
  });

/** A part of a topology, with its overrides of variables. */
function topologyPart(part: JsonObject, path: string, dropped: string[]): JsonObject {
  const converted = partOf(part);
  const overrides = objectsAt(part, 'variables', 'overrides');
  return overrides.length === 0
    ? converted
    : {
        ...converted,
        variables: { overrides: withoutDefinitionFrom(overrides, `${path}.variables.overrides`, dropped) },
      };
}

/** A reference to an object of the same namespace. */
function referenceOf(reference: JsonObject): JsonObject {
  const { kind, name } = reference;
  return present({ apiGroup: textAt(reference, 'apiVersion').split('/')[0], kind, name });
}

function clusterOf({ spec, ...object }: JsonObject, dropped: string[]): JsonObject {
  const { topology, controlPlaneRef, infrastructureRef, ...rest } = objectAt(spec);
  const references = present({
    controlPlaneRef: isJsonObject(controlPlaneRef) ? referenceOf(controlPlaneRef) : undefined,
    infrastructureRef: isJsonObject(infrastructureRef) ? referenceOf(infrastructureRef) : undefined,
  });
  if (!isJsonObject(topology)) {
    return { ...object, spec: { ...rest, ...references } };
  }
  const path = 'spec.topology';
  const { class: className, classNamespace, rolloutAfter, controlPlane, workers, variables, ...others } = topology;
  if (rolloutAfter !== undefined) {
    dropped.push(`${path}.rolloutAfter`);
  }
  const groups = (list: string) =>
    objectAt(workers)[list] === undefined
      ? undefined
      : objectsAt(workers, list).map((group, index) =>
          topologyPart(group, `${path}.workers.${list}[${index}]`, dropped),
        );
  return {
    ...object,
    spec: {
      ...rest,
      ...references,
      topology: {
        classRef: present({ name: className, namespace: classNamespace }),
        ...others,
        ...present({
          controlPlane: isJsonObject(controlPlane)
            ? topologyPart(controlPlane, `${path}.controlPlane`, dropped)
            : undefined,
          workers: present({
            machineDeployments: groups('machineDeployments'),
            machinePools: groups('machinePools'),
          }),
          variables:
            variables === undefined
              ? undefined
              : withoutDefinitionFrom(objectsAt(variables), `${path}.variables`, dropped),
        }),
      },
    },
  };
}

/** `ref` of a template as `templateRef`. */
function templated(part: JsonObject): JsonObject {
  const { ref, ...rest } = part;
  const { apiVersion, kind, name } = objectAt(ref);
  return present({ ...rest, templateRef: ref === undefined ? undefined : present({ apiVersion, kind, name }) });
}

function classPart(part: JsonObject): JsonObject {
  const { template, machineInfrastructure, ...rest } = part;
  return present({
    ...partOf(templated(rest)),
    machineInfrastructure: isJsonObject(machineInfrastructure) ? templated(machineInfrastructure) : undefined,
    ...(isJsonObject(template) && {
      metadata: template.metadata,
      bootstrap: templated(objectAt(template, 'bootstrap')),
      infrastructure: templated(objectAt(template, 'infrastructure')),
    }),
  });
}

function classOf({ spec, ...object }: JsonObject): JsonObject {
  const { infrastructure, infrastructureNamingStrategy, controlPlane, workers, patches, ...rest } = objectAt(spec);
  const classes = (list: string) =>
    objectAt(workers)[list] === undefined ? undefined : objectsAt(workers, list).map(classPart);
  return {
    ...object,
    spec: present({
      ...rest,
      infrastructure: present({
        ...templated(objectAt(infrastructure)),
        naming: present({ template: objectAt(infrastructureNamingStrategy).template }),
      }),
      controlPlane: classPart(objectAt(controlPlane)),
      workers: present({ machineDeployments: classes('machineDeployments'), machinePools: classes('machinePools') }),
      patches:
        patches === undefined
          ? undefined
          : objectsAt(patches).map((patch) => {
              if (!isJsonObject(patch.external)) {
                return patch;
              }
              const { generateExtension, validateExtension, ...external } = patch.external;
              return {
                ...patch,
                external: present({
                  ...external,
                  generatePatchesExtension: generateExtension,
                  validateTopologyExtension: validateExtension,
                }),
              };
            }),
    }),
  };
}

/**
 * A Cluster or ClusterClass of v1beta1 in v1beta2, as Cluster API's conversion makes it (api/core/v1beta1/conversion.go,
 * v1.14); other objects as they are. References to templates lose their namespace, which is that of the class.
 */
export function inV1beta2(object: JsonObject): Converted {
  const { apiVersion, kind } = object;
  if (apiVersion !== `${coreGroup}/v1beta1` || (kind !== 'Cluster' && kind !== 'ClusterClass')) {
    return { object, dropped: [] };
  }
  const dropped: string[] = [];
  const copy = { ...copyOf(object), apiVersion: `${coreGroup}/v1beta2` };
  return { object: kind === 'Cluster' ? clusterOf(copy, dropped) : classOf(copy), dropped };
}

const conditionsInDurations = (list: Json | undefined): Json | undefined =>
  list === undefined
    ? undefined
    : objectsAt(list).map(({ type, status, timeoutSeconds }) =>
        present({ type, status, timeout: durationOf(Number(timeoutSeconds ?? 0)) }),
      );

/** A part of a topology in v1beta1. */
function olderPart(part: JsonObject): JsonObject {
  const { healthCheck, deletion, rollout, ...rest } = part;
  const { checks, remediation, enabled } = objectAt(healthCheck);
  const { nodeStartupTimeoutSeconds: startup } = objectAt(checks);
  const { strategy, ...otherRollout } = objectAt(rollout);
  const { maxInFlight } = objectAt(remediation);
  return present({
    ...rest,
    rollout: otherRollout,
    strategy: present({
      type: objectAt(strategy).type,
      rollingUpdate: present({
        ...objectAt(strategy, 'rollingUpdate'),
        deletePolicy: objectAt(deletion).order,
      }),
      remediation: present({ maxInFlight }),
    }),
    ...Object.fromEntries(
      timeouts.flatMap((field) => {
        const seconds = objectAt(deletion)[`${field}Seconds`];
        return typeof seconds === 'number' ? [[field, durationOf(seconds)]] : [];
      }),
    ),
    machineHealthCheck: present({
      enable: enabled,
      unhealthyConditions: conditionsInDurations(objectAt(checks).unhealthyNodeConditions),
      unhealthyMachineConditions: conditionsInDurations(objectAt(checks).unhealthyMachineConditions),
      nodeStartupTimeout: typeof startup === 'number' ? durationOf(startup) : undefined,
      maxUnhealthy: objectAt(remediation, 'triggerIf').unhealthyLessThanOrEqualTo,
      unhealthyRange: objectAt(remediation, 'triggerIf').unhealthyInRange,
      remediationTemplate: objectAt(remediation, 'templateRef'),
    }),
  });
}

/**
 * A Cluster in v1beta1, as hooks got it before Cluster API 1.13. The apiVersions of its references are those of the
 * providers' kinds.
 */
export function clusterInV1beta1(cluster: JsonObject, versionOf: (reference: JsonObject) => string): JsonObject {
  const spec = objectAt(cluster, 'spec');
  const { classRef, controlPlane, workers, ...topology } = objectAt(spec, 'topology');
  const namespace = textAt(cluster, 'metadata', 'namespace');
  const reference = (field: string): JsonObject => {
    const value = spec[field];
    return isJsonObject(value)
      ? {
          [field]: {
            apiVersion: versionOf(value),
            kind: value.kind ?? '',
            name: value.name ?? '',
            namespace,
          },
        }
      : {};
  };
  const groups = (list: string) =>
    objectAt(workers)[list] === undefined ? undefined : objectsAt(workers, list).map(olderPart);
  return {
    ...cluster,
    apiVersion: `${coreGroup}/v1beta1`,
    spec: {
      ...spec,
      ...reference('controlPlaneRef'),
      ...reference('infrastructureRef'),
      topology: {
        class: objectAt(classRef).name ?? '',
        ...present({ classNamespace: objectAt(classRef).namespace }),
        ...topology,
        ...present({
          controlPlane: isJsonObject(controlPlane) ? olderPart(controlPlane) : undefined,
          workers: present({ machineDeployments: groups('machineDeployments'), machinePools: groups('machinePools') }),
        }),
      },
    },
  };
}

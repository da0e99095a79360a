import { invalidNames, keyCauses } from '../../kubernetes/custom-resources/index.ts';
import {
  dns1123SubdomainProblems,
  fieldAt,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  qualifiedNameProblems,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { forbiddenField, found, invalid } from '../../kubernetes/schema/index.ts';
import { formatVersion, parseTolerantly } from '../../runtimehooks/index.ts';
import { renderName, TemplateError } from '../templates/index.ts';
import { shortened } from '../world/names.ts';
import { NotKnown } from '../world/not-known.ts';
import type { partsIn } from '../world/topologies.ts';

/** The problems of an integer in a text, in the words of Go's strconv.Atoi; undefined if it is one. */
export function integerProblem(text: string): string | undefined {
  return /^[+-]?\d{1,18}$/.test(text) ? undefined : `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** The problems of a count that may be a percentage, in the words of apimachinery's intstr. */
function* scaledCauses(value: Json | undefined, field: string): Generator<StatusCause> {
  if (typeof value !== 'string') {
    return;
  }
  const problem = integerProblem(value.slice(0, -1));
  const why = value.endsWith('%')
    ? problem && `invalid value ${JSON.stringify(value)}: ${problem}`
    : 'invalid type: string is not a percentage';
  if (why !== undefined) {
    yield invalid(field, value, `must be either an int or a percentage: invalid value for IntOrString: ${why}`);
  }
}

/** The problems of the labels and annotations that something gets: `holder.metadata`. */
export const metadataCausesOf = (holder: Json | undefined, path: string): Generator<StatusCause> =>
  keyCauses(objectAt(holder, 'metadata'), `${path}.metadata`);

/** The problems of a rollout's strategy: `holder.rollout` (validateRolloutStrategy). */
export function* rolloutCauses(holder: Json | undefined, path: string): Generator<StatusCause> {
  const { maxUnavailable, maxSurge } = objectAt(holder, 'rollout', 'strategy', 'rollingUpdate');
  const at = `${path}.rollout.strategy.rollingUpdate`;
  yield* scaledCauses(maxUnavailable, `${at}.maxUnavailable`);
  yield* scaledCauses(maxSurge, `${at}.maxSurge`);
  const areZero = maxUnavailable === 0 && maxSurge === 0;
  yield* found(areZero && invalid(at, '0', 'maxUnavailable and maxSurge cannot both be 0'));
}

/** Whether a health check says what it checks or when it remediates, and not only whether it is enabled. */
export const isDefinedCheck = (check: JsonObject): boolean =>
  ['checks', 'remediation'].some((part) => Object.keys(objectAt(check, part)).length > 0);

/** Whether a part of a topology wants the health check of its class. */
export const usesClassCheck = (part: JsonObject): boolean =>
  fieldAt(part, 'healthCheck', 'enabled') === true && !isDefinedCheck(objectAt(part, 'healthCheck'));

/** The problems of a health check at `path`. */
export function* healthCheckCauses(check: JsonObject, path: string): Generator<StatusCause> {
  const startup = fieldAt(check, 'checks', 'nodeStartupTimeoutSeconds');
  const isShort = typeof startup === 'number' && startup !== 0 && startup < 30;
  yield* found(isShort && invalid(`${path}.checks.nodeStartupTimeoutSeconds`, startup, 'must be at least 30s'));
  yield* scaledCauses(
    fieldAt(check, 'remediation', 'triggerIf', 'unhealthyLessThanOrEqualTo'),
    `${path}.remediation.triggerIf.unhealthyLessThanOrEqualTo`,
  );
}

/** The problems of how many Machines may be remediated at a time: `holder.remediation.maxInFlight`. */
export const maxInFlightCauses = (holder: JsonObject, path: string): Generator<StatusCause> =>
  scaledCauses(fieldAt(holder, 'remediation', 'maxInFlight'), `${path}.remediation.maxInFlight`);

/**
 * The problems of the health check of a part of a topology or a class; without a template for Machines, a control plane can have
 * none. The webhook for Clusters says that first, that for classes last.
 */
export function* partCheckCauses(
  { kind, part, path }: ReturnType<typeof partsIn>[number],
  controlPlane: JsonObject,
  of: 'class' | 'topology',
): Generator<StatusCause> {
  const check = objectAt(part, 'healthCheck');
  const field = `${path}.healthCheck`;
  if (kind === 'MachinePool' || !isDefinedCheck(check)) {
    return;
  }
  const machines = objectAt(controlPlane, 'machineInfrastructure', 'templateRef');
  const isMisplaced = kind === 'ControlPlane' && Object.keys(machines).length === 0;
  const why = 'can be only set if spec.controlPlane.machineInfrastructure is set';
  yield* found(isMisplaced && of === 'topology' && forbiddenField(field, `${why} in ClusterClass`));
  yield* healthCheckCauses(check, field);
  if (kind === 'MachineDeployment') {
    yield* maxInFlightCauses(check, field);
  }
  yield* found(isMisplaced && of === 'class' && forbiddenField(field, why));
}

const reservedTaints: readonly [isReserved: (key: string) => boolean, why: string][] = [
  [
    (key) => ['node.cluster.x-k8s.io/uninitialized', 'node.cluster.x-k8s.io/outdated-revision'].includes(key),
    'taint key is not allowed',
  ],
  [
    (key) => key.startsWith('node.kubernetes.io/') && key !== 'node.kubernetes.io/out-of-service',
    'taint key must not have the prefix node.kubernetes.io/, except for node.kubernetes.io/out-of-service',
  ],
  [
    (key) => key.startsWith('node.cloudprovider.kubernetes.io/'),
    'taint key must not have the prefix node.cloudprovider.kubernetes.io/',
  ],
  [(key) => key === 'node-role.kubernetes.io/master', 'taint is deprecated since 1.24 and should not be used anymore'],
];

/** The problems of a list of taints at `path`. That they need a feature gate is not judged. */
export function* taintCauses(taints: Json | undefined, path: string): Generator<StatusCause> {
  for (const [index, taint] of objectsAt(taints).entries()) {
    const key = textAt(taint, 'key');
    const field = `${path}[${index}].key`;
    const [, why] = reservedTaints.find(([isReserved]) => isReserved(key)) ?? [];
    yield* found(why !== undefined && invalid(field, key, why));
    yield* invalidNames(field, key, qualifiedNameProblems(key));
  }
}

const random = 'bcdfg';

/**
 * The problems of a naming template, which may name `fields` besides the cluster's name and random characters; `unusable` and
 * `unfit` say that it is none, or makes no valid name.
 */
export function* namingCauses(
  template: string,
  field: string,
  fields: JsonObject,
  { unusable, unfit = '' }: { unusable: string; unfit?: string },
): Generator<StatusCause> {
  if (template === '') {
    return;
  }
  try {
    const name = renderName(template, { ...fields, cluster: { name: 'cluster' }, random });
    yield* invalidNames(field, template, dns1123SubdomainProblems(shortened(name, random)), unfit);
  } catch (error) {
    if (error instanceof TemplateError) {
      yield invalid(field, template, `${unusable}: ${error.message}`);
    } else if (!(error instanceof NotKnown)) {
      throw error;
    }
  }
}

/** The problem of a version, in the words of a webhook; none for `v` and a semantic version. */
export const versionCauses = (version: string, field: string, invalidWords: string): StatusCause[] =>
  found(
    !version.startsWith('v') && invalid(field, version, 'must start with v'),
    !isSemanticVersion(version) && invalid(field, version, invalidWords),
  );

/** Whether a text is a semantic version, with `v` or without (Parse of Go's blang/semver): no number has leading zeros. */
export function isSemanticVersion(text: string): boolean {
  const version = parseTolerantly(text);
  return version !== undefined && formatVersion(version) === `v${text.replace(/^v/, '')}`;
}

/** The cause if a field has another value that may not (internal/topology/check/compatibility.go, v1.14). */
export function unchangeable(
  field: string,
  what: string,
  from: Json | undefined,
  to: Json | undefined,
  of = 'Clusters',
): StatusCause[] {
  const change = `from ${JSON.stringify(from)} to ${JSON.stringify(to)}`;
  const why = `${what} cannot be changed ${change} to prevent incompatible changes in the ${of}`;
  return from === to ? [] : [forbiddenField(field, why)];
}

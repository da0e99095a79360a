import { keyCauses } from '../../kubernetes/custom-resources/index.ts';
import {
  dns1123SubdomainProblems,
  fieldAt,
  inWordsOfKubernetes,
  type Json,
  type JsonObject,
  objectAt,
  objectsAt,
  qualifiedNameProblems,
  type StatusCause,
  textAt,
} from '../../kubernetes/index.ts';
import { forbiddenField, invalid } from '../../kubernetes/schema/index.ts';
import { renderName, TemplateError } from '../templates/index.ts';
import { shortened } from '../world/names.ts';
import { NotKnown } from '../world/not-known.ts';

// Parts of Clusters and classes, and of what is made of them, which Cluster API's webhooks check everywhere alike.

/** The problems of an integer in a text, in the words of Go's strconv.Atoi; undefined if it is one. */
export function integerProblem(text: string): string | undefined {
  return /^[+-]?\d{1,18}$/.test(text) ? undefined : `strconv.Atoi: parsing ${JSON.stringify(text)}: invalid syntax`;
}

/** The problems of a count that may be a percentage, in the words of apimachinery's intstr. */
function* scaledCauses(value: Json | undefined, field: string): Generator<StatusCause> {
  if (typeof value !== 'string') {
    return;
  }
  const problem = value.endsWith('%') ? integerProblem(value.slice(0, -1)) : 'invalid type: string is not a percentage';
  if (problem !== undefined) {
    const why = value.endsWith('%') ? `invalid value ${JSON.stringify(value)}: ${problem}` : problem;
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
  if (maxUnavailable === 0 && maxSurge === 0) {
    yield invalid(at, '0', 'maxUnavailable and maxSurge cannot both be 0');
  }
}

/** Whether a health check says what it checks or when it remediates, and not only whether it is enabled. */
export const isDefinedCheck = (check: JsonObject): boolean =>
  ['checks', 'remediation'].some((part) => Object.keys(objectAt(check, part)).length > 0);

/** Seconds that a node must have at least to start; 0 is no limit. */
const minStartupSeconds = 30;

/** The problems of a health check. */
export function* healthCheckCauses(check: JsonObject, path: string): Generator<StatusCause> {
  const startup = fieldAt(check, 'checks', 'nodeStartupTimeoutSeconds');
  if (typeof startup === 'number' && startup !== 0 && startup < minStartupSeconds) {
    yield invalid(`${path}.checks.nodeStartupTimeoutSeconds`, startup, `must be at least ${minStartupSeconds}s`);
  }
  yield* scaledCauses(
    fieldAt(check, 'remediation', 'triggerIf', 'unhealthyLessThanOrEqualTo'),
    `${path}.remediation.triggerIf.unhealthyLessThanOrEqualTo`,
  );
}

/** The problems of how many Machines may be remediated at a time: `holder.remediation.maxInFlight`. */
export const maxInFlightCauses = (holder: JsonObject, path: string): Generator<StatusCause> =>
  scaledCauses(fieldAt(holder, 'remediation', 'maxInFlight'), `${path}.remediation.maxInFlight`);

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

/** The problems of a list of taints at `path`. That they need a feature gate is not judged: nobody knows the manager's here. */
export function* taintCauses(taints: Json | undefined, path: string): Generator<StatusCause> {
  for (const [index, taint] of objectsAt(taints).entries()) {
    const key = textAt(taint, 'key');
    const field = `${path}[${index}].key`;
    const [, why] = reservedTaints.find(([isReserved]) => isReserved(key)) ?? [];
    if (why !== undefined) {
      yield invalid(field, key, why);
    }
    yield* qualifiedNameProblems(key).map((problem) => invalid(field, key, inWordsOfKubernetes(problem)));
  }
}

/** Stands for the five random characters of a name. */
const random = 'bcdfg';

/**
 * The problems of a naming template.
 *
 * @param fields what it may name, besides the cluster's name and random characters.
 * @param texts what is said of a template that cannot be used, and of one that makes no valid name.
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
    for (const problem of dns1123SubdomainProblems(shortened(name, random))) {
      yield invalid(field, template, `${unfit}${inWordsOfKubernetes(problem)}`);
    }
  } catch (error) {
    if (error instanceof TemplateError) {
      yield invalid(field, template, `${unusable}: ${error.message}`);
    } else if (!(error instanceof NotKnown)) {
      throw error;
    }
  }
}

/** The problem of a version, in the words of a webhook; none for `v` and a semantic version. */
export function* versionCauses(version: string, field: string, invalidWords: string): Generator<StatusCause> {
  if (!version.startsWith('v')) {
    yield invalid(field, version, 'must start with v');
  }
  if (!isSemanticVersion(version)) {
    yield invalid(field, version, invalidWords);
  }
}

const number = /^(?:0|[1-9]\d{0,18})$/;
const isPart = (part: string) => /^[0-9A-Za-z-]+$/.test(part);

/** Whether a text is a semantic version, with `v` or without (Parse of Go's blang/semver): no number has leading zeros. */
export function isSemanticVersion(text: string): boolean {
  const [rest = '', ...builds] = text.replace(/^v/, '').split('+');
  const dash = rest.indexOf('-');
  const numbers = (dash === -1 ? rest : rest.slice(0, dash)).split('.');
  const pre = dash === -1 ? [] : rest.slice(dash + 1).split('.');
  return (
    numbers.length === 3 &&
    numbers.every((part) => number.test(part)) &&
    pre.every((part) => isPart(part) && !/^0\d+$/.test(part)) &&
    builds.length <= 1 &&
    builds.flatMap((build) => build.split('.')).every(isPart)
  );
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

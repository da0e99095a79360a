import type { V1APIServiceSpec } from '@kubernetes/client-node';
import {
  dns1035LabelProblems,
  dns1123SubdomainProblems,
  fieldAt,
  isJsonObject,
  type JsonObject,
  objectAt,
  type StatusCause,
} from '../../kubernetes/index.ts';
import { invalid, notSupported, required } from '../../kubernetes/schema/index.ts';
import { type Column, type KindStrategy, storageNameOf } from '../resources/resource.ts';
import { column } from './columns.ts';
import { conditionsOf } from './conditions.ts';

/** An APIService: the server of a group and version; without `service`, the API server itself. It must have been validated. */
export interface ApiService {
  metadata: { name: string; uid: string; labels?: Record<string, string> };
  spec: Pick<
    V1APIServiceSpec,
    'group' | 'caBundle' | 'insecureSkipTLSVerify' | 'groupPriorityMinimum' | 'versionPriority'
  > & { version: string; service?: { namespace: string; name: string; port: number } };
}

export const apiServiceStorage = storageNameOf('apiregistration.k8s.io', 'apiservices');

function serviceOf(object: JsonObject): JsonObject | undefined {
  const service = fieldAt(object, 'spec', 'service');
  return isJsonObject(service) ? service : undefined;
}

/** The columns of APIServices before their age (kube-aggregator, registry of APIServices). */
export const apiServiceColumns: readonly Column[] = [
  column(
    'Service',
    (object) => {
      const service = serviceOf(object);
      return service === undefined ? 'Local' : `${String(service.namespace)}/${String(service.name)}`;
    },
    'string',
    'The reference to the service that hosts this API endpoint.',
  ),
  column(
    'Available',
    (object) => {
      const condition = conditionsOf(object).find(({ type }) => type === 'Available');
      const status = String(condition?.status ?? 'Unknown');
      return status === 'True' || !condition?.reason ? status : `${status} (${String(condition.reason)})`;
    },
    'string',
    'Whether this service is available.',
  ),
];

/** The API server's checks of an APIService (kube-aggregator, validation of apiregistration). */
function* validate(object: JsonObject): Generator<StatusCause> {
  const spec = objectAt(object, 'spec');
  const { name } = object.metadata as JsonObject;
  const { group = '', version = '', caBundle, insecureSkipTLSVerify } = spec;
  const wanted = `${String(version)}.${String(group)}`;
  if (name !== wanted) {
    yield invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`);
  }
  if (group === '' && version !== 'v1') {
    yield required('spec.group', 'only v1 may have an empty group and it better be legacy kube');
  }
  for (const problem of group === '' ? [] : dns1123SubdomainProblems(String(group))) {
    yield invalid('spec.group', group, problem);
  }
  for (const problem of dns1035LabelProblems(String(version))) {
    yield invalid('spec.version', version, problem);
  }
  const service = serviceOf(object);
  const hasBundle = typeof caBundle === 'string' && caBundle !== '';
  if (service === undefined) {
    if (hasBundle) {
      const shown = `${Buffer.byteLength(caBundle, 'base64')} bytes`;
      yield invalid('spec.caBundle', shown, 'local APIServices may not have a caBundle');
    }
    if (insecureSkipTLSVerify === true) {
      yield invalid('spec.insecureSkipTLSVerify', true, 'local APIServices may not have insecureSkipTLSVerify');
    }
  } else if (hasBundle && insecureSkipTLSVerify === true) {
    yield invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
  }
  const statuses = ['True', 'False', 'Unknown'];
  for (const [index, { status = '' }] of conditionsOf(object).entries()) {
    if (!statuses.includes(String(status))) {
      yield notSupported(`status.conditions[${index}].status`, status, statuses);
    }
  }
}

export const apiServiceStrategy: KindStrategy = { nameFormat: 'path', validate };

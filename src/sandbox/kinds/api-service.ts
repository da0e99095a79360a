import type { V1APIServiceSpec } from '@kubernetes/client-node';
import { type JsonObject, objectAt, type StatusCause } from '../../kubernetes/index.ts';
import { invalid } from '../../kubernetes/schema/index.ts';
import { type Column, column, type KindStrategy, storageNameOf } from '../resources/resource.ts';
import { conditionsOf } from './conditions.ts';

/** A valid APIService: the server of a group and version; without `service`, the API server itself. */
export interface ApiService {
  metadata: { name: string; uid: string };
  spec: Pick<V1APIServiceSpec, 'group' | 'caBundle' | 'insecureSkipTLSVerify' | 'versionPriority'> & {
    version: string;
    service?: { namespace: string; name: string; port: number };
  };
}

export const apiServiceStorage = storageNameOf('apiregistration.k8s.io', 'apiservices');

/** The columns of APIServices before their age (kube-aggregator, registry of APIServices). */
export const apiServiceColumns: readonly Column[] = [
  column(
    'Service',
    (object) => {
      const { namespace, name } = objectAt(object, 'spec', 'service');
      return name === undefined ? 'Local' : `${String(namespace)}/${String(name)}`;
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

/** Problems that keep a server from being found, or verified (kube-aggregator, validation of apiregistration). */
function* validate(object: JsonObject): Generator<StatusCause> {
  const { group = '', version = '', caBundle, insecureSkipTLSVerify } = objectAt(object, 'spec');
  const { name } = object.metadata as JsonObject;
  const wanted = `${String(version)}.${String(group)}`;
  if (name !== wanted) {
    yield invalid('metadata.name', name, `must be \`spec.version+"."+spec.group\`: ${JSON.stringify(wanted)}`);
  }
  if (caBundle && insecureSkipTLSVerify === true) {
    yield invalid('spec.insecureSkipTLSVerify', true, 'may not be true if caBundle is present');
  }
}

export const apiServiceStrategy: KindStrategy = { nameFormat: 'path', validate };

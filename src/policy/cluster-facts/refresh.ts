import { type AdmissionRequest, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { ClusterKnowledge } from '../admission/admission.ts';
import type { Facts } from '../facts/facts.ts';
import { readSecret } from '../facts/secrets.ts';
import { readService } from '../facts/store.ts';
import { annotatedSecret } from '../rules/fields/secret.ts';
import { validService } from '../rules/fields/service.ts';
import type { NamedObjects } from './named-objects.ts';

interface Named {
  namespace: string;
  name: string;
}

/** The fact about an object as it is now, and none about others; undefined if it could not be read in time. */
async function readNow<T>(
  objects: NamedObjects,
  kind: 'Secret' | 'Service',
  { namespace, name }: Named,
  factOf: (object: JsonObject) => T,
) {
  const found = await objects.read(kind, namespace, name);
  const fact = typeof found === 'object' ? factOf(found) : found;
  return fact && { find: (ns: string, n: string) => (ns === namespace && n === name ? fact : undefined) };
}

/**
 * The Service of an object, if according to the copy it does not exist or lacks the port: the copy may be older than
 * the Service, which was perhaps created in the same `kubectl apply`.
 */
function serviceToReadAgain(object: JsonObject, services: Facts['services']): Named | undefined {
  const service: Json = objectAt(object, 'spec', 'clientConfig', 'service');
  const named = validService(service);
  const fact = named && services?.find(named.namespace, named.name);
  const lacksPort =
    typeof fact === 'object' && fact.ports.length > 0 && !fact.ports.some((port) => port === service.port);
  return fact === 'absent' || lacksPort ? named : undefined;
}

/**
 * What is known for the decision on a request, with the objects that its ExtensionConfig names as they are now: its
 * Secret, and its Service if the copy of it would be reported. What could not be read in time is not known. Undefined
 * if no object has to be read.
 */
export function refreshed(
  { object, operation, subResource }: Pick<AdmissionRequest, 'object' | 'operation' | 'subResource'>,
  known: () => ClusterKnowledge,
  objects: NamedObjects,
): Promise<ClusterKnowledge> | undefined {
  if (object === undefined || operation === 'DELETE' || subResource !== '') {
    return undefined;
  }
  const secret = annotatedSecret(object);
  const service = serviceToReadAgain(object, known().facts.services);
  return secret === undefined && service === undefined ? undefined : readBoth(secret, service, known, objects);
}

async function readBoth(
  secret: Named | undefined,
  service: Named | undefined,
  known: () => ClusterKnowledge,
  objects: NamedObjects,
): Promise<ClusterKnowledge> {
  const [secrets, services] = await Promise.all([
    secret && readNow(objects, 'Secret', secret, readSecret),
    service && readNow(objects, 'Service', service, readService),
  ]);
  const now = known();
  const unknown = new Set(now.unknown);
  if (secret !== undefined && secrets === undefined) {
    unknown.add('Secret');
  }
  if (service !== undefined && services === undefined) {
    unknown.add('Service');
  }
  const facts = { ...now.facts, ...(secret && { secrets }), ...(service && { services }) };
  return { ...now, facts, unknown: [...unknown] };
}

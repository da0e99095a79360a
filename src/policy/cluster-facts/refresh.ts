import { orAborted } from '../../base/index.ts';
import { explain, isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { type AdmissionRequest, type Json, type JsonObject, objectAt } from '../../kubernetes/index.ts';
import type { ClusterKnowledge } from '../admission/admission.ts';
import { readSecret } from '../facts/secrets.ts';
import { type FactKind, type Facts, readService } from '../facts/store.ts';
import { annotatedSecret } from '../rules/fields/secret.ts';
import { validService } from '../rules/fields/service.ts';

interface Named {
  namespace: string;
  name: string;
}

/** Longest time that a decision waits for an object, in ms: the timeout of the webhooks is 5 s in our configurations. */
const timeoutMs = 1_000;
/** Maximum number of concurrent reads: anyone who may write ExtensionConfigs causes them. Beyond it, nothing is known. */
const maxReading = 32;

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

/** Reads objects for single decisions. `onProblem` is called when the problem with Secrets changes. */
export function createRefresh(client: KubernetesClient, onProblem: (problem: string | undefined) => void) {
  let secretProblem: string | undefined;
  let reading = 0;

  /** The watch of Services reports its own problems. */
  function note(plural: string, problem: string | undefined): void {
    if (plural === 'secrets' && problem !== secretProblem) {
      secretProblem = problem;
      onProblem(problem);
    }
  }

  async function get(plural: string, { namespace, name }: Named): Promise<JsonObject | 'absent' | undefined> {
    try {
      const object = await client.request('GET', `/api/v1/namespaces/${namespace}/${plural}/${name}`);
      note(plural, undefined);
      return object;
    } catch (error) {
      const isAbsent = isStatus(error, 404);
      note(plural, isAbsent ? undefined : (explain(error, 'get', plural, `${namespace}/${name}`) as Error).message);
      return isAbsent ? 'absent' : undefined;
    }
  }

  /** The fact about an object as it is now, and none about others; undefined if that takes over a second. Never rejects. */
  async function readNow<T>(plural: string, named: Named, factOf: (object: JsonObject) => T) {
    if (reading >= maxReading) {
      note(plural, `more than ${maxReading} ${plural} are being read at once`);
      return undefined;
    }
    reading++;
    // It goes on after the decision, until the client gives up.
    const read = get(plural, named).finally(() => reading--);
    let found: JsonObject | 'absent' | undefined;
    try {
      found = await orAborted(read, AbortSignal.timeout(timeoutMs));
    } catch {
      note(plural, `${plural}: no answer from the API server within ${timeoutMs} ms`);
    }
    const fact = typeof found === 'object' ? factOf(found) : found;
    const isNamed = (namespace: string, name: string) => namespace === named.namespace && name === named.name;
    return fact && { find: (namespace: string, name: string) => (isNamed(namespace, name) ? fact : undefined) };
  }

  async function readBoth(
    secret: Named | undefined,
    service: Named | undefined,
    known: () => ClusterKnowledge,
  ): Promise<ClusterKnowledge> {
    const [secrets, services] = await Promise.all([
      secret && readNow('secrets', secret, readSecret),
      service && readNow('services', service, readService),
    ]);
    const now = known();
    const unread: FactKind[] = [
      ...(secret !== undefined && secrets === undefined ? (['Secret'] as const) : []),
      ...(service !== undefined && services === undefined ? (['Service'] as const) : []),
    ];
    const facts = { ...now.facts, ...(secret && { secrets }), ...(service && { services }) };
    return { ...now, facts, unknown: [...new Set([...now.unknown, ...unread])] };
  }

  return {
    /**
     * What is known for the decision on a request, with the objects that its ExtensionConfig names as they are now: its
     * Secret, and its Service if the copy of it would be reported. What could not be read in time is not known. Undefined
     * if no object has to be read.
     */
    refresh(
      { object, operation, subResource }: Pick<AdmissionRequest, 'object' | 'operation' | 'subResource'>,
      known: () => ClusterKnowledge,
    ): Promise<ClusterKnowledge> | undefined {
      if (object === undefined || operation === 'DELETE' || subResource !== '') {
        return undefined;
      }
      const secret = annotatedSecret(object);
      const service = serviceToReadAgain(object, known().facts.services);
      return secret === undefined && service === undefined ? undefined : readBoth(secret, service, known);
    },
    /** Why Secrets cannot be read, according to the last attempt; undefined if they can. */
    get secretProblem(): string | undefined {
      return secretProblem;
    },
  };
}

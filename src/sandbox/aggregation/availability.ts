import { withoutNodeHint } from '../../base/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import { type Condition, condition } from '../kinds/conditions.ts';
import type { UserInfo } from '../resources/resource.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { NoEndpointError } from '../webhooks/webhook-call.ts';
import type { Backend } from './backend.ts';

/** The user as which the API server checks the availability of aggregated servers. */
export const aggregator: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };

/** Timeout of a check in ms (kube-aggregator, remote availability). */
const timeoutMs = 5000;
/** Maximum number of bytes of a response that are read; the content does not matter. */
const maxBytes = 1024 * 1024;

/**
 * Why a server cannot be reached, as far as the store tells: its Service is missing or has no endpoints; otherwise
 * undefined.
 */
function withoutEndpoint(store: Store, { spec }: Backend): Condition {
  const { namespace, name } = spec.service ?? { namespace: '', name: '' };
  const shown = `service/${name} in ${JSON.stringify(namespace)}`;
  return isJsonObject(store.collection('services').get(storageKey(namespace, name)))
    ? condition('Available', 'False', 'MissingEndpoints', `endpoints for ${shown} have no addresses with port name ""`)
    : condition('Available', 'False', 'ServiceNotFound', `${shown} is not present`);
}

/** Checks whether a server serves its group and version. */
export async function availabilityOf(backend: Backend, store: Store, signal: AbortSignal): Promise<Condition> {
  const { path } = backend;
  let url: string;
  try {
    const { host, port } = backend.target();
    url = `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  } catch (error) {
    if (error instanceof NoEndpointError) {
      return withoutEndpoint(store, backend);
    }
    throw error;
  }
  const stop = AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]);
  let problem: string;
  try {
    const { status } = await backend.get(path, aggregator, { 'user-agent': 'kube-apiserver' }, maxBytes, stop);
    if (status >= 200 && status <= 399) {
      return condition('Available', 'True', 'Passed', 'all checks passed');
    }
    problem = `bad status from ${url}: ${status}`;
  } catch (error) {
    problem = stop.aborted ? `timed out waiting for ${url}` : withoutNodeHint((error as Error).message);
  }
  return condition('Available', 'False', 'FailedDiscoveryCheck', `failing or missing response from ${url}: ${problem}`);
}

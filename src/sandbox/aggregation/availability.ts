import { withoutNodeHint } from '../../base/index.ts';
import { isJsonObject } from '../../kubernetes/index.ts';
import type { ApiService } from '../kinds/api-service.ts';
import { type Condition, condition } from '../kinds/conditions.ts';
import type { UserInfo } from '../resources/resource.ts';
import { type Store, storageKey } from '../storage/store.ts';
import { NoEndpointError } from '../webhooks/webhook-call.ts';
import type { Backend } from './backend.ts';

/** The user as which the API server checks the availability of aggregated servers. */
export const aggregator: UserInfo = { username: 'system:kube-aggregator', groups: ['system:masters'] };

/** Number of concurrent checks of a server, and their timeout in ms (kube-aggregator, remote availability). */
const attempts = 5;
const timeoutMs = 5000;
/** Maximum number of bytes of a response that are read; the content does not matter. */
const maxBytes = 1024 * 1024;

/** `/apis/GROUP/VERSION`. */
export function pathOf({ spec: { group = '', version } }: ApiService): string {
  return group === '' ? `/api/${version}` : `/apis/${group}/${version}`;
}

/**
 * Why a server cannot be reached, as far as the store tells: its Service is missing or has no endpoints; otherwise
 * undefined.
 */
function withoutEndpoint(store: Store, { spec }: ApiService): Condition {
  const { namespace, name } = spec.service ?? { namespace: '', name: '' };
  const shown = `service/${name} in ${JSON.stringify(namespace)}`;
  return isJsonObject(store.collection('services').get(storageKey(namespace, name)))
    ? condition('Available', 'False', 'MissingEndpoints', `endpoints for ${shown} have no addresses with port name ""`)
    : condition('Available', 'False', 'ServiceNotFound', `${shown} is not present`);
}

/** Checks whether a server serves its group and version: several times at once, and the first success counts. */
export async function availabilityOf(
  apiService: ApiService,
  backend: Backend,
  store: Store,
  signal: AbortSignal,
): Promise<Condition> {
  const path = pathOf(apiService);
  let url: string;
  try {
    const { host, port } = backend.target();
    url = `https://${host.includes(':') ? `[${host}]` : host}:${port}${path}`;
  } catch (error) {
    if (error instanceof NoEndpointError) {
      return withoutEndpoint(store, apiService);
    }
    throw error;
  }
  const enough = new AbortController();
  const stop = AbortSignal.any([signal, enough.signal, AbortSignal.timeout(timeoutMs)]);
  const problems: string[] = [];
  try {
    const attempt = async () => {
      try {
        const { status } = await backend.get(path, aggregator, { 'user-agent': 'kube-apiserver' }, maxBytes, stop);
        if (status < 200 || status > 399) {
          throw new Error(`bad status from ${url}: ${status}`);
        }
      } catch (error) {
        problems.push(stop.aborted ? `timed out waiting for ${url}` : withoutNodeHint((error as Error).message));
        throw error;
      }
    };
    await Promise.any(Array.from({ length: attempts }, attempt));
    return condition('Available', 'True', 'Passed', 'all checks passed');
  } catch {
    const [problem = ''] = problems;
    return condition(
      'Available',
      'False',
      'FailedDiscoveryCheck',
      `failing or missing response from ${url}: ${problem}`,
    );
  } finally {
    enough.abort();
  }
}

import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { orAborted } from '../../base/index.ts';
import type { AllowList } from './allow-list.ts';

/**
 * The address at which to call a host, or why it is not called: `refused`: not allowed by the operator; `busy`: too
 * many names are being resolved; `unresolved`: the name has no address.
 */
type Reached = { address: string } | 'refused' | 'busy' | 'unresolved';

/** Finds the address of a host, by its name in lower case or its IP address, until the signal. Never rejects. */
type Reach = (hostname: string, signal: AbortSignal) => Promise<Reached>;

/** Maximum number of concurrent look-ups: each occupies one of the four threads of the system's resolver. */
const maxLookups = 3;

export async function systemAddresses(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/** Creates a `Reach` that returns only allowed addresses: every address of a name must be allowed. */
export function createReach(allow: AllowList, resolve: (hostname: string) => Promise<readonly string[]>): Reach {
  const lookups = new Set<Promise<unknown>>();

  return async (hostname, signal) => {
    if (isIP(hostname) !== 0) {
      return allow.allows(hostname, hostname) ? { address: hostname } : 'refused';
    }
    if (!allow.mayReach(hostname)) {
      return 'refused';
    }
    try {
      while (lookups.size >= maxLookups) {
        await orAborted(Promise.race(lookups), signal);
      }
    } catch {
      return 'busy';
    }
    // A lookup cannot be cancelled, so it counts until it ends.
    const work = resolve(hostname);
    const ended = work.catch(() => {});
    lookups.add(ended);
    void ended.then(() => lookups.delete(ended));
    try {
      const [address, ...others] = await orAborted(work, signal);
      return address !== undefined && [address, ...others].every((one) => allow.allows(hostname, one))
        ? { address }
        : 'refused';
    } catch {
      // Not everyone may find out which names exist.
      return allow.names(hostname) ? 'unresolved' : 'refused';
    }
  };
}

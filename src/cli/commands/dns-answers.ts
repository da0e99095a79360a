import { Resolver } from 'node:dns/promises';
import { isIP } from 'node:net';

const timeoutMs = 1_000;

/**
 * Whether a DNS server answers for a host, whatever it says, or none is needed. The system's look-up, by which hosts are
 * called, knows /etc/hosts and search domains, but cannot be cancelled: where no server answers, the program could not end
 * for ten seconds or more.
 */
export async function dnsAnswers(host: string): Promise<boolean> {
  if (isIP(host) !== 0) {
    return true;
  }
  const resolver = new Resolver();
  const timer = setTimeout(() => resolver.cancel(), timeoutMs);
  try {
    await resolver.resolve4(host);
    return true;
  } catch (error) {
    return !['ECANCELLED', 'ETIMEOUT'].includes((error as NodeJS.ErrnoException).code ?? '');
  } finally {
    clearTimeout(timer);
  }
}

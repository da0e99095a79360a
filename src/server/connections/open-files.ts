import { readFileSync } from 'node:fs';
import type { Limits } from './limits.ts';

/** File descriptors of everything but connections to the server: Node's own, watches, calls of API servers. */
const ownFiles = 40;

/** How many files this process may have open (`ulimit -n`); undefined where the system does not say, or has no limit. */
export function openFileLimit(): number | undefined {
  try {
    const limit = /^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return limit === undefined ? undefined : Number(limit);
  } catch {
    // Not Linux.
    return undefined;
  }
}

/**
 * Limits with no more connections than there are file descriptors: three quarters for the main port, an eighth for the
 * health port. A process that has none left cannot accept connections, not even those of the kubelet.
 */
export function withinOpenFiles<L extends Pick<Limits, 'maxConnections'>>(
  limits: L,
  openFiles: number | undefined,
  port: 'main' | 'health',
): L {
  const share = (port === 'main' ? 3 / 4 : 1 / 8) * Math.max(0, (openFiles ?? Number.POSITIVE_INFINITY) - ownFiles);
  return { ...limits, maxConnections: Math.min(limits.maxConnections, Math.max(2, Math.floor(share))) };
}

import { createHash } from 'node:crypto';
import { lookup } from 'node:dns/promises';
import { isIP, isIPv6 } from 'node:net';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../api/index.ts';
import type { Facts } from '../facts/index.ts';
import { type Finding, namedSecret } from '../rules/index.ts';
import { createCache, createClient, isCallError, type KnownHooks, targetOf } from '../runtime/index.ts';
import type { AllowList } from './allow-list.ts';
import { findingsOf } from './findings.ts';
import { createSlots } from './slots.ts';

/**
 * How a probe ended. `refused`: not allowed by the operator; `busy`: too many at a time; `unknown`: the CA is in a
 * Secret that is not known.
 */
export const probeResults = ['discovered', 'failed', 'cached', 'refused', 'busy', 'unknown'] as const;
/** How a probe ended, for metrics. */
export type ProbeResult = (typeof probeResults)[number];

/** What a prober needs. */
export interface ProberOptions {
  allow: AllowList;
  /** Which hooks there are, and for which release. */
  known: KnownHooks;
  onResult?(result: ProbeResult): void;
  /** What is known about the cluster, for the Secret of an annotation. */
  facts?: () => Facts | undefined;
  /** The addresses of a name. Default: the system's. */
  resolve?(hostname: string): Promise<readonly string[]>;
  /** How long a probe may take, in ms. */
  timeoutMs?: number;
  /** Milliseconds of a clock that never goes back. */
  now?: () => number;
}

/**
 * Calls Discovery on extension servers before they are registered, as Cluster API's controller would a moment later.
 */
export interface Prober {
  /**
   * What is wrong with the server of an ExtensionConfig, within `timeoutMs`; empty when it is fine or was not asked.
   * Never rejects.
   */
  probe(config: ExtensionConfig): Promise<readonly Finding[]>;
}

/** Webhooks have 5 s in our configurations. */
const defaultTimeoutMs = 2_000;
/** Maximum number of probes at a time; more are not made. */
const maxAtOnce = 10;
/**
 * Maximum number of names that are resolved at a time: the system's resolver takes a thread for each, of four, for as
 * long as it hangs.
 */
const maxLookups = 3;
/** How long a result is reused for the same server, in ms: for kubectl apply of several files, and for retries. */
const lifeMs = 15_000;
const discoveryPort = 443;

async function systemAddresses(hostname: string): Promise<string[]> {
  return (await lookup(hostname, { all: true })).map(({ address }) => address);
}

/** Rejects as soon as the signal is aborted. */
function orAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const onAbort = () => reject(signal.reason as Error);
  signal.addEventListener('abort', onAbort, { once: true });
  return Promise.race([work, promise]).finally(() => signal.removeEventListener('abort', onAbort));
}

/** A prober without memories. */
export function createProber(options: ProberOptions): Prober {
  const { allow, known, onResult = () => {}, resolve = systemAddresses, timeoutMs = defaultTimeoutMs } = options;
  const now = options.now ?? (() => performance.now());
  const cache = createCache<readonly Finding[]>(now);
  const running = new Map<string, Promise<readonly Finding[]>>();
  const slots = createSlots(maxLookups);

  /** The config with the CA that Cluster API would inject; undefined when that is not known. */
  function withCa(config: ExtensionConfig): ExtensionConfig | undefined {
    if (!config.metadata.annotations?.[injectCaFromSecretAnnotation]) {
      return config;
    }
    const found = namedSecret(config, options.facts?.())?.found;
    const injected = found === undefined || found === 'absent' ? undefined : found.caBundle;
    const caBundle = injected ?? config.spec?.clientConfig?.caBundle;
    return caBundle === undefined
      ? undefined
      : { ...config, spec: { ...config.spec, clientConfig: { ...config.spec?.clientConfig, caBundle } } };
  }

  /** The address at which a host is asked, or why it is not. Each of its addresses has to be allowed. */
  async function addressFor(hostname: string, signal: AbortSignal): Promise<{ address: string } | 'refused' | 'busy'> {
    if (isIP(hostname) !== 0) {
      return allow.allows(hostname, hostname) ? { address: hostname } : 'refused';
    }
    if (!allow.mayReach(hostname)) {
      return 'refused';
    }
    try {
      await slots.take(signal);
    } catch {
      return 'busy';
    }
    // A lookup cannot be ended: it keeps its slot until it ends by itself.
    const work = resolve(hostname).finally(slots.give);
    const [address, ...others] = await orAborted(work, signal);
    return address !== undefined && [address, ...others].every((one) => allow.allows(hostname, one))
      ? { address }
      : 'refused';
  }

  async function ask(config: ExtensionConfig): Promise<readonly Finding[]> {
    const signal = AbortSignal.timeout(timeoutMs);
    const target = targetOf(config.spec?.clientConfig ?? {}, { group: '', version: '', hook: '', timeoutSeconds: 1 });
    if (isCallError(target)) {
      onResult('refused');
      return [];
    }
    const hostname = target.serverName.toLowerCase().replace(/\.$/, '');
    let reached: Awaited<ReturnType<typeof addressFor>>;
    try {
      reached = await addressFor(hostname, signal);
    } catch {
      // Which other names there are is not for everybody to find out.
      reached = 'refused';
      if (allow.names(hostname)) {
        onResult('failed');
        return [
          {
            path: ['spec', 'clientConfig'],
            reason: 'FieldValueInvalid',
            message: `the host ${hostname} could not be resolved; correct it, or create the Service`,
          },
        ];
      }
    }
    if (typeof reached === 'string') {
      onResult(reached);
      return [];
    }
    const { address } = reached;
    const host = isIPv6(address) ? `[${address}]` : address;
    const port = Number(new URL(target.origin).port || discoveryPort);
    const client = createClient({
      ...known,
      // What was checked is what is called: the name is not resolved again.
      ...(isIP(target.serverName) === 0 && { resolve: () => ({ host, port }) }),
    });
    try {
      const result = await client.discover(config, { signal });
      onResult(result.ok ? 'discovered' : 'failed');
      return findingsOf(result);
    } finally {
      void client.close();
    }
  }

  return {
    async probe(config) {
      const complete = withCa(config);
      if (complete === undefined) {
        onResult('unknown');
        return [];
      }
      const identity = JSON.stringify([complete.metadata.name, complete.spec?.clientConfig]);
      const key = createHash('sha256').update(identity).digest('base64');
      const remembered = cache.get(key) ?? running.get(key);
      if (remembered !== undefined) {
        onResult('cached');
        return remembered;
      }
      if (running.size >= maxAtOnce) {
        onResult('busy');
        return [];
      }
      const work = ask(complete).catch((): readonly Finding[] => []);
      running.set(key, work);
      try {
        const findings = await work;
        cache.set(key, findings, lifeMs);
        return findings;
      } finally {
        running.delete(key);
      }
    },
  };
}

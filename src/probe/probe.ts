import { createHash } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../api/index.ts';
import type { Facts } from '../facts/index.ts';
import { type Finding, namedSecret } from '../rules/index.ts';
import { createCache, createClient, isCallError, type KnownHooks, targetOf } from '../runtime/index.ts';
import type { AllowList } from './allow-list.ts';
import { findingsOf } from './findings.ts';
import { createReach, systemAddresses } from './reach.ts';

/**
 * How a probe ended. `refused`: not allowed by the operator; `busy`: too many at a time; `unknown`: the CA is in a
 * Secret that is not known.
 */
export const probeResults = ['discovered', 'failed', 'cached', 'refused', 'busy', 'unknown'] as const;
/** How a probe ended, for metrics. */
export type ProbeResult = (typeof probeResults)[number];

/** The dependencies of a prober. */
export interface ProberOptions {
  allow: AllowList;
  /** The known hooks, and the release that they are checked for. */
  known: KnownHooks;
  onResult?(result: ProbeResult): void;
  /** The facts about the cluster, for the Secret of an annotation. */
  facts?: () => Facts | undefined;
  /** The addresses of a name. Default: the system's. */
  resolve?(hostname: string): Promise<readonly string[]>;
  /** How long a probe may take, in ms. */
  timeoutMs?: number;
  /** Milliseconds of a monotonic clock. */
  now?: () => number;
}

/**
 * Calls Discovery on extension servers before they are registered, as Cluster API's controller would a moment later.
 */
export interface Prober {
  /**
   * The problems of an ExtensionConfig's server, found within `timeoutMs`; empty when there are none or it was not
   * asked. Never rejects.
   */
  probe(config: ExtensionConfig): Promise<readonly Finding[]>;
}

/** Webhooks have 5 s in our configurations. */
const defaultTimeoutMs = 2_000;
/** Maximum number of probes at a time; more are not made. */
const maxAtOnce = 10;
/** How long a result is reused for the same server, in ms: for kubectl apply of several files, and for retries. */
const lifeMs = 15_000;
const discoveryPort = 443;

/** The config with the CA that Cluster API would inject; undefined when that is not known. */
function withCa(config: ExtensionConfig, facts: Facts | undefined): ExtensionConfig | undefined {
  const found = namedSecret(config, facts)?.found;
  const injected = found === undefined || found === 'absent' ? undefined : found.caBundle;
  const caBundle = injected ?? config.spec?.clientConfig?.caBundle;
  return caBundle === undefined
    ? undefined
    : { ...config, spec: { ...config.spec, clientConfig: { ...config.spec?.clientConfig, caBundle } } };
}

/** A prober without memories. */
export function createProber(options: ProberOptions): Prober {
  const { allow, known, onResult = () => {}, resolve = systemAddresses, timeoutMs = defaultTimeoutMs } = options;
  const now = options.now ?? (() => performance.now());
  const cache = createCache<readonly Finding[]>(now);
  const running = new Map<string, Promise<readonly Finding[] | undefined>>();
  const reach = createReach(allow, resolve);

  /** The findings about a server; undefined when there was no room to ask it. */
  async function ask(config: ExtensionConfig): Promise<readonly Finding[] | undefined> {
    const signal = AbortSignal.timeout(timeoutMs);
    const target = targetOf(config.spec?.clientConfig ?? {}, { group: '', version: '', hook: '', timeoutSeconds: 1 });
    if (isCallError(target)) {
      onResult('refused');
      return [];
    }
    const hostname = target.serverName.toLowerCase().replace(/\.$/, '');
    const reached = await reach(hostname, signal);
    if (reached === 'unresolved') {
      onResult('failed');
      const message = `the host ${hostname} could not be resolved; correct it, or create the Service`;
      return [{ path: ['spec', 'clientConfig'], reason: 'FieldValueInvalid', message }];
    }
    if (typeof reached === 'string') {
      onResult(reached);
      return reached === 'busy' ? undefined : [];
    }
    const { address } = reached;
    const host = isIPv6(address) ? `[${address}]` : address;
    const port = Number(new URL(target.origin).port || discoveryPort);
    const client = createClient({
      ...known,
      // The address that was checked is the one that is called: the name is not resolved again.
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
      const isInjected = Boolean(config.metadata.annotations?.[injectCaFromSecretAnnotation]);
      const complete = isInjected ? withCa(config, options.facts?.()) : config;
      if (complete === undefined) {
        onResult('unknown');
        return [];
      }
      const identity = JSON.stringify([complete.metadata.name, complete.spec?.clientConfig]);
      const key = createHash('sha256').update(identity).digest('base64');
      const remembered = cache.get(key) ?? running.get(key);
      if (remembered !== undefined) {
        onResult('cached');
        return (await remembered) ?? [];
      }
      if (running.size >= maxAtOnce) {
        onResult('busy');
        return [];
      }
      const work = ask(complete).catch((): readonly Finding[] => []);
      running.set(key, work);
      try {
        const findings = await work;
        if (findings !== undefined) {
          cache.set(key, findings, lifeMs);
        }
        return findings ?? [];
      } finally {
        running.delete(key);
      }
    },
  };
}

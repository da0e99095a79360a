import { createHash } from 'node:crypto';
import { isIP, isIPv6 } from 'node:net';
import { createCache } from '../../base/index.ts';
import { type ExtensionConfig, injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import { addressOf, createClient, isCallError, type KnownHooks } from '../../runtimehooks/client/index.ts';
import type { PendingProbe } from '../admission/outcome.ts';
import type { Facts } from '../facts/facts.ts';
import { namedSecret } from '../rules/fields/secret.ts';
import type { Finding } from '../rules/rule.ts';
import type { AllowList } from './allow-list.ts';
import { findingsOf } from './findings.ts';
import { createReach, systemAddresses } from './reach.ts';

/** `refused`: not allowed by the operator; `busy`: too many at a time; `unknown`: the CA's Secret has not been read. */
export const probeResults = ['discovered', 'failed', 'cached', 'refused', 'busy', 'unknown'] as const;
export type ProbeResult = (typeof probeResults)[number];

export interface ProberOptions {
  allow: AllowList;
  known: KnownHooks;
  onResult?(result: ProbeResult): void;
  /** Resolves a name to addresses. Default: the system's resolver. */
  resolve?(hostname: string): Promise<readonly string[]>;
  timeoutMs?: number;
  /** Returns milliseconds of a monotonic clock. */
  now?: () => number;
}

/** The timeout of the webhooks is 5 s in our configurations. */
const defaultTimeoutMs = 2_000;
/** Maximum number of concurrent probes; beyond that, none is made. */
const maxAtOnce = 10;
/** How long a result is reused for the same server, in ms: for kubectl apply of several files, and for retries. */
const lifeMs = 15_000;
const discoveryPort = 443;

/** The config with the CA that Cluster API would inject; undefined if that is not known. */
function withCa(config: ExtensionConfig, facts: Facts | undefined): ExtensionConfig | undefined {
  const secret = namedSecret(config, facts)?.found;
  const injected = secret === undefined || secret === 'absent' ? undefined : secret.caBundle;
  const caBundle = injected ?? config.spec?.clientConfig?.caBundle;
  return caBundle === undefined
    ? undefined
    : { ...config, spec: { ...config.spec, clientConfig: { ...config.spec?.clientConfig, caBundle } } };
}

/** Calls Discovery before extensions are registered, as Cluster API's controller would a moment later. */
export function createProber(options: ProberOptions) {
  const { allow, known, onResult = () => {}, resolve = systemAddresses, timeoutMs = defaultTimeoutMs } = options;
  const now = options.now ?? (() => performance.now());
  const cache = createCache<readonly Finding[]>(now);
  const running = new Map<string, Promise<readonly Finding[] | undefined>>();
  const reach = createReach(allow, resolve);

  /** The findings about a server; undefined if it was not called because of the limit. */
  async function ask(config: ExtensionConfig): Promise<readonly Finding[] | undefined> {
    const signal = AbortSignal.timeout(timeoutMs);
    const target = addressOf(config.spec?.clientConfig ?? {});
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
    /**
     * The problems with an ExtensionConfig's server, found within `timeoutMs`; empty if there are none or the server was
     * not called. Never rejects.
     */
    async probe({ config, facts }: Pick<PendingProbe, 'config' | 'facts'>): Promise<readonly Finding[]> {
      const isInjected = Boolean(config.metadata.annotations?.[injectCaFromSecretAnnotation]);
      const complete = isInjected ? withCa(config, facts) : config;
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

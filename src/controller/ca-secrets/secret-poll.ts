import { setTimeout as sleep } from 'node:timers/promises';
import { injectCaFromSecretAnnotation } from '../../extensionconfig/index.ts';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import { pausedAnnotation } from '../configs/discovered-status.ts';
import type { StoredConfig } from '../configs/stored.ts';
import { readCaBundle, type SecretName, secretNameOf } from './ca-secret.ts';

/** The dependencies of polling Secrets. */
export interface SecretPollOptions {
  cluster: KubernetesClient;
  /** The current ExtensionConfigs. */
  configs(): Iterable<StoredConfig>;
  /** Called for each ExtensionConfig whose Secret has changed. */
  onChange(name: string): void;
  signal: AbortSignal;
  /** The pause between two rounds, and of each reader after each Secret, in ms. */
  pollMs: number;
  gapMs: number;
}

/** Number of Secrets for each reader. */
const secretsPerReader = 100;
/**
 * Maximum number of readers. At 100 ms for each Secret, a round of 800 Secrets with its pause of 10 s takes less than
 * 30 s, the delay after which a rotation relies on callers having the new CA.
 */
const maxReaders = 5;

/** A Secret, and the ExtensionConfigs that refer to it. */
interface Wanted {
  secret: SecretName;
  configs: StoredConfig[];
}

function wantedSecrets(configs: Iterable<StoredConfig>): Map<string, Wanted> {
  const wanted = new Map<string, Wanted>();
  for (const config of configs) {
    const annotations = config.metadata.annotations ?? {};
    const annotation = annotations[injectCaFromSecretAnnotation];
    if (annotation === undefined || annotations[pausedAnnotation] !== undefined) {
      continue;
    }
    const secret = secretNameOf(annotation);
    if ('problem' in secret) {
      continue;
    }
    const one = wanted.get(annotation);
    if (one === undefined) {
      wanted.set(annotation, { secret, configs: [config] });
    } else {
      one.configs.push(config);
    }
  }
  return wanted;
}

/**
 * Polls the Secrets that annotations name, each by its name: this requires `get` on these Secrets and nothing else. A
 * watch of all Secrets, as in Cluster API, requires permission to read every Secret of the cluster, even if it watches
 * only metadata.
 */
export async function pollSecrets(options: SecretPollOptions): Promise<void> {
  const { cluster, onChange, signal, pollMs, gapMs } = options;
  let known = new Map<string, string>();
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});
  while (!signal.aborted) {
    await pause(pollMs);
    const found = new Map<string, string>();
    const wanted = wantedSecrets(signal.aborted ? [] : options.configs());
    // The readers share this iterator.
    const remaining = wanted.entries();
    const read = async () => {
      for (const [key, { secret, configs }] of remaining) {
        if (signal.aborted) {
          return;
        }
        const before = known.get(key);
        try {
          const reading = await readCaBundle(cluster, secret);
          const now = JSON.stringify(reading);
          found.set(key, now);
          for (const { metadata, spec } of now === before ? [] : configs) {
            // When a Secret is seen for the first time, only ExtensionConfigs without its CA need a run.
            const has = 'caBundle' in reading && reading.caBundle === spec?.clientConfig?.caBundle;
            if (before !== undefined || !has) {
              onChange(metadata.name);
            }
          }
        } catch {
          // The API server is unreachable, which the informer reports.
          if (before !== undefined) {
            found.set(key, before);
          }
        }
        await pause(gapMs);
      }
    };
    const readers = Math.min(maxReaders, Math.ceil(wanted.size / secretsPerReader));
    await Promise.all(Array.from({ length: readers }, read));
    known = found;
  }
}

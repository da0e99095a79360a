import { setTimeout as sleep } from 'node:timers/promises';
import { eachOf } from '../../base/index.ts';
import { injectCaFromSecretAnnotation, pausedAnnotation, secretNameOf } from '../../extensionconfig/index.ts';
import type { KubernetesClient } from '../../kubernetes/client/index.ts';
import type { StoredConfig } from '../configs/stored.ts';
import { readCaBundle } from './ca-secret.ts';

interface SecretPollOptions {
  cluster: KubernetesClient;
  configs(): Iterable<StoredConfig>;
  /** Called for each ExtensionConfig whose Secret has changed. */
  onChange(name: string): void;
  signal: AbortSignal;
  /** The pause between two rounds, and between the reads of a round, in ms. */
  pollMs: number;
  gapMs: number;
}

/**
 * How many Secrets are read at a time. At 100 ms for each, a round of 800 Secrets with its pause of 10 s takes less than
 * 30 s, the delay after which a rotation relies on callers having the new CA.
 */
const atOnce = 5;

/** The Secret that an ExtensionConfig names, or '' for none. */
function annotationOf({ metadata: { annotations = {} } }: StoredConfig): string {
  const annotation = annotations[injectCaFromSecretAnnotation] ?? '';
  return annotations[pausedAnnotation] !== undefined || secretNameOf(annotation) === undefined ? '' : annotation;
}

/**
 * Polls the Secrets that annotations name, each by its name: this requires `get` on these Secrets and nothing else, and
 * no connection for each of them. A watch of all Secrets, as in Cluster API, requires permission to read every Secret of
 * the cluster, even if it watches only metadata.
 */
export async function pollSecrets(options: SecretPollOptions): Promise<void> {
  const { cluster, onChange, signal, pollMs, gapMs } = options;
  /** The Secrets as read last, by annotation. */
  let known = new Map<string, string>();
  const pause = (ms: number) => sleep(ms, undefined, { signal, ref: false }).catch(() => {});

  async function check(annotation: string, configs: readonly StoredConfig[]): Promise<string | undefined> {
    const before = known.get(annotation);
    const secret = secretNameOf(annotation);
    if (secret === undefined) {
      return undefined;
    }
    try {
      const reading = await readCaBundle(cluster, secret);
      const now = JSON.stringify(reading);
      for (const { metadata, spec } of now === before ? [] : configs) {
        // When a Secret is seen for the first time, only ExtensionConfigs without its CA need a run.
        if (before !== undefined || !('caBundle' in reading && reading.caBundle === spec?.clientConfig?.caBundle)) {
          onChange(metadata.name);
        }
      }
      return now;
    } catch {
      // The API server is unreachable, which the informer reports.
      return before;
    }
  }

  for (await pause(pollMs); !signal.aborted; await pause(pollMs)) {
    const groups = Map.groupBy(options.configs(), annotationOf);
    groups.delete('');
    const next = new Map<string, string>();
    await eachOf([...groups], atOnce, async ([annotation, configs]) => {
      const now = signal.aborted ? undefined : await check(annotation, configs);
      if (now !== undefined) {
        next.set(annotation, now);
        await pause(gapMs);
      }
    });
    known = next;
  }
}

import { printable } from '../../base/index.ts';
import { type Parsed, readCertificates } from '../../base/x509/index.ts';
import {
  Forbidden,
  fetchSecret,
  isStatus,
  type KubernetesClient,
  ResponseError,
  StatusError,
} from '../../kubernetes/client/index.ts';
import { namespacedNameIn } from '../../kubernetes/index.ts';
import { clusterTargets } from './cluster-targets.ts';
import type { Clock } from './engine.ts';
import { Conflict } from './store.ts';
import { isInSync, type TargetAccess } from './target.ts';

export interface Injection {
  id: string;
  result: 'written' | 'in sync' | 'missing' | 'failed' | 'left alone';
  reason?: string | undefined;
  skipped: string[];
}

const maxTries = 10;

/**
 * Writes a trust bundle into every target and reads it back. The bundle of a source is asked for whenever the targets have
 * been read, so that a target never gets an older bundle again.
 *
 * @throws {Conflict} when another client has written in each of 10 attempts.
 */
export async function injectTargets(
  access: TargetAccess,
  bundleOf: (source: string) => Promise<Parsed<string>>,
  clock: Pick<Clock, 'sleep'>,
): Promise<Injection[]> {
  const results = new Map<string, Injection>();
  const written = new Set<string>();
  for (let attempt = 0; attempt < maxTries; attempt++) {
    let again = false;
    const targets = await access.read();
    const bundles = new Map<string, Parsed<string>>();
    for (const target of targets) {
      const { id, skipped, source = '' } = target;
      if (results.get(id)?.result === 'failed') {
        continue;
      }
      const end = (result: Injection['result'], reason?: string) => results.set(id, { id, result, skipped, reason });
      if (target.state !== 'present') {
        end(target.state, target.problem);
        continue;
      }
      if (target.bundles.length === 0) {
        end('left alone');
        continue;
      }
      const bundle = bundles.get(source) ?? (await bundleOf(source));
      bundles.set(source, bundle);
      if (bundle.state !== 'usable') {
        end('failed', bundle.state === 'absent' ? 'there is no trust bundle' : bundle.problem);
      } else if (isInSync(target, bundle.value)) {
        end(written.has(id) ? 'written' : 'in sync');
      } else {
        again = true;
        try {
          const refusal = await access.inject(target, bundle.value);
          if (refusal === undefined) {
            written.add(id);
          } else {
            end('failed', refusal);
          }
        } catch (error) {
          if (!(error instanceof Conflict)) {
            throw error;
          }
        }
      }
    }
    if (!again) {
      return [...results.values()];
    }
    await clock.sleep(attempt === 0 ? 0 : Math.min(2000, 50 * 2 ** attempt));
  }
  throw new Conflict('another client keeps changing the targets');
}

/** `ca.crt` of a Secret as a trust bundle, or why it is unusable. */
export function bundleIn(data: Record<string, string> | undefined, where: string): Parsed<string> {
  const read = readCertificates(data?.['ca.crt']);
  if (read.state === 'usable') {
    // Only the certificates: anything else in the text (perhaps a private key) must not be copied.
    return { state: 'usable', value: read.value.map((certificate) => certificate.pem).join('') };
  }
  const missing = data === undefined ? `${where} does not exist` : `${where} has no ca.crt`;
  return { state: 'broken', problem: read.state === 'absent' ? missing : `ca.crt of ${where} ${read.problem}` };
}

/** The bundle in the Secret that the annotation of an ExtensionConfig names, or why there is none. */
export async function bundleOfSecret(cluster: KubernetesClient, annotation: string): Promise<Parsed<string>> {
  const secret = namespacedNameIn(annotation);
  if (secret === undefined) {
    return {
      state: 'broken',
      // Cluster API's words. Anyone who may write an ExtensionConfig controls the text.
      problem: `secret name ${printable(JSON.stringify(annotation.slice(0, 300)))} must be in the form <namespace>/<name>`,
    };
  }
  const { namespace, name } = secret;
  try {
    const stored = await fetchSecret(cluster, namespace, name);
    return bundleIn(stored?.data, `Secret ${namespace}/${name}`);
  } catch (error) {
    if (error instanceof StatusError || error instanceof Forbidden || error instanceof ResponseError) {
      return { state: 'broken', problem: error.message };
    }
    throw error;
  }
}

/**
 * Writes a trust bundle into the webhook configurations of a service of the same name whose caBundle is empty, and into no
 * others: a bundle that is there may be newer than this one, and is the rotation's.
 *
 * @returns the objects that were written.
 * @throws {Error} if one cannot be read or written; one that does not exist is nothing wrong.
 */
export async function repairEmptied(
  cluster: KubernetesClient,
  service: { namespace: string; name: string },
  bundle: string,
): Promise<string[]> {
  const kinds = ['MutatingWebhookConfiguration', 'ValidatingWebhookConfiguration'] as const;
  const targets = clusterTargets(cluster, { named: kinds.map((kind) => ({ kind, name: service.name })), service });
  const repaired: string[] = [];
  for (const target of await targets.read()) {
    if (target.state === 'failed') {
      throw new Error(target.problem);
    }
    if (!target.bundles.some((one) => readCertificates(one).state === 'absent')) {
      continue;
    }
    try {
      const refusal = await targets.inject(target, bundle);
      if (refusal !== undefined) {
        throw new Error(refusal);
      }
      repaired.push(target.id);
    } catch (error) {
      // Another pod was faster.
      if (!(error instanceof Conflict || isStatus(error, 404))) {
        throw error;
      }
    }
  }
  return repaired;
}

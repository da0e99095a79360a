import { printable } from '../../base/index.ts';
import { type Parsed, readCertificates } from '../../base/x509/index.ts';
import {
  Forbidden,
  fetchSecret,
  type KubernetesClient,
  ResponseError,
  StatusError,
} from '../../kubernetes/client/index.ts';
import { namespacedNameIn } from '../../kubernetes/index.ts';
import { clusterTargets } from './cluster-targets.ts';
import { Conflict, isInSync, type TargetAccess, type TargetReading } from './store.ts';

export interface Injection {
  id: string;
  result: 'written' | 'in sync' | 'missing' | 'failed' | 'left alone' | 'conflict';
  reason?: string | undefined;
  skipped: string[];
}

/** Writes a bundle into a target as it was read; the bundle is asked for only if the target has a place for it. */
export async function injectInto(
  access: TargetAccess,
  target: TargetReading,
  bundleFor: () => Parsed<string> | Promise<Parsed<string>>,
): Promise<Injection> {
  const { id, skipped } = target;
  const end = (result: Injection['result'], reason?: string): Injection => ({ id, result, skipped, reason });
  if (target.state !== 'present') {
    return end(target.state, target.problem);
  }
  if (target.bundles.length === 0) {
    return end('left alone');
  }
  const bundle = await bundleFor();
  if (bundle.state !== 'usable') {
    return end('failed', bundle.state === 'absent' ? 'there is no trust bundle' : bundle.problem);
  }
  if (isInSync(target, bundle.value)) {
    return end('in sync');
  }
  try {
    const refusal = await access.inject(target, bundle.value);
    return refusal === undefined ? end('written') : end('failed', refusal);
  } catch (error) {
    if (error instanceof Conflict) {
      return end('conflict', error.message);
    }
    throw error;
  }
}

const maxTries = 10;

/**
 * Writes a trust bundle into every target and reads it back. It is asked for after the targets are read, so that none gets an
 * older one again.
 * @throws {Conflict} when another client has written in each of 10 attempts.
 */
export async function injectTargets(
  access: TargetAccess,
  bundleOf: (source: string) => Promise<Parsed<string>>,
  { sleep }: { sleep(ms: number): Promise<void> },
): Promise<Injection[]> {
  const results = new Map<string, Injection>();
  const written = new Set<string>();
  for (let attempt = 0; attempt < maxTries; attempt++) {
    let isSettled = true;
    const bundles = new Map<string, Promise<Parsed<string>>>();
    for (const target of await access.read()) {
      const { id, source = '' } = target;
      if (results.get(id)?.result === 'failed') {
        continue;
      }
      const bundleFor = () => {
        const bundle = bundles.get(source) ?? bundleOf(source);
        bundles.set(source, bundle);
        return bundle;
      };
      const injection = await injectInto(access, target, bundleFor);
      const { result } = injection;
      if (result === 'written' || result === 'conflict') {
        isSettled = false;
        results.delete(id);
        if (result === 'written') {
          written.add(id);
        }
      } else {
        results.set(id, result === 'in sync' && written.has(id) ? { ...injection, result: 'written' } : injection);
      }
    }
    if (isSettled) {
      return [...results.values()];
    }
    await sleep(attempt === 0 ? 0 : Math.min(2000, 50 * 2 ** attempt));
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
 * Writes a bundle into the webhook configurations of a service whose caBundle is empty, and into no others: theirs may be newer.
 * @returns the objects that were written. @throws {Error} if one cannot be read or written.
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
    if (target.state === 'failed' || target.bundles.some((one) => readCertificates(one).state === 'absent')) {
      const { id, result, reason } = await injectInto(targets, target, () => ({ state: 'usable', value: bundle }));
      if (result === 'failed') {
        throw new Error(reason);
      }
      // After a conflict, another pod was faster.
      repaired.push(...(result === 'written' ? [id] : []));
    }
  }
  return repaired;
}

import { readCertificates } from '../../base/x509/index.ts';
import { isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { clusterTargets } from './cluster-targets.ts';
import { Conflict } from './store.ts';

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

import { problemOf } from '../../base/x509/index.ts';
import { type KubernetesClient, readObject } from '../../kubernetes/client/index.ts';
import { fieldAt, textAt } from '../../kubernetes/index.ts';
import type { CertificateFacts } from './facts.ts';
import type { StoredSecret } from './store.ts';

/** The annotation that cert-manager gives the Secret of a Certificate. */
export const issuerAnnotation = 'cert-manager.io/certificate-name';

/** Why a serving certificate that is issued elsewhere cannot be used, or not for long. */
export function externalProblem({ serving, servingLacks, now }: CertificateFacts): string | undefined {
  if (serving.state !== 'usable') {
    return `the serving certificate ${problemOf(serving)}`;
  }
  const { validFromDate, validToDate } = serving.value.x509;
  // It should have been renewed by its last sixth: cert-manager does so after two thirds.
  const lastPart = (validToDate.getTime() - validFromDate.getTime()) / 6;
  return servingLacks.length > 0
    ? `the serving certificate is not for ${servingLacks.join(', ')}`
    : validFromDate > now
      ? `the serving certificate is not valid before ${validFromDate.toISOString()}`
      : now.getTime() >= validToDate.getTime() - lastPart
        ? `the serving certificate expires at ${validToDate.toISOString()}`
        : undefined;
}

/** How long the hourly rotation may be silent, in ms. */
const silentMs = 3 * 3_600_000;

/** Who renews the certificates, and whether that is well: cert-manager (`external`), or the CronJob. @throws {Forbidden} */
export async function readRotation(
  cluster: KubernetesClient,
  namespace: string,
  serving: StoredSecret | undefined,
  now: Date,
): Promise<{ state: 'external' | 'well' | 'missing' | 'suspended' | 'silent'; text: string }> {
  const certificate = serving?.annotations[issuerAnnotation];
  if (certificate !== undefined) {
    return { state: 'external', text: `cert-manager renews Certificate ${certificate}` };
  }
  const name = 'extensionconfig-webhook-rotate';
  const id = `${namespace}/${name}`;
  const path = `/apis/batch/v1/namespaces/${namespace}/cronjobs/${name}`;
  const job = await readObject(cluster, path, 'cronjobs.batch', id);
  if (job === undefined) {
    const text = `certificates are not renewed automatically: there is no CronJob ${id}; apply it, or run certs rotate`;
    return { state: 'missing', text };
  }
  if (fieldAt(job, 'spec', 'suspend') === true) {
    const text = `CronJob ${id} is suspended, so certificates are not renewed: resume it`;
    return { state: 'suspended', text };
  }
  const last = textAt(job, 'status', 'lastSuccessfulTime');
  const success = last === '' ? 'it has not succeeded yet' : `its last success was at ${last}`;
  const text = `CronJob ${id} rotates what is due (${textAt(job, 'spec', 'schedule')}); ${success}`;
  return { state: now.getTime() - Date.parse(last) > silentMs ? 'silent' : 'well', text };
}

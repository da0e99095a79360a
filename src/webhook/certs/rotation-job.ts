import { type KubernetesClient, readObject } from '../../kubernetes/client/index.ts';
import { fieldAt, textAt } from '../../kubernetes/index.ts';
import type { StoredSecret } from './store.ts';

/** The CronJob of the manifests, which runs `certs rotate`. */
interface RotationJob {
  /** `NAMESPACE/NAME`. */
  id: string;
  schedule: string;
  isSuspended: boolean;
  lastSuccess: string | undefined;
}

/** Reads it; undefined if there is none. @throws {Forbidden} and the other errors of a request. */
export async function readRotationJob(cluster: KubernetesClient, namespace: string): Promise<RotationJob | undefined> {
  const name = 'extensionconfig-webhook-rotate';
  const id = `${namespace}/${name}`;
  const job = await readObject(
    cluster,
    `/apis/batch/v1/namespaces/${namespace}/cronjobs/${name}`,
    'cronjobs.batch',
    id,
  );
  return (
    job && {
      id,
      schedule: textAt(job, 'spec', 'schedule'),
      isSuspended: fieldAt(job, 'spec', 'suspend') === true,
      lastSuccess: textAt(job, 'status', 'lastSuccessfulTime') || undefined,
    }
  );
}

/** The annotation that cert-manager gives the Secret of a Certificate. */
export const issuerAnnotation = 'cert-manager.io/certificate-name';

/** Who renews what is in a Secret of cert-manager, as a sentence; undefined for other Secrets. */
export function describeIssuer(secret: StoredSecret | undefined): string | undefined {
  const certificate = secret?.annotations[issuerAnnotation];
  return certificate === undefined ? undefined : `cert-manager renews Certificate ${certificate}`;
}

/** Who rotates next, as a sentence. */
export function describeRotation(job: RotationJob | undefined, namespace: string): string {
  if (job === undefined) {
    return `certificates are not renewed automatically: there is no CronJob ${namespace}/extensionconfig-webhook-rotate; apply it, or run certs rotate`;
  }
  const last =
    job.lastSuccess === undefined ? 'it has not succeeded yet' : `its last success was at ${job.lastSuccess}`;
  return job.isSuspended
    ? `CronJob ${job.id} is suspended, so certificates are not renewed: resume it`
    : `CronJob ${job.id} rotates what is due (${job.schedule}); ${last}`;
}

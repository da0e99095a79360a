import { setTimeout as sleep } from 'node:timers/promises';
import type { Logger } from 'pino';
import { printable } from '../../../base/index.ts';
import type { KubernetesClient } from '../../../kubernetes/client/index.ts';
import type { CertificateSource } from '../../../server/index.ts';
import { bundleIn, repairEmptied } from '../../../webhook/certs/index.ts';

/** A source that also remembers the trust bundle that came with the last certificate. */
export function withBundle(source: CertificateSource): {
  certificates: CertificateSource;
  bundle(): string | undefined;
} {
  let bundle: string | undefined;
  const certificates: CertificateSource = (onEvent) =>
    source((event) => {
      if (event.kind === 'pair') {
        bundle = event.bundle;
      }
      onEvent(event);
    });
  return { certificates, bundle: () => bundle };
}

/** Fills in an emptied caBundle of the webhook configurations every few seconds, until `signal`. Never rejects. */
export async function keepCaBundles(
  cluster: KubernetesClient,
  service: { namespace: string; name: string },
  bundle: () => string | undefined,
  { log, signal }: { log: Logger; signal: AbortSignal },
): Promise<void> {
  let lastProblem: string | undefined;
  while (!signal.aborted) {
    let problem: string | undefined;
    try {
      const read = bundleIn({ 'ca.crt': bundle() ?? '' }, 'the folder of certificates');
      if (read.state === 'usable') {
        const targets = await repairEmptied(cluster, service, read.value);
        if (targets.length > 0) {
          log.warn({ targets }, 'an empty caBundle was filled in');
        }
      } else {
        problem = 'there is no trust bundle (ca.crt) beside the serving certificate';
      }
    } catch (error) {
      problem = printable((error as Error).message);
    }
    if (problem !== undefined && problem !== lastProblem && !signal.aborted) {
      log.error({ reason: problem }, 'an empty caBundle would not be filled in');
    }
    lastProblem = problem;
    await sleep(5000, undefined, { signal, ref: false }).catch(() => undefined);
  }
}

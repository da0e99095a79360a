import type { Log } from '../base/index.ts';
import type { Metrics } from './application/metrics.ts';
import type { ReadinessFacts } from './application/readiness.ts';
import { type CertificateEvent, type CertificatePair, judgePair } from './certificates/certificate.ts';

interface CertificateReports {
  log: Log;
  metrics: Pick<Metrics, 'certificateLoaded' | 'certificateFailed' | 'certificateSource'>;
}

/** Longest wait until a certificate that is not valid yet is judged again, in ms: the clock may be set in the meantime. */
const maxWaitMs = 60_000;

/** How often the log says that a server has no certificate, or an expired one, in ms. */
const reminderMs = 60_000;

/**
 * Passes each usable certificate on to `use`; if one is not usable, the previous one stays in use. As long as there is
 * none at all, or it has expired, the log says so at once, and once a minute.
 */
export function createServingCertificate(
  use: (pair: CertificatePair) => void,
  now: () => Date,
  { log, metrics }: CertificateReports,
) {
  let pair: CertificatePair | undefined;
  let certificateProblem: string | undefined;
  let sourceProblem: string | undefined;
  /** Until a certificate is valid. */
  let waiting: NodeJS.Timeout | undefined;
  const reminder = setInterval(() => {
    if (pair === undefined) {
      log.warn({ reason: certificateProblem }, 'still waiting for a serving certificate');
    } else {
      noteExpired(pair);
    }
  }, reminderMs).unref();

  function noteExpired({ notAfter }: CertificatePair): void {
    if (notAfter <= now()) {
      log.error({ notAfter }, 'the serving certificate has expired');
    }
  }

  function noteSource(problem: string | undefined): void {
    if (problem === sourceProblem) {
      return;
    }
    sourceProblem = problem;
    metrics.certificateSource(problem === undefined);
    if (problem === undefined) {
      log.info('the source of certificates works again');
      return;
    }
    log.error({ reason: problem }, 'the source of certificates fails; new ones may be picked up late');
  }

  function takePair(next: CertificatePair, bundle: string | undefined): void {
    const verdict = judgePair(pair, next, now());
    if (!verdict.use) {
      if (verdict.reason !== certificateProblem) {
        noteUnusable(verdict.reason);
      }
      if (verdict.until !== undefined) {
        const waitMs = Math.min(maxWaitMs, verdict.until.getTime() - now().getTime());
        waiting = setTimeout(() => takePair(next, bundle), waitMs).unref();
      }
      return;
    }
    pair = next;
    certificateProblem = undefined;
    use(pair);
    metrics.certificateLoaded(pair, bundle);
    const { notBefore, notAfter, fingerprint, subjectAltName } = pair;
    log.info({ notBefore, notAfter, fingerprint, subjectAltName }, 'serving certificate loaded');
    noteExpired(pair);
  }

  function noteUnusable(reason: string): void {
    certificateProblem = reason;
    metrics.certificateFailed();
    log.error(
      { reason },
      pair === undefined
        ? 'no usable serving certificate yet'
        : 'new serving certificate is unusable; the old one stays in use',
    );
  }

  function noteAbsent(reason: string): void {
    if (pair !== undefined) {
      noteUnusable(reason);
      return;
    }
    certificateProblem = reason;
    log.warn({ reason }, 'waiting for a serving certificate');
  }

  return {
    take(event: CertificateEvent): void {
      if (event.kind !== 'source') {
        clearTimeout(waiting);
      }
      switch (event.kind) {
        case 'pair':
          takePair(event.pair, event.bundle);
          break;
        case 'absent':
          noteAbsent(event.reason);
          break;
        case 'broken':
          noteUnusable(event.reason);
          break;
        case 'source':
          noteSource(event.problem);
      }
    },
    stop(): void {
      clearInterval(reminder);
      clearTimeout(waiting);
    },
    /** The certificate in use, and why a newer one is not. */
    state: (): Pick<ReadinessFacts, 'pair' | 'certificateProblem' | 'sourceProblem'> => ({
      pair,
      certificateProblem,
      sourceProblem,
    }),
  };
}

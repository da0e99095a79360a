import type { Log } from '../base/index.ts';
import type { Metrics } from './application/metrics.ts';
import type { CertificateEvent, CertificatePair } from './certificates/certificate.ts';

/** Longest wait until a certificate that is not valid yet is judged again, in ms: the clock may be set in the meantime. */
const maxWaitMs = 60_000;

/** How often the log says that a server has no certificate, or an expired one, in ms. */
const reminderMs = 60_000;

/** Why not to switch from the current pair to a new one, if so; `until` is when to decide again. */
function problemOf(
  current: CertificatePair | undefined,
  { notBefore, notAfter }: CertificatePair,
  now: Date,
): { reason: string; until?: Date } | undefined {
  // Without a current pair that is valid, even an invalid certificate is served: the client's error then names the cause.
  if (current === undefined || current.notAfter <= now) {
    return undefined;
  }
  if (notAfter <= now) {
    return { reason: `the new certificate expired at ${notAfter.toISOString()}` };
  }
  // The clock was ahead where it was issued. Clients would reject it.
  return notBefore > now && current.notBefore <= now
    ? {
        reason: `the new certificate is not valid before ${notBefore.toISOString()}: check the clocks`,
        until: new Date(Math.min(notBefore.getTime(), current.notAfter.getTime())),
      }
    : undefined;
}

/** Passes usable certificates on to `use`. Without one, or if it has expired, the log says so at once, and once a minute. */
export function createServingCertificate(
  use: (pair: CertificatePair) => void,
  now: () => Date,
  {
    log,
    metrics,
  }: { log: Log; metrics: Pick<Metrics, 'certificateLoaded' | 'certificateFailed' | 'certificateSource'> },
) {
  /** The certificate in use, why a newer one is not, and why newer ones may not arrive. */
  const state: { pair?: CertificatePair; certificateProblem?: string | undefined; sourceProblem?: string | undefined } =
    {};
  let waiting: NodeJS.Timeout | undefined;
  const reminder = setInterval(() => {
    if (state.pair === undefined) {
      log.warn({ reason: state.certificateProblem }, 'still waiting for a serving certificate');
    } else {
      noteExpired(state.pair);
    }
  }, reminderMs).unref();

  function noteExpired({ notAfter }: CertificatePair): void {
    if (notAfter <= now()) {
      log.error({ notAfter }, 'the serving certificate has expired');
    }
  }

  function noteSource(problem: string | undefined): void {
    if (problem === state.sourceProblem) {
      return;
    }
    state.sourceProblem = problem;
    metrics.certificateSource(problem === undefined);
    if (problem === undefined) {
      log.info('the source of certificates works again');
    } else {
      log.error({ reason: problem }, 'the source of certificates fails; new ones may be picked up late');
    }
  }

  function takePair(next: CertificatePair, bundle: string | undefined): void {
    const problem = problemOf(state.pair, next, now());
    if (problem === undefined) {
      Object.assign(state, { pair: next, certificateProblem: undefined });
      use(next);
      metrics.certificateLoaded(next, bundle);
      const { notBefore, notAfter, fingerprint, subjectAltName } = next;
      log.info({ notBefore, notAfter, fingerprint, subjectAltName }, 'serving certificate loaded');
      noteExpired(next);
      return;
    }
    if (problem.reason !== state.certificateProblem) {
      noteUnusable(problem.reason);
    }
    if (problem.until !== undefined) {
      const waitMs = Math.min(maxWaitMs, problem.until.getTime() - now().getTime());
      waiting = setTimeout(() => takePair(next, bundle), waitMs).unref();
    }
  }

  function noteUnusable(reason: string): void {
    state.certificateProblem = reason;
    metrics.certificateFailed();
    if (state.pair === undefined) {
      log.error({ reason }, 'no usable serving certificate yet');
    } else {
      log.error({ reason }, 'new serving certificate is unusable; the old one stays in use');
    }
  }

  return {
    state,
    take(event: CertificateEvent): void {
      if (event.kind === 'source') {
        noteSource(event.problem);
        return;
      }
      clearTimeout(waiting);
      if (event.kind === 'pair') {
        takePair(event.pair, event.bundle);
      } else if (event.kind === 'broken' || state.pair !== undefined) {
        noteUnusable(event.reason);
      } else {
        state.certificateProblem = event.reason;
        log.warn({ reason: event.reason }, 'waiting for a serving certificate');
      }
    },
    stop(): void {
      clearInterval(reminder);
      clearTimeout(waiting);
    },
  };
}

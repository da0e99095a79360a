import type { CertificatePair } from './certificate.ts';

/** Where a server is in its life. */
export type Phase = 'starting' | 'serving' | 'draining' | 'stopped';

/** What readiness depends on. */
export interface ReadinessFacts {
  phase: Phase;
  pair: CertificatePair | undefined;
  /** Why there is no usable certificate, as the source last said. */
  certificateProblem: string | undefined;
  now: Date;
}

/** Whether reviews can be answered, and if not, why. */
export type Readiness = { ready: true } | { ready: false; reason: string };

/** Decides whether the server is ready for reviews. */
export function readinessOf({ phase, pair, certificateProblem, now }: ReadinessFacts): Readiness {
  if (phase === 'draining' || phase === 'stopped') {
    return { ready: false, reason: 'shutting down' };
  }
  if (pair === undefined) {
    return { ready: false, reason: `no serving certificate: ${certificateProblem ?? 'not read yet'}` };
  }
  if (phase === 'starting') {
    return { ready: false, reason: 'the webhook port is not open yet' };
  }
  if (pair.notAfter <= now) {
    return { ready: false, reason: `the serving certificate expired at ${pair.notAfter.toISOString()}` };
  }
  return { ready: true };
}

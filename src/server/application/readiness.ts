import type { CertificatePair } from '../certificates/certificate.ts';

export type ServerPhase = 'starting' | 'serving' | 'draining';

export interface ReadinessFacts {
  phase: ServerPhase;
  port: string;
  pair?: CertificatePair;
  /** Why there is no newer certificate, and why updates of it may not arrive, as the source last reported. */
  certificateProblem?: string | undefined;
  sourceProblem?: string | undefined;
  /** The last client that did not trust the certificate, if one has not. */
  rejection?: { client: string | undefined; at: Date } | undefined;
  /** Why the newest client CA is not in use. */
  clientCa?: { problem: string | undefined } | undefined;
  now: Date;
}

interface ReadinessCheck {
  name: string;
  problem: string | undefined;
  /** Whether a problem makes the pod not ready: one that does not affect reviews for now affects all pods alike. */
  essential: boolean;
}

export interface Readiness {
  checks: readonly ReadinessCheck[];
  /** Why reviews cannot be answered; undefined if they can. */
  reason: string | undefined;
}

const checked = (name: string, problem: string | undefined, essential = false): ReadinessCheck => ({
  name,
  problem,
  essential,
});

function certificateCheck({ pair, certificateProblem, now }: ReadinessFacts): ReadinessCheck {
  const name = 'serving-certificate';
  if (pair === undefined) {
    return checked(name, `no serving certificate: ${certificateProblem ?? 'not read yet'}`, true);
  }
  if (pair.notAfter <= now) {
    return checked(name, `the serving certificate expired at ${pair.notAfter.toISOString()}`, true);
  }
  return checked(name, certificateProblem && `the previous certificate is still served: ${certificateProblem}`);
}

/** How long a client without trust in the certificate is reported, in ms. */
const rejectionReportedMs = 10 * 60_000;

function trustProblem({ rejection, now }: ReadinessFacts): string | undefined {
  return rejection === undefined || now.getTime() - rejection.at.getTime() > rejectionReportedMs
    ? undefined
    : `${rejection.client ?? 'a client'} did not trust the serving certificate at ${rejection.at.toISOString()}: if it is an API server, a caBundle is empty or of another CA; run certs status`;
}

/** The server is ready when no essential check has a problem. */
export function readinessOf(facts: ReadinessFacts): Readiness {
  const phases = { starting: `the ${facts.port} port is not open yet`, serving: undefined, draining: 'shutting down' };
  const phase = checked('phase', phases[facts.phase], true);
  const checks = [
    certificateCheck(facts),
    checked('certificate-source', facts.sourceProblem),
    checked('trust', trustProblem(facts)),
    ...(facts.clientCa === undefined ? [] : [checked('client-ca', facts.clientCa.problem)]),
    phase,
  ];
  // The reason is that the server stops, whatever else is wrong; before it serves, the missing certificate.
  const ordered = facts.phase === 'starting' ? checks : [phase, ...checks];
  const reason = ordered.find(({ essential, problem }) => essential && problem !== undefined)?.problem;
  return { checks, reason };
}

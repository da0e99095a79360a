import type { CertificatePair } from './certificate.ts';

/** An update about the serving certificate (a usable pair, none, or an unusable one) or about its source. */
export type CertificateEvent =
  | {
      kind: 'pair';
      pair: CertificatePair;
      /** PEM of the trust bundle that came with the pair, if any: it shows the stage of a rotation. */
      bundle?: string;
    }
  | { kind: 'absent'; reason: string }
  | { kind: 'broken'; reason: string }
  /**
   * The state of the source itself: why updates may not arrive (a forbidden watch, an unreachable API server), or
   * undefined when it works again. The certificate in use stays in use.
   */
  | { kind: 'source'; problem: string | undefined };

/** Where the serving certificate comes from. */
export interface CertificateSource {
  /** Starts reporting: the current state before the promise resolves, then each change. Never rejects. */
  start(onEvent: (event: CertificateEvent) => void): Promise<void>;
  /** Stops reporting and releases files and timers. */
  stop(): void;
}

/** A source with one fixed pair. */
export function fixedCertificate(pair: CertificatePair): CertificateSource {
  return {
    async start(onEvent) {
      onEvent({ kind: 'pair', pair });
    },
    stop() {},
  };
}

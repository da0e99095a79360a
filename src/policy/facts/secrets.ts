import { Buffer } from 'node:buffer';
import {
  framingProblem,
  isSignedBy,
  maxPemBytes,
  problemOf,
  readCertificates,
  readPem,
  usable,
} from '../../base/x509/index.ts';
import { type JsonObject, textAt } from '../../kubernetes/index.ts';

/** Facts about a Secret whose CA an annotation injects. None of them is secret. */
export interface KnownSecret {
  /** Why `ca.crt` cannot be used (`has no ca.crt`), or undefined. */
  readonly problem: string | undefined;
  /** When the newest certificate became valid, in milliseconds since 1970. */
  readonly newestNotBefore: number;
  /** When the first certificate expires, in milliseconds since 1970. */
  readonly firstNotAfter: number;
  /** Whether a certificate in `ca.crt` has signed `tls.crt`; undefined if there is no `tls.crt`. */
  readonly isSigner: boolean | undefined;
}

/** A value of a Secret as text, from `data` (base64) or, in a manifest, from `stringData`. */
function textIn(secret: JsonObject, key: string): string {
  const plain = textAt(secret, 'stringData', key);
  const encoded = textAt(secret, 'data', key).slice(0, 2 * maxPemBytes);
  return plain.slice(0, maxPemBytes + 1) || Buffer.from(encoded, 'base64').toString('latin1');
}

/** The facts about a Secret whose CA an annotation injects. Its private key is neither read nor kept. */
export function readSecret(secret: JsonObject): KnownSecret {
  const text = textIn(secret, 'ca.crt');
  const reading = readCertificates(text);
  const certificates = usable(reading);
  // Cluster API copies the text unchanged.
  const unread = problemOf(reading) ?? framingProblem(readPem(text));
  if (certificates === undefined || unread !== undefined) {
    const problem = reading.state === 'absent' ? 'has no ca.crt' : `has a ca.crt that ${unread}`;
    return { problem, newestNotBefore: 0, firstNotAfter: 0, isSigner: undefined };
  }
  const [serving] = usable(readCertificates(textIn(secret, 'tls.crt'))) ?? [];
  return {
    problem: undefined,
    newestNotBefore: Math.max(...certificates.map(({ x509 }) => x509.validFromDate.getTime())),
    firstNotAfter: Math.min(...certificates.map(({ x509 }) => x509.validToDate.getTime())),
    isSigner: serving && certificates.some((ca) => ca.fingerprint === serving.fingerprint || isSignedBy(serving, ca)),
  };
}

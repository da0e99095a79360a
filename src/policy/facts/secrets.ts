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
import type { JsonObject } from '../../kubernetes/index.ts';
import type { KnownSecret } from './facts.ts';
import { nonEmptyText } from './parts.ts';

/** A value of a Secret as text, from `data` (base64) or, in a manifest, from `stringData`. */
function textIn(secret: JsonObject, key: string): string | undefined {
  const plain = nonEmptyText(secret, 'stringData', key);
  const encoded = nonEmptyText(secret, 'data', key);
  if (plain !== undefined || encoded === undefined) {
    return plain?.slice(0, maxPemBytes + 1);
  }
  return Buffer.from(encoded.slice(0, 2 * maxPemBytes), 'base64').toString('latin1');
}

/** The facts about a Secret whose CA an annotation injects. Its private key is neither read nor kept. */
export function readSecret(secret: JsonObject): KnownSecret {
  const text = textIn(secret, 'ca.crt');
  const reading = readCertificates(text);
  const certificates = usable(reading);
  // Cluster API copies the text unchanged.
  const unread = problemOf(reading) ?? framingProblem(readPem(text ?? ''));
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

import { createPrivateKey } from 'node:crypto';

const certificateLine = /^CERTIFICATE-----[ \t]*\r?\n/;

function decoded(body: string): Buffer {
  const text = body.replace(/[ \t\r\n]/g, '');
  return /^[A-Za-z0-9+/]*={0,2}$/.test(text) && text.length % 4 === 0 ? Buffer.from(text, 'base64') : Buffer.alloc(0);
}

/**
 * The certificates in a PEM text (RFC 7468): the bytes of each, empty if not base64, undefined if Go does not find it. As in
 * Go's encoding/pem, BEGIN and END lines stand alone; OpenSSL accepts more, such as two files without a line break. Linear.
 */
export function readPem(text: string): (Buffer | undefined)[] {
  const certificates: (Buffer | undefined)[] = [];
  // A block ends before the next BEGIN line. One that begins the text, or ends it, needs no line break there.
  const parts = `\n${text}${text.endsWith('\r') ? '' : '\n'}`.split('-----BEGIN ');
  for (const [index, part] of parts.entries()) {
    if (index > 0 && part.startsWith('CERTIFICATE-----')) {
      const [line = ''] = certificateLine.exec(part) ?? [];
      const [inner = '', after = ''] = part.slice(Math.max(line.length - 1, 0)).split('\n-----END ', 2);
      const isBlock = line !== '' && certificateLine.test(after) && parts[index - 1]?.endsWith('\n');
      certificates.push(isBlock ? decoded(inner) : undefined);
    }
  }
  return certificates;
}

/** Why Go does not find all certificates in a PEM text, as the end of a sentence; undefined if it does. */
export function framingProblem(certificates: readonly (Buffer | undefined)[]): string | undefined {
  const at = certificates.indexOf(undefined);
  return at === -1
    ? undefined
    : `has a certificate that cannot be read (number ${at + 1}): its BEGIN and END markers must each be on a line of their own`;
}

/** The line before a private key, as OpenSSL, OpenSSH, PGP and SSH2 write it. */
const privateKeyLine = /-{4,5} ?BEGIN [A-Z0-9 ]{0,64}PRIVATE KEY(?: BLOCK)? ?-{4}/;

/** Whether bytes are a private key in DER: PKCS#8, encrypted or not, PKCS#1 or SEC 1. */
function isPrivateKey(der: Buffer): boolean {
  return (
    der[0] === 0x30 &&
    (['pkcs8', 'pkcs1', 'sec1'] as const).some((type) => {
      try {
        return createPrivateKey({ key: der, format: 'der', type }) !== undefined;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'ERR_MISSING_PASSPHRASE';
      }
    })
  );
}

/** Whether bytes contain a private key: in a text, also in UTF-16, or as DER, also in base64 without BEGIN and END. */
export function holdsPrivateKey(bytes: Buffer): boolean {
  // Without zeros, ASCII in UTF-16 is ASCII, in either order of its bytes.
  const text = bytes.toString('latin1').replaceAll('\0', '');
  return (
    privateKeyLine.test(text) ||
    text.includes('PuTTY-User-Key-File-') ||
    isPrivateKey(bytes) ||
    (/^[A-Za-z0-9+/=\s]+$/.test(text) && isPrivateKey(Buffer.from(text, 'base64')))
  );
}

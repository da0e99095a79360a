/** What a PEM text (RFC 7468) holds, as far as a trust bundle is concerned. */
export interface PemContent {
  /** Each certificate with the lines around it. */
  certificates: string[];
  /** Whether a private key begins in it, of any kind. */
  hasPrivateKey: boolean;
}

const begin = '-----BEGIN ';
const end = '-----END ';
/** What stands behind `begin` and `end`: a label and its dashes. No label that is in use is longer than this. */
const labelFormat = /^([A-Z0-9 ]{1,64})-----/;
const maxLabelLength = 64 + 5;

function labelAt(text: string, at: number): string | undefined {
  return labelFormat.exec(text.slice(at, at + maxLabelLength))?.[1];
}

/**
 * Reads a PEM text from front to back, once. Like Go's encoding/pem, which Cluster API reads it with, it takes a block for
 * one when the next end is its own; text between blocks is passed over.
 */
export function readPem(text: string): PemContent {
  const content: PemContent = { certificates: [], hasPrivateKey: false };
  let nextEnd = 0;
  let at = text.indexOf(begin);
  while (at !== -1) {
    const label = labelAt(text, at + begin.length);
    let next = at + begin.length;
    if (label !== undefined) {
      content.hasPrivateKey ||= label.endsWith('PRIVATE KEY');
      // An end that was found for an earlier begin is still the next one, unless it has been passed.
      if (nextEnd !== -1 && nextEnd < next) {
        nextEnd = text.indexOf(end, next);
      }
      if (nextEnd !== -1 && labelAt(text, nextEnd + end.length) === label) {
        next = nextEnd + end.length + label.length + 5;
        if (label === 'CERTIFICATE') {
          content.certificates.push(text.slice(at, next));
        }
      }
    }
    at = text.indexOf(begin, next);
  }
  return content;
}

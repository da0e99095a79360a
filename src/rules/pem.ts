/** The content of a PEM text (RFC 7468), as far as trust bundles are concerned. */
export interface PemContent {
  /** Each certificate, with its BEGIN and END lines. */
  certificates: string[];
  /** Whether a private key begins in it, of any kind. */
  hasPrivateKey: boolean;
}

const begin = '-----BEGIN ';
const end = '-----END ';
/** What follows `begin` and `end`: a label and its dashes. No label in use is longer than this. */
const labelFormat = /^([A-Z0-9 ]{1,64})-----/;
const maxLabelLength = 64 + 5;

function labelAt(text: string, at: number): string | undefined {
  return labelFormat.exec(text.slice(at, at + maxLabelLength))?.[1];
}

/**
 * Reads a PEM text in one pass. Like Go's encoding/pem, which Cluster API uses, it accepts a block when the next END line
 * has the same label; text between blocks is ignored.
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
      // The END line found for an earlier BEGIN line is still the next one, unless it is behind us.
      if (nextEnd < next) {
        const found = text.indexOf(end, next);
        nextEnd = found === -1 ? Number.POSITIVE_INFINITY : found;
      }
      if (labelAt(text, nextEnd + end.length) === label) {
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

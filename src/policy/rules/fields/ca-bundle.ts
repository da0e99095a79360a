import { X509Certificate } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { framingProblem, hasDates, holdsPrivateKey, readPem, unreadProblem } from '../../../base/x509/index.ts';
import type { ExtensionConfig } from '../../../extensionconfig/index.ts';
import { isBase64 } from '../../../kubernetes/index.ts';

export interface CaBundle {
  /** Why it is not a trust bundle, or undefined. */
  problem: string | undefined;
  hasPrivateKey: boolean;
  certificates: readonly BundledCertificate[];
}

export type BundledCertificate = ReturnType<typeof certificateOf>;

/** How long before its expiry a certificate is reported, in milliseconds: 30 days. */
export const expiryNoticeMs = 30 * 24 * 60 * 60 * 1000;

export const caBundlePath = ['spec', 'clientConfig', 'caBundle'] as const;

/**
 * One certificate of a caBundle. Times are in milliseconds since 1970; both are NaN if one of them is unreadable.
 *
 * @throws {Error} when the bytes are not one certificate.
 */
function certificateOf(der: Buffer) {
  const certificate = new X509Certificate(der);
  if (certificate.raw.length !== der.length) {
    throw new Error('bytes after the certificate');
  }
  const { validFromDate, validToDate } = certificate;
  const isDated = hasDates(certificate);
  return {
    subject: certificate.subject.replaceAll('\n', ', '),
    /** Why Cluster API cannot read it, as the end of a sentence, or undefined. */
    unread: unreadProblem(certificate),
    notBefore: isDated ? validFromDate.getTime() : Number.NaN,
    notAfter: isDated ? validToDate.getTime() : Number.NaN,
    isCa: certificate.ca,
  };
}

function problemOf(certificates: readonly BundledCertificate[]): string | undefined {
  const index = certificates.findIndex(({ unread }) => unread !== undefined);
  return certificates.length === 0
    ? 'contains no PEM certificate'
    : certificates[index] && `has a certificate (number ${index + 1}) that ${certificates[index].unread}`;
}

function parse(encoded: string): CaBundle | undefined {
  if (!isBase64(encoded)) {
    return { problem: 'is not base64', hasPrivateKey: holdsPrivateKey(Buffer.from(encoded)), certificates: [] };
  }
  const bytes = Buffer.from(encoded, 'base64');
  const text = bytes.toString('latin1');
  // ASCII only: for `trim`, the byte A0 would be white space too.
  if (/^[ \t\r\n\v\f]*$/.test(text)) {
    return undefined;
  }
  const content = readPem(text);
  const hasPrivateKey = holdsPrivateKey(bytes);
  const certificates: BundledCertificate[] = [];
  for (const der of content) {
    if (der === undefined) {
      return { problem: framingProblem(content), hasPrivateKey, certificates };
    }
    try {
      certificates.push(certificateOf(der));
    } catch {
      return {
        problem: `has a certificate that cannot be parsed (number ${certificates.length + 1})`,
        hasPrivateKey,
        certificates,
      };
    }
  }
  return { problem: problemOf(certificates), hasPrivateKey, certificates };
}

/** The bundles parsed last, by text: at most 64, each of at most 50 KiB. Clients repeat theirs, and parsing one takes longer than all other work. */
const parsed = new LRUCache<string, CaBundle>({ max: 64 });

/** The parsed caBundle of an object; undefined if it is absent or only white space (the placeholder `Cg==`). */
export function caBundleOf(object: ExtensionConfig): CaBundle | undefined {
  const encoded = object.spec?.clientConfig?.caBundle;
  if (!encoded) {
    return undefined;
  }
  const known = parsed.get(encoded);
  if (known !== undefined) {
    return known;
  }
  const bundle = parse(encoded);
  if (bundle !== undefined) {
    parsed.set(encoded, bundle);
  }
  return bundle;
}

import { X509Certificate } from 'node:crypto';
import type { ExtensionConfig } from '../api/index.ts';

/** What a caBundle turned out to hold. */
export interface CaBundle {
  /** What is wrong with it as a whole, or undefined. */
  problem: string | undefined;
  hasPrivateKey: boolean;
  certificates: readonly BundledCertificate[];
}

/** One certificate of a caBundle. Times in milliseconds since 1970. */
export interface BundledCertificate {
  subject: string;
  notBefore: number;
  notAfter: number;
  isCa: boolean;
}

/** The path of `spec.clientConfig.caBundle`. */
export const caBundlePath = ['spec', 'clientConfig', 'caBundle'] as const;

const base64 = /^[A-Za-z0-9+/\r\n]*={0,2}[\r\n]*$/;
const pemBlock = /-----BEGIN ([A-Z0-9 ]+)-----[\s\S]*?-----END \1-----/g;
const privateKeyLabel = /-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/;

function certificateOf(pem: string): BundledCertificate {
  const certificate = new X509Certificate(pem);
  return {
    subject: certificate.subject.replaceAll('\n', ', '),
    notBefore: certificate.validFromDate.getTime(),
    notAfter: certificate.validToDate.getTime(),
    isCa: certificate.ca,
  };
}

function parse(encoded: string): CaBundle | undefined {
  if (!base64.test(encoded)) {
    return { problem: 'is not base64', hasPrivateKey: privateKeyLabel.test(encoded), certificates: [] };
  }
  const text = Buffer.from(encoded, 'base64').toString('latin1');
  if (text.trim() === '') {
    return undefined;
  }
  const hasPrivateKey = privateKeyLabel.test(text);
  const certificates: BundledCertificate[] = [];
  for (const [pem, label] of text.matchAll(pemBlock)) {
    if (label !== 'CERTIFICATE') {
      continue;
    }
    try {
      certificates.push(certificateOf(pem));
    } catch {
      return {
        problem: `has a certificate that cannot be parsed (number ${certificates.length + 1})`,
        hasPrivateKey,
        certificates,
      };
    }
  }
  const problem = certificates.length === 0 ? 'holds no PEM certificate' : undefined;
  return { problem, hasPrivateKey, certificates };
}

/**
 * Bundles that were parsed lately, by their text: updates and status writes bring the same bundle again and again, and
 * parsing a certificate takes longer than everything else together. At most 64 bundles of at most 50 KiB.
 */
const parsed = new Map<string, CaBundle | undefined>();
const maxParsed = 64;
const maxCachedLength = 51_200;

/** The caBundle of an object, parsed; undefined when it has none, or one of white space only (the placeholder `Cg==`). */
export function caBundleOf(object: ExtensionConfig): CaBundle | undefined {
  const encoded = object.spec?.clientConfig?.caBundle;
  if (!encoded) {
    return undefined;
  }
  if (parsed.has(encoded)) {
    return parsed.get(encoded);
  }
  const bundle = parse(encoded);
  if (encoded.length <= maxCachedLength) {
    if (parsed.size >= maxParsed) {
      parsed.delete(parsed.keys().next().value as string);
    }
    parsed.set(encoded, bundle);
  }
  return bundle;
}

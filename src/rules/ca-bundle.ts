import { X509Certificate } from 'node:crypto';
import type { ExtensionConfig } from '../api/index.ts';
import { readPem } from './pem.ts';

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

/** Whether a text is base64, broken into lines or not. Padding is not counted. */
function isBase64(text: string): boolean {
  let end = text.length;
  while (end > 0 && (text[end - 1] === '\n' || text[end - 1] === '\r')) {
    end -= 1;
  }
  for (let padding = 0; padding < 2 && text[end - 1] === '='; padding++) {
    end -= 1;
  }
  return !/[^A-Za-z0-9+/\r\n]/.test(text.slice(0, end));
}

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
  if (!isBase64(encoded)) {
    return { problem: 'is not base64', hasPrivateKey: readPem(encoded).hasPrivateKey, certificates: [] };
  }
  const text = Buffer.from(encoded, 'base64').toString('latin1');
  if (text.trim() === '') {
    return undefined;
  }
  const { hasPrivateKey, certificates: found } = readPem(text);
  const certificates: BundledCertificate[] = [];
  for (const pem of found) {
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

/** The last bundle that was asked for: the rules about it ask one after the other. */
let latest: { encoded: string; bundle: CaBundle | undefined } = { encoded: '', bundle: undefined };

/** The caBundle of an object, parsed; undefined when it has none, or one of white space only (the placeholder `Cg==`). */
export function caBundleOf(object: ExtensionConfig): CaBundle | undefined {
  const encoded = object.spec?.clientConfig?.caBundle;
  if (!encoded) {
    return undefined;
  }
  if (latest.encoded === encoded) {
    return latest.bundle;
  }
  if (!parsed.has(encoded)) {
    if (parsed.size >= maxParsed) {
      parsed.delete(parsed.keys().next().value as string);
    }
    parsed.set(encoded, parse(encoded));
  }
  latest = { encoded, bundle: parsed.get(encoded) };
  return latest.bundle;
}

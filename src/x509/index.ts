export { isAddress } from './address.ts';
export {
  bundleOf,
  type Certificate,
  caProblem,
  hasDates,
  isSignedBy,
  maxCertificates,
  maxPemBytes,
  missingNames,
  problemOf,
  type Reading,
  readableCertificates,
  readCa,
  readCaKey,
  readCertificates,
  readKey,
  signingKey,
  unreadProblem,
  usable,
} from './certificate.ts';

export {
  backdateMs,
  type Entropy,
  ellipticEntropy,
  type Issued,
  issueCa,
  issueClientCertificate,
  issueSelfSigned,
  issueServingCertificate,
  makeEllipticKeyPair,
  organization,
  systemEntropy,
} from './issue.ts';

export { framingProblem, type PemContent, readPem } from './pem.ts';

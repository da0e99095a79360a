export { isAddress } from './address.ts';
export {
  asCaKey,
  bundleOf,
  type Certificate,
  caProblem,
  hasDates,
  isSignedBy,
  maxPemBytes,
  missingNames,
  type Parsed,
  problemOf,
  readableCertificates,
  readCertificates,
  readKey,
  servingProblem,
  unreadProblem,
  usable,
} from './certificate.ts';
export { signedCertificate } from './forge.ts';
export {
  backdateMs,
  type Entropy,
  ellipticEntropy,
  type Issued,
  issueCa,
  issueClientCertificate,
  issueSelfSigned,
  issueServingCertificate,
  type KeyPair,
  makeEllipticKeyPair,
  organization,
  systemEntropy,
} from './issue.ts';
export { framingProblem, holdsPrivateKey, readPem } from './pem.ts';

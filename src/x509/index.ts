export {
  bundleOf,
  type Certificate,
  caProblem,
  isRsa,
  isSignedBy,
  maxPemBytes,
  missingNames,
  problemOf,
  type Reading,
  readCa,
  readCertificates,
  readKey,
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
  organization,
  systemEntropy,
} from './issue.ts';

export {
  authorityProblem,
  bundleOf,
  type Certificate,
  isRsa,
  isSignedBy,
  maxPemBytes,
  missingNames,
  type Part,
  problemOf,
  readAuthority,
  readCertificates,
  readKey,
  usable,
} from './certificate.ts';

export {
  backdateMs,
  type Entropy,
  type Issued,
  issueCa,
  issueSelfSigned,
  issueServingCertificate,
  organization,
  systemEntropy,
} from './issue.ts';

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
export { nodeForge, signWithRsa } from './forge.ts';
export {
  backdateMs,
  type Entropy,
  type Issued,
  issueAuthority,
  issueLeaf,
  organization,
  systemEntropy,
} from './issue.ts';

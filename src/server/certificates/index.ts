export { type CertificatePair, judgePair } from './certificate.ts';
export { type CertificateEvent, type CertificateSource, fixedCertificate } from './certificate-source.ts';
export { ClientCaError, watchClientCa } from './client-ca.ts';
export { fileCertificates } from './file-certificates.ts';
export type { FileWatch } from './file-watch.ts';
export { secretCertificates } from './secret-certificates.ts';
export { selfSignedPair } from './self-signed.ts';
export { type ServingStatus, servingStatus } from './serving-status.ts';

export { isAddress } from './address.ts';
export * from './certificate.ts';
export { signedCertificate } from './forge.ts';
export * from './issue.ts';
export { framingProblem, holdsPrivateKey, readPem } from './pem.ts';

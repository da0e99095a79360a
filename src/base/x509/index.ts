export * from './certificate.ts';
export * from './issue.ts';
export { framingProblem, holdsPrivateKey, readPem } from './pem.ts';
